import CLMDB
import LarderSystem

/// A consistent view of the environment, on loan from its pool.
///
/// It ends when it goes out of scope. Bytes read through it cannot outlive it: the compiler ties them to it.
@safe package struct ReadTransaction: ~Copyable {
  let slot: UnsafeMutablePointer<ReaderSlot>
  let handle: OpaquePointer
  /// The number of the last transaction this view includes.
  package let id: UInt64
  /// Which of the pool's slots this is; ``StripedCounters`` counts without locks by it.
  package let stripe: Int

  /// The slot is the caller's and its transaction is renewed.
  @inline(__always)
  init(slot: UnsafeMutablePointer<ReaderSlot>, handle: OpaquePointer) {
    unsafe self.slot = slot
    unsafe self.handle = handle
    id = UInt64(unsafe mdb_txn_id(handle))
    stripe = unsafe slot.pointee.index
  }

  deinit {
    if unsafe slot.pointee.isInherited { return }
    unsafe mdb_txn_reset(handle)
    unsafe ReaderPool.release(slot)
  }

  /// The value stored under `prefix` (big-endian), `key` and `suffix` put together; no allocation.
  ///
  /// - Precondition: the three have at most 511 bytes.
  package func find(
    prefix: UInt32, key: Span<UInt8>, suffix: UInt8, in database: Database
  ) throws(LMDBError) -> Region? {
    let length = key.count &+ 5
    precondition(length <= 511, "a key of more than 511 bytes")
    var value = unsafe MDB_val()
    let result = unsafe withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { buffer in
      let start = buffer.baseAddress!
      unsafe start.storeBytes(of: prefix.bigEndian, as: UInt32.self)
      unsafe key.withUnsafeBufferPointer {
        if let source = $0.baseAddress {
          unsafe (start + 4).copyMemory(from: source, byteCount: $0.count)
        }
      }
      unsafe start.storeBytes(of: suffix, toByteOffset: length &- 1, as: UInt8.self)
      var name = unsafe MDB_val(mv_size: length, mv_data: start)
      return unsafe mdb_get(handle, database.handle, &name, &value)
    }
    if result == 0 { return unsafe Region(value) }
    if result == MDB_NOTFOUND { return nil }
    throw LMDBError(code: result)
  }

  /// The value stored under `key`, or nil.
  package func find(_ key: Span<UInt8>, in database: Database) throws(LMDBError) -> Region? {
    guard let value = try unsafe lookUp(key, in: database, of: handle) else { return nil }
    return unsafe Region(value)
  }

  /// The bytes of a region that this transaction found.
  @inlinable @inline(__always)
  @_lifetime(borrow self)
  package func bytes(of region: Region) -> Span<UInt8> {
    unsafe _overrideLifetime(Span(region), borrowing: self)
  }

  package func statistics(of database: Database) throws(LMDBError) -> DatabaseStatistics {
    try unsafe readStatistics(of: database, in: handle)
  }

  @_lifetime(borrow self)
  package func cursor(in database: Database) throws(LMDBError) -> Cursor {
    let cursor = try unsafe Cursor(database: database, transaction: handle)
    return unsafe _overrideLifetime(cursor, borrowing: self)
  }
}

/// One lookup, for either kind of transaction.
@inline(__always)
func lookUp(
  _ key: Span<UInt8>, in database: Database, of transaction: OpaquePointer
) throws(LMDBError) -> MDB_val? {
  if key.isEmpty || key.count > 511 { return nil }
  var name = unsafe MDB_val(key)
  var value = unsafe MDB_val()
  let result = unsafe mdb_get(transaction, database.handle, &name, &value)
  if result == 0 { return unsafe value }
  if result == MDB_NOTFOUND { return nil }
  throw LMDBError(code: result)
}

func readStatistics(
  of database: Database, in transaction: OpaquePointer
) throws(LMDBError) -> DatabaseStatistics {
  var statistics = MDB_stat()
  try check(unsafe mdb_stat(transaction, database.handle, &statistics))
  return DatabaseStatistics(statistics)
}
