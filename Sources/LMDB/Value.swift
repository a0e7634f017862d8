import CLMDB

/// Bytes inside LMDB's memory map, named by place and length.
///
/// A region is only a name: ``ReadTransaction/bytes(of:)`` lends the bytes for as long as the transaction that found
/// them lives.
@safe package struct Region {
  fileprivate let value: MDB_val

  @inline(__always)
  init(_ value: MDB_val) { unsafe self.value = value }

  package var count: Int { unsafe value.mv_size }

  /// The address of the first byte, for tests that prove nothing was copied.
  package var address: UInt { unsafe UInt(bitPattern: value.mv_data) }
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
    guard let data = unsafe value.mv_data, unsafe value.mv_size > 0 else {
      self = Span()
      return
    }
    let start = unsafe data.assumingMemoryBound(to: UInt8.self)
    let bytes = unsafe Span(_unsafeStart: UnsafePointer(start), count: value.mv_size)
    self = unsafe _overrideLifetime(bytes, borrowing: ())
  }

  @inline(__always)
  @unsafe @_lifetime(immortal)
  init(_ region: Region) {
    self = unsafe Span(region.value)
  }
}
