import LarderSystem
import Synchronization

/// The handles of a store by name. A handle stays while it is in use or has something to remember.
struct NamespaceHandles {
  private static let fewest = 64

  private let counted: CountedHandles
  private var byName: [ExactString: NamespaceHandle] = [:]
  /// At this many handles, a new handle first releases the unused handles: O(1) for each new handle, because the bound doubles.
  private var most = Self.fewest

  init(listedIn counted: CountedHandles) { self.counted = counted }

  var all: [NamespaceHandle] { Array(byName.values) }

  mutating func handle(for name: String) -> NamespaceHandle {
    let exact = ExactString(name)
    if let handle = byName[exact] { return handle }
    if byName.count >= most {
      releaseUnused()
      most = max(2 * byName.count, Self.fewest)
    }
    let handle = NamespaceHandle(name: name, listedIn: counted)
    byName[exact] = handle
    return handle
  }

  private mutating func releaseUnused() {
    // Takes the handles without unmerged counts and without a memory tier off the list.
    _ = counted.unmerged
    var unused: [ExactString] = []
    var index = byName.startIndex
    while index != byName.endIndex {
      if isKnownUniquelyReferenced(&byName.values[index]), !byName.values[index].isNeeded {
        unused.append(byName.keys[index])
      }
      byName.formIndex(after: &index)
    }
    for name in unused { byName[name] = nil }
  }
}

/// The handles that may have unmerged reads. A read lists its handle; a write that runs at the
/// same time may not find the handle yet.
final class CountedHandles: Sendable {
  private let listed = Mutex<[NamespaceHandle]>([])

  /// A function of its own, because nearly every read finds its handle listed already.
  @inline(never)
  func add(_ handle: NamespaceHandle) {
    if handle.isListed.exchange(true, ordering: .relaxed) { return }
    listed.withLock { $0.append(handle) }
  }

  /// The handles with unmerged counts. Other handles leave the list, except handles with a memory tier.
  var unmerged: [NamespaceHandle] {
    listed.withLock { listed in
      if listed.isEmpty { return [] }
      var found: [NamespaceHandle] = []
      listed.removeAll { handle in
        handle.isListed.store(false, ordering: .sequentiallyConsistent)
        let hasUnmerged = handle.hasUnmerged
        if hasUnmerged { found.append(handle) }
        guard hasUnmerged || handle.hasMemory else { return true }
        // If a read has listed the handle again meanwhile, this place in the list is removed.
        return handle.isListed.exchange(true, ordering: .relaxed)
      }
      return found
    }
  }

  func removeAll() { listed.withLock { $0 = [] } }
}
