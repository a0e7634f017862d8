import CLMDB
import LarderSystem

/// A handle of one of the environment's databases, opened together with the environment.
package struct Database: Sendable, Equatable {
  @usableFromInline let handle: UInt32

  @usableFromInline init(handle: UInt32) { self.handle = handle }

  /// The database that every environment has. It also has the records with the roots of the named databases.
  @inlinable package static var main: Database { Database(handle: 1) }

  /// The first of ``EnvironmentOptions/databases``. LMDB numbers the databases in that order.
  @inlinable package static var firstNamed: Database { Database(handle: 2) }

  /// LMDB's free lists. The key is the number of the transaction that freed the pages; the value has the page numbers.
  static var free: Database { Database(handle: 0) }
}

/// The numbers of a database's pages and records, which are read in constant time.
package struct DatabaseStatistics: Sendable, Equatable {
  /// The number of branch pages, leaf pages and overflow pages.
  package var pages: Int
  package var records: Int
  package var depth: Int

  init(_ statistics: MDB_stat) {
    pages = statistics.ms_branch_pages + statistics.ms_leaf_pages + statistics.ms_overflow_pages
    records = statistics.ms_entries
    depth = Int(statistics.ms_depth)
  }

  init(_ tree: Tree) {
    pages = Int(clamping: tree.pages)
    records = Int(clamping: tree.records)
    depth = Int(clamping: tree.depth)
  }
}

/// Looks up `key` with LMDB itself. Nil if there is no value, or if no record can have this key.
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

/// The place of some bytes in LMDB's map. ``ReadTransaction/bytes(of:)`` lends these bytes until the transaction ends.
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
}

extension MDB_val {
  /// - Precondition: the function that gets the result reads the bytes only during the lifetime of `bytes`.
  @inline(__always)
  init(_ bytes: Span<UInt8>) {
    unsafe self = bytes.withUnsafeBufferPointer {
      unsafe MDB_val(mv_size: $0.count, mv_data: UnsafeMutableRawPointer(mutating: $0.baseAddress))
    }
  }
}

extension Span<UInt8> {
  /// - Precondition: the result is not used after the end of the transaction.
  @inline(__always)
  @unsafe @_lifetime(immortal)
  init(_ value: MDB_val) { self = unsafe Span(Region(value)) }

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
