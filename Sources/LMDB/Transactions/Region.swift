import CLMDB
import LarderSystem

/// Bytes inside LMDB's memory map, named by place and length.
///
/// A region is only a name: ``ReadTransaction/bytes(of:)`` lends the bytes for as long as the transaction that found
/// them lives.
@safe @usableFromInline package struct Region {
  @usableFromInline let start: UnsafePointer<UInt8>?
  @usableFromInline package let count: Int

  @inline(__always)
  init(_ value: MDB_val) {
    unsafe start = UnsafePointer(value.mv_data?.assumingMemoryBound(to: UInt8.self))
    count = unsafe value.mv_size
  }

  /// The address of the first byte, for tests that prove nothing was copied.
  package var address: UInt { unsafe UInt(bitPattern: start) }
}

extension MDB_val {
  /// Only for a call that reads the bytes before `bytes` ends.
  @inline(__always)
  init(_ bytes: Span<UInt8>) {
    unsafe self = bytes.withUnsafeBufferPointer {
      unsafe MDB_val(mv_size: $0.count, mv_data: UnsafeMutableRawPointer(mutating: $0.baseAddress))
    }
  }
}

extension Span<UInt8> {
  /// The caller ties the result to the transaction that the value came from.
  @inline(__always)
  @unsafe @_lifetime(immortal)
  init(_ value: MDB_val) {
    self = unsafe Span(Region(value))
  }

  @inlinable @inline(__always)
  @unsafe @_lifetime(immortal)
  package init(_ region: Region) {
    guard let start = unsafe region.start, region.count > 0 else {
      self = Span()
      return
    }
    let bytes = unsafe Span(_unsafeStart: start, count: region.count)
    self = unsafe _overrideLifetime(bytes, borrowing: ())
  }
}
