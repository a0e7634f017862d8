import LarderSystem
import Synchronization

/// A load waits for itself, directly or through other loads.
struct LoadCycle: Error {}

/// Which loads of this process wait for which others. A wait that would close a cycle is refused, because it would never
/// end.
///
/// Only loads that load inside their closures are listed. A wait through a detached task or another process is not seen.
enum LoadDependencies {
  /// The load whose closure the current task runs.
  @TaskLocal static var running: (any AnyInFlightLoad)?

  private static let waits = Mutex<[ObjectIdentifier: [ObjectIdentifier]]>([:])

  /// Records that `load` waits for `other`; false, and nothing is recorded, if `other` waits for `load`.
  static func add(from load: any AnyInFlightLoad, to other: any AnyInFlightLoad) -> Bool {
    let (load, other) = (ObjectIdentifier(load), ObjectIdentifier(other))
    return waits.withLock { waits in
      if Self.reaches(load, from: other, in: waits) { return false }
      waits[load, default: []].append(other)
      return true
    }
  }

  static func remove(from load: any AnyInFlightLoad, to other: any AnyInFlightLoad) {
    let (load, other) = (ObjectIdentifier(load), ObjectIdentifier(other))
    waits.withLock { waits in
      guard var others = waits[load], let index = others.firstIndex(of: other) else { return }
      others.remove(at: index)
      waits[load] = others.isEmpty ? nil : others
    }
  }

  /// Whether `other` is `load` or waits for it.
  static func includes(_ load: any AnyInFlightLoad, waitedForBy other: any AnyInFlightLoad) -> Bool
  {
    let (load, other) = (ObjectIdentifier(load), ObjectIdentifier(other))
    return waits.withLock { reaches(load, from: other, in: $0) }
  }

  private static func reaches(
    _ load: ObjectIdentifier, from other: ObjectIdentifier,
    in waits: [ObjectIdentifier: [ObjectIdentifier]]
  ) -> Bool {
    var pending = [other]
    var seen: Set<ObjectIdentifier> = []
    while let next = pending.popLast() {
      if next == load { return true }
      if seen.insert(next).inserted { pending += waits[next] ?? [] }
    }
    return false
  }
}
