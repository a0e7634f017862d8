public import Synchronization

/// A fixed number of values, each with its own lock. They are 128 bytes apart, so threads that use different values do
/// not share a cache line; access needs no reference counting.
///
/// The type is public because the compiler does not specialize a package type across modules.
@safe public final class LockStripes<Value>: Sendable {
  @usableFromInline let count: Int
  @usableFromInline nonisolated(unsafe) let locks: UnsafeMutableRawPointer
  @inlinable static var stride: Int { (MemoryLayout<Mutex<Value>>.size + 127) & ~127 }

  public init(count: Int, _ make: () -> sending Value) {
    self.count = count
    unsafe locks = UnsafeMutableRawPointer.allocate(
      byteCount: count * Self.stride, alignment: 128)
    for index in 0..<count { unsafe lock(index).initialize(to: Mutex(make())) }
  }

  deinit {
    for index in 0..<count { unsafe lock(index).deinitialize(count: 1) }
    unsafe locks.deallocate()
  }

  /// Runs `body` with the value at `index` while no other thread uses it.
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
