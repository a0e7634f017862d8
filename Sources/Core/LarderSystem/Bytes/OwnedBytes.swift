#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A copy of bytes with one owner and no reference count.
@safe public struct OwnedBytes: ~Copyable, Sendable {
  @usableFromInline nonisolated(unsafe) let start: UnsafeMutablePointer<UInt8>
  public let count: Int

  public init(copying bytes: Span<UInt8>) {
    count = bytes.count
    unsafe start = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, bytes.count))
    let start = unsafe start
    unsafe bytes.withUnsafeBufferPointer {
      if let source = $0.baseAddress { unsafe start.update(from: source, count: $0.count) }
    }
  }

  deinit { unsafe start.deallocate() }

  @inlinable @inline(__always)
  public func isSame(as other: Span<UInt8>) -> Bool {
    if other.count != count { return false }
    let start = unsafe start
    return unsafe other.withUnsafeBytes { other in
      let bytes = UnsafeRawPointer(start)
      let count = other.count
      if count < 8 {
        for index in 0..<count where unsafe start[index] != other[index] { return false }
        return true
      }
      var offset = 0
      while offset < count {
        // The last word of eight bytes may overlap the previous word, so a rest of fewer bytes needs no comparison of its own.
        let at = min(offset, count &- 8)
        if unsafe bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
          != other.loadUnaligned(fromByteOffset: at, as: UInt64.self)
        {
          return false
        }
        offset &+= 8
      }
      return true
    }
  }

  public func isSame(as other: borrowing OwnedBytes) -> Bool {
    count == other.count && isSame(as: unsafe Span(_unsafeStart: other.start, count: other.count))
  }
}

extension Data {
  /// Copies the bytes directly, without an array between the span and the data.
  package init(copying bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBufferPointer { unsafe Data(buffer: $0) }
  }
}
