import CLarderSystem
import Synchronization

/// A fixed number of 64-bit words that threads read and write without a lock, as a cache. They are 0 at first, and only
/// touched pages use memory.
///
/// If the system refuses the memory, `count` is 0 and every word reads as 0.
@safe package final class AtomicWords: Sendable {
  /// 0 if there was no memory.
  package let count: Int
  nonisolated(unsafe) private let words: UnsafeMutablePointer<Atomic<UInt64>>?

  package init(count: Int) {
    let zeroed = unsafe calloc(count, 8)
    self.count = unsafe zeroed == nil ? 0 : count
    unsafe words = zeroed?.bindMemory(to: Atomic<UInt64>.self, capacity: count)
  }

  deinit { unsafe free(words) }

  package subscript(index: Int) -> UInt64 {
    get {
      guard index >= 0, index < count, let words = unsafe words else { return 0 }
      return unsafe words[index].load(ordering: .relaxed)
    }
    set {
      guard index >= 0, index < count, let words = unsafe words else { return }
      unsafe words[index].store(newValue, ordering: .relaxed)
    }
  }
}
