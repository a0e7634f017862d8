import CLarderSystem
import Synchronization

/// A fixed number of 64-bit words that threads read and write without a lock. They are 0 at first, and only touched pages
/// use memory.
@safe package final class AtomicWords: Sendable {
  package let count: Int
  nonisolated(unsafe) private let words: UnsafeMutablePointer<Atomic<UInt64>>

  package init(count: Int) {
    self.count = count
    guard let zeroed = unsafe calloc(count, 8) else {
      fatalError("out of memory for \(count) words")
    }
    unsafe words = zeroed.bindMemory(to: Atomic<UInt64>.self, capacity: count)
  }

  deinit { unsafe free(words) }

  package subscript(index: Int) -> UInt64 {
    get {
      precondition(index >= 0 && index < count)
      return unsafe words[index].load(ordering: .relaxed)
    }
    set {
      precondition(index >= 0 && index < count)
      unsafe words[index].store(newValue, ordering: .relaxed)
    }
  }
}
