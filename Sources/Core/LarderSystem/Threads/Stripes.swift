import CLarderSystem
public import Synchronization

/// A fixed number of values, each with its own lock. The addresses of two values differ by a multiple of 128 bytes, so threads
/// that use different values do not share a cache line. Access needs no reference counting.
///
/// The type is public because the compiler does not specialize a package type across modules.
@safe public final class LockStripes<Value>: Sendable {
  @usableFromInline let count: Int
  @usableFromInline nonisolated(unsafe) let locks: UnsafeMutableRawPointer
  @inlinable static var stride: Int { (MemoryLayout<Mutex<Value>>.size + 127) & ~127 }

  public init(count: Int, _ make: () -> sending Value) {
    self.count = count
    unsafe locks = UnsafeMutableRawPointer.allocate(byteCount: count * Self.stride, alignment: 128)
    for index in 0..<count { unsafe lock(index).initialize(to: Mutex(make())) }
  }

  deinit {
    for index in 0..<count { unsafe lock(index).deinitialize(count: 1) }
    unsafe locks.deallocate()
  }

  @inlinable @inline(__always)
  public func withLock<Result>(
    _ index: Int, _ body: (inout sending Value) -> sending Result
  ) -> sending Result {
    precondition(index >= 0 && index < count)
    return unsafe lock(index).pointee.withLock(body)
  }

  @inlinable @inline(__always)
  func lock(_ index: Int) -> UnsafeMutablePointer<Mutex<Value>> {
    unsafe (locks + index &* Self.stride).assumingMemoryBound(to: Mutex<Value>.self)
  }
}

/// Counters that threads increment without waiting. A stripe is one copy of all counters, in one cache line. For stripes 0 to
/// 15 the caller holds a lock, such as a reader slot, so a plain load and store loses no increment. The last stripe is atomic.
@safe package final class StripedCounters: Sendable {
  @inlinable package static var capacity: Int { 8 }
  /// The index of the stripe for callers without a lock.
  @inlinable package static var shared: Int { 16 }
  @usableFromInline nonisolated(unsafe) let words: UnsafeMutablePointer<Atomic<UInt64>>

  package init() {
    let count = (Self.shared + 1) * Self.capacity
    let raw = UnsafeMutableRawPointer.allocate(byteCount: count * 8, alignment: 64)
    unsafe words = raw.bindMemory(to: Atomic<UInt64>.self, capacity: count)
    for index in 0..<count { unsafe (words + index).initialize(to: Atomic(0)) }
  }

  deinit { unsafe UnsafeMutableRawPointer(words).deallocate() }

  /// Adds `amount` to `counter`. The caller holds the lock of `stripe`, if the stripe has a lock.
  @inlinable @inline(__always)
  package func count(_ counter: Int, stripe: Int = StripedCounters.shared, by amount: UInt64 = 1) {
    let word = unsafe words + (stripe &* Self.capacity &+ counter)
    if stripe < Self.shared {
      let value = unsafe word.pointee.load(ordering: .relaxed)
      unsafe word.pointee.store(value &+ amount, ordering: .relaxed)
    } else {
      unsafe word.pointee.add(amount, ordering: .relaxed)
    }
  }

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
}

/// 64-bit words that threads use without a lock, as a cache. New words are 0. A page takes memory only after its first use.
@safe package final class AtomicWords: Sendable {
  /// 0 if the system refused the memory; then every word reads as 0.
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
