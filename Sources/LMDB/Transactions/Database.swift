import CLMDB
import LarderSystem

/// A handle to one of the environment's databases, opened together with the environment.
package struct Database: Sendable, Equatable {
  @usableFromInline let handle: UInt32

  @usableFromInline init(handle: UInt32) { self.handle = handle }

  /// The database that every environment has. Its root is in the meta page, which saves a descent: it holds the entries.
  @inlinable package static var main: Database { Database(handle: 1) }

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
