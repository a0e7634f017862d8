package import Synchronization

/// Counters that concurrent reads increment without a lock and without sharing a cache line.
///
/// Each of the 16 stripes is protected by a lock of the caller, such as a reader slot, so a plain load and store is exact
/// there. The last stripe is for callers without a lock and is incremented atomically.
@safe package final class StripedCounters: Sendable {
  @inlinable package static var capacity: Int { 8 }
  /// The number of stripes with a lock, and the index of the stripe without.
  @inlinable package static var shared: Int { 16 }
  @usableFromInline nonisolated(unsafe) let words: UnsafeMutablePointer<Atomic<UInt64>>

  package init() {
    let count = (Self.shared + 1) * Self.capacity
    let raw = UnsafeMutableRawPointer.allocate(byteCount: count * 8, alignment: 64)
    unsafe words = raw.bindMemory(to: Atomic<UInt64>.self, capacity: count)
    for index in 0..<count { unsafe (words + index).initialize(to: Atomic(0)) }
  }

  deinit {
    unsafe UnsafeMutableRawPointer(words).deallocate()
  }

  /// Adds one. The caller holds the lock of `stripe`.
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

  /// Adds one without a lock.
  package func count(_ counter: Int) {
    count(counter, stripe: Self.shared)
  }

  /// Adds `amount` without a lock.
  package func add(_ amount: UInt64, to counter: Int) {
    let word = unsafe words + (Self.shared * Self.capacity + counter)
    unsafe word.pointee.add(amount, ordering: .relaxed)
  }

  /// The sums of all counters, in one pass.
  package var totals: SIMD8<UInt64> {
    var sums = SIMD8<UInt64>()
    for stripe in 0...Self.shared {
      for counter in 0..<Self.capacity {
        let word = unsafe words + (stripe &* Self.capacity &+ counter)
        unsafe sums[counter] &+= word.pointee.load(ordering: .relaxed)
      }
    }
    return sums
  }

  package func total(_ counter: Int) -> UInt64 {
    var sum: UInt64 = 0
    for stripe in 0...Self.shared {
      sum &+= unsafe words[stripe * Self.capacity + counter].load(ordering: .relaxed)
    }
    return sum
  }
}
