import CLMDB
import LarderSystem

/// A snapshot of the environment, with a slot of the reader pool.
///
/// It ends when it goes out of scope. The compiler ties the bytes that it lends to its lifetime.
@safe package struct ReadTransaction: ~Copyable {
  let slot: UnsafeMutablePointer<ReaderSlot>
  let handle: OpaquePointer
  /// The number of the snapshot's newest transaction.
  package let id: UInt64
  /// The index of the reader slot, which selects a stripe of ``StripedCounters``.
  package let stripe: Int

  /// The caller owns the slot and has renewed its transaction.
  @inline(__always)
  init(slot: UnsafeMutablePointer<ReaderSlot>, handle: OpaquePointer) {
    unsafe self.slot = slot
    unsafe self.handle = handle
    id = UInt64(truncatingIfNeeded: unsafe mdb_txn_id(handle))
    stripe = unsafe slot.pointee.index
  }

  deinit {
    if unsafe slot.pointee.isInherited { return }
    unsafe mdb_txn_reset(handle)
    unsafe ReaderPool.release(slot)
  }

  /// The value of the key that consists of `prefix` (big-endian), `key` and `suffix`; no allocation.
  ///
  /// - Precondition: the three have at most 511 bytes.
  @inline(__always)
  package func find(
    prefix: UInt32, key: Span<UInt8>, suffix: UInt8, in database: Database
  ) throws(LMDBError) -> Region? {
    let length = key.count &+ 5
    precondition(length <= 511, "a key of more than 511 bytes")
    let found = unsafe withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { buffer in
      let start = buffer.baseAddress!
      unsafe start.storeBytes(of: prefix.bigEndian, as: UInt32.self)
      unsafe key.withUnsafeBufferPointer {
        if let source = $0.baseAddress {
          unsafe (start + 4).copyMemory(from: source, byteCount: $0.count)
        }
      }
      unsafe start.storeBytes(of: suffix, toByteOffset: length &- 1, as: UInt8.self)
      return unsafe lookUp(SearchKey(UnsafeRawPointer(start), count: length), in: database)
    }
    return try region(found)
  }

  /// The value of `key`, or nil.
  package func find(_ key: Span<UInt8>, in database: Database) throws(LMDBError) -> Region? {
    if key.isEmpty || key.count > 511 { return nil }
    let found = unsafe key.withUnsafeBytes {
      unsafe lookUp(SearchKey($0.baseAddress!, count: $0.count), in: database)
    }
    return try region(found)
  }

  /// - Precondition: the key's bytes live until this returns.
  @inline(__always)
  private func lookUp(_ key: SearchKey, in database: Database) -> PageLookup {
    if database == .firstNamed, let tree = unsafe slot.pointee.snapshot.firstNamed {
      return unsafe slot.pointee.snapshot.pages.table.lookUp(key, in: tree)
    }
    return unsafe lookUpElsewhere(key, in: database)
  }

  @inline(never)
  private func lookUpElsewhere(_ key: SearchKey, in database: Database) -> PageLookup {
    if unsafe !slot.pointee.snapshot.pages.isReadable {
      return unsafe LMDB.lookUp(key, in: database, of: handle)
    }
    guard let tree = tree(of: database) else { return .damaged }
    return unsafe slot.pointee.snapshot.pages.table.lookUp(key, in: tree)
  }

  @inline(__always)
  private func region(_ found: PageLookup) throws(LMDBError) -> Region? {
    if let start = unsafe found.start { return unsafe Region(start: start, count: found.count) }
    if found.isAbsent { return nil }
    throw .damagedPage
  }

  /// The root of a database in this snapshot; nil if it cannot be reached.
  func tree(of database: Database) -> Tree? {
    if database == .main { return unsafe slot.pointee.snapshot.pages.main }
    if database == .free { return unsafe slot.pointee.snapshot.pages.free }
    return unsafe slot.pointee.snapshot.named(database)
  }

  /// The bytes of a region found by this transaction.
  @inlinable @inline(__always)
  @_lifetime(borrow self)
  package func bytes(of region: Region) -> Span<UInt8> {
    unsafe _overrideLifetime(Span(region), borrowing: self)
  }

  package func statistics(of database: Database) throws(LMDBError) -> DatabaseStatistics {
    if unsafe !slot.pointee.snapshot.pages.isReadable {
      return try unsafe readStatistics(of: database, in: handle)
    }
    guard let tree = tree(of: database) else { throw .damagedPage }
    return unsafe DatabaseStatistics(tree, pageSize: slot.pointee.snapshot.pages.table.pageSize)
  }

  @_lifetime(borrow self)
  package func cursor(in database: Database) throws(LMDBError) -> Cursor {
    if unsafe !slot.pointee.snapshot.pages.isReadable {
      let cursor = try unsafe Cursor(database: database, transaction: handle)
      return unsafe _overrideLifetime(cursor, borrowing: self)
    }
    guard let tree = tree(of: database) else { throw .damagedPage }
    let cursor = unsafe Cursor(
      TreeCursor(
        tree, in: slot.pointee.snapshot.pages.table, numberKeys: database == .free))
    return unsafe _overrideLifetime(cursor, borrowing: self)
  }
}

/// A lookup in either kind of transaction.
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

/// A lookup by LMDB itself, in a file whose pages are not read here.
func lookUp(
  _ key: SearchKey, in database: Database, of transaction: OpaquePointer
) -> PageLookup {
  var name = unsafe MDB_val(
    mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.start))
  var value = unsafe MDB_val()
  let result = unsafe mdb_get(transaction, database.handle, &name, &value)
  if result == MDB_NOTFOUND { return .absent }
  guard result == 0, let start = unsafe value.mv_data else { return .damaged }
  return unsafe PageLookup(start: UnsafeRawPointer(start), count: value.mv_size)
}

func readStatistics(
  of database: Database, in transaction: OpaquePointer
) throws(LMDBError) -> DatabaseStatistics {
  var statistics = MDB_stat()
  try check(unsafe mdb_stat(transaction, database.handle, &statistics))
  return DatabaseStatistics(statistics)
}

/// A handle to one of the environment's databases, opened together with the environment.
package struct Database: Sendable, Equatable {
  @usableFromInline let handle: UInt32

  @usableFromInline init(handle: UInt32) { self.handle = handle }

  /// The database that every environment has. It also holds the records with the roots of the named ones.
  @inlinable package static var main: Database { Database(handle: 1) }

  /// The first of ``EnvironmentOptions/databases``: LMDB numbers them in that order.
  @inlinable package static var firstNamed: Database { Database(handle: 2) }

  /// LMDB's free lists: page numbers by transaction number.
  static var free: Database { Database(handle: 0) }
}

/// The numbers of a database's pages and records; constant time.
package struct DatabaseStatistics: Sendable, Equatable {
  package var pageSize: Int
  package var depth: Int
  package var branchPages: Int
  package var leafPages: Int
  package var overflowPages: Int
  package var records: Int

  package var pages: Int { branchPages + leafPages + overflowPages }

  init(_ statistics: MDB_stat) {
    pageSize = Int(statistics.ms_psize)
    depth = Int(statistics.ms_depth)
    branchPages = statistics.ms_branch_pages
    leafPages = statistics.ms_leaf_pages
    overflowPages = statistics.ms_overflow_pages
    records = statistics.ms_entries
  }
}
