package import Synchronization

/// Counters that a read can raise without a lock and without sharing a cache line with other readers.
///
/// Each reader slot has a stripe of its own, and holding the slot is what makes a plain load and store exact there; any
/// other lock for each stripe does as well. The last stripe is shared by those that hold none, which add atomically.
@safe package final class StripedCounters: Sendable {
  @inlinable package static var capacity: Int { 8 }
  @inlinable static var shared: Int { 16 }
  @usableFromInline nonisolated(unsafe) let words: UnsafeMutablePointer<Atomic<UInt64>>

  package init() {
    precondition(Self.shared == ReaderPool.slotCount)
    let count = (Self.shared + 1) * Self.capacity
    let raw = UnsafeMutableRawPointer.allocate(byteCount: count * 8, alignment: 64)
    unsafe words = raw.bindMemory(to: Atomic<UInt64>.self, capacity: count)
    for index in 0..<count { unsafe (words + index).initialize(to: Atomic(0)) }
  }

  deinit {
    unsafe UnsafeMutableRawPointer(words).deallocate()
  }

  /// Adds one. `stripe` is that of a transaction, or of another lock for each stripe, that the caller holds.
  @inlinable @inline(__always)
  package func count(_ counter: Int, stripe: Int) {
    let word = unsafe words + (stripe &* Self.capacity &+ counter)
    if stripe < Self.shared {
      let value = unsafe word.pointee.load(ordering: .relaxed)
      unsafe word.pointee.store(value &+ 1, ordering: .relaxed)
    } else {
      unsafe word.pointee.add(1, ordering: .relaxed)
    }
  }

  /// Adds one where no transaction is held.
  package func count(_ counter: Int) {
    count(counter, stripe: Self.shared)
  }

  /// Adds so many where no transaction is held.
  package func add(_ amount: UInt64, to counter: Int) {
    let word = unsafe words + (Self.shared * Self.capacity + counter)
    unsafe word.pointee.add(amount, ordering: .relaxed)
  }

  package func total(_ counter: Int) -> UInt64 {
    var sum: UInt64 = 0
    for stripe in 0...Self.shared {
      sum &+= unsafe words[stripe * Self.capacity + counter].load(ordering: .relaxed)
    }
    return sum
  }
}
