import CLMDB
import LarderSystem

/// A handle to one of the environment's databases, opened together with the environment.
package struct Database: Sendable, Equatable {
  @usableFromInline let handle: UInt32

  @usableFromInline init(handle: UInt32) { self.handle = handle }

  /// The database that every environment has. It also holds the records with the roots of the named databases.
  @inlinable package static var main: Database { Database(handle: 1) }

  /// The first of ``EnvironmentOptions/databases``: LMDB numbers the databases in that order.
  @inlinable package static var firstNamed: Database { Database(handle: 2) }

  /// LMDB's free lists: page numbers under the number of the transaction that freed the pages.
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

extension DatabaseStatistics {
  init(_ tree: Tree, pageSize: Int) {
    self.pageSize = pageSize
    depth = tree.depth
    branchPages = Int(clamping: tree.branchPages)
    leafPages = Int(clamping: tree.leafPages)
    overflowPages = Int(clamping: tree.overflowPages)
    records = Int(clamping: tree.records)
  }
}

/// Looks up `key` with LMDB itself; nil without a value, or for an impossible key.
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

/// The place of bytes in LMDB's map. ``ReadTransaction/bytes(of:)`` lends the bytes until the transaction ends.
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
  /// - Precondition: the call that gets the result reads the bytes only during the lifetime of `bytes`.
  @inline(__always)
  init(_ bytes: Span<UInt8>) {
    unsafe self = bytes.withUnsafeBufferPointer {
      unsafe MDB_val(mv_size: $0.count, mv_data: UnsafeMutableRawPointer(mutating: $0.baseAddress))
    }
  }
}

extension Span<UInt8> {
  /// - Precondition: the caller ties the result to the lifetime of the transaction.
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
