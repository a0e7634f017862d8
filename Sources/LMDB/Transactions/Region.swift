import CLMDB
import LarderSystem

/// The address and length of bytes in LMDB's map.
///
/// ``ReadTransaction/bytes(of:)`` lends the bytes for the lifetime of the transaction that found them.
@safe @usableFromInline package struct Region {
  @usableFromInline let start: UnsafePointer<UInt8>?
  @usableFromInline package let count: Int

  @inline(__always)
  init(_ value: MDB_val) {
    unsafe start = UnsafePointer(value.mv_data?.assumingMemoryBound(to: UInt8.self))
    count = unsafe value.mv_size
  }

  @inline(__always)
  init(start: UnsafeRawPointer, count: Int) {
    unsafe self.start = unsafe start.assumingMemoryBound(to: UInt8.self)
    self.count = count
  }

  /// The address of the first byte, for tests that prove that nothing is copied.
  package var address: UInt { unsafe UInt(bitPattern: start) }
}

extension MDB_val {
  /// Only for a call that reads the bytes during the lifetime of `bytes`.
  @inline(__always)
  init(_ bytes: Span<UInt8>) {
    unsafe self = bytes.withUnsafeBufferPointer {
      unsafe MDB_val(mv_size: $0.count, mv_data: UnsafeMutableRawPointer(mutating: $0.baseAddress))
    }
  }
}

extension Span<UInt8> {
  /// The caller ties the result to the lifetime of the transaction.
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
