import CLMDB
import LarderSystem

/// A handle to one of the environment's databases, opened once when the environment was.
package struct Database: Sendable, Equatable {
  @usableFromInline let handle: UInt32

  @usableFromInline init(handle: UInt32) { self.handle = handle }

  /// The one database every environment has. It needs no second descent to find its root, so the keys read most live here.
  @inlinable package static var main: Database { Database(handle: 1) }

  /// LMDB's own list of free pages: transaction number to page numbers.
  static var free: Database { Database(handle: 0) }
}

/// How many pages and records a database has; constant time.
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
