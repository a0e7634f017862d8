/// A copy of some bytes that has one owner and no reference count, so that comparing with it costs nothing else.
@safe package struct OwnedBytes: ~Copyable, Sendable {
  @usableFromInline nonisolated(unsafe) let start: UnsafeMutablePointer<UInt8>
  package let count: Int

  package init(copying bytes: Span<UInt8>) {
    count = bytes.count
    unsafe start = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, bytes.count))
    let start = unsafe start
    unsafe bytes.withUnsafeBufferPointer {
      if let source = $0.baseAddress { unsafe start.update(from: source, count: $0.count) }
    }
  }

  deinit { unsafe start.deallocate() }

  @inlinable @inline(__always)
  package func isSame(as other: Span<UInt8>) -> Bool {
    if other.count != count { return false }
    return unsafe Span(_unsafeStart: start, count: count).isSame(as: other)
  }

  /// Whether two hold the same bytes.
  package func isSame(as other: borrowing OwnedBytes) -> Bool {
    isSame(as: unsafe Span(_unsafeStart: other.start, count: other.count))
  }
}

extension Span<UInt8> {
  /// Whether the bytes are the same; eight at a time.
  @inlinable @inline(__always)
  package func isSame(as other: Span<UInt8>) -> Bool {
    let count = count
    if count != other.count { return false }
    if count < 8 {
      for index in 0..<count where self[index] != other[index] { return false }
      return true
    }
    var offset = 0
    while offset &+ 8 < count {
      if word(at: offset) != other.word(at: offset) { return false }
      offset &+= 8
    }
    return word(at: count &- 8) == other.word(at: count &- 8)
  }
}
