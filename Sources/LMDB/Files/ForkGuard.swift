import CLMDB
import Synchronization

/// Tells a forked child that the environments it inherited are not its own.
///
/// LMDB in a child would free the parent's reader slots and share its write lock. The child's handler marks every
/// environment as forked and closes its copies of the lock files, which would otherwise keep the parent's locks alive
/// after the parent has let go of them. It runs in the child of a process with threads, so it only stores and closes.
enum ForkGuard {
  /// How many environments a process can have open.
  private static let capacity = 256

  @safe private struct Table: ~Copyable, Sendable {
    nonisolated(unsafe) let entries: UnsafeMutablePointer<Atomic<UnsafeMutableRawPointer?>>

    init(capacity: Int) {
      unsafe entries = UnsafeMutablePointer<Atomic<UnsafeMutableRawPointer?>>.allocate(
        capacity: capacity)
      for index in 0..<capacity { unsafe (entries + index).initialize(to: Atomic(nil)) }
      pthread_atfork(nil, nil, { ForkGuard.inChild() })
    }
  }

  private static let table = Table(capacity: capacity)

  static func register(_ state: UnsafeMutablePointer<SharedState>) -> Bool {
    for index in 0..<capacity {
      if unsafe table.entries[index].compareExchange(
        expected: nil, desired: UnsafeMutableRawPointer(state), ordering: .sequentiallyConsistent
      ).exchanged {
        return true
      }
    }
    return false
  }

  static func unregister(_ state: UnsafeMutablePointer<SharedState>) {
    for index in 0..<capacity {
      _ = unsafe table.entries[index].compareExchange(
        expected: UnsafeMutableRawPointer(state), desired: nil, ordering: .sequentiallyConsistent)
    }
  }

  private static func inChild() {
    for index in 0..<capacity {
      guard let raw = unsafe table.entries[index].load(ordering: .relaxed) else { continue }
      let state = unsafe raw.assumingMemoryBound(to: SharedState.self)
      unsafe state.pointee.phase.store(SharedState.forked, ordering: .relaxed)
      unsafe state.pointee.closeDescriptors()
    }
  }
}
