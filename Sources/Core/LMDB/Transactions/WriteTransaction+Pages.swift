import CLMDB
import LarderSystem

/// Before each call of a write, these checks make sure that every page that LMDB will use for the call is undamaged.
extension WriteTransaction {
  func willRead(_ key: Span<UInt8>, in database: Database) throws(LMDBError) -> PageLookup? {
    var found: PageLookup?
    try checking(key) { (guarding) throws(PageDamage) in
      found = try unsafe guarding.willRead(SearchKey(key), in: database)
    }
    return found
  }

  /// If a shorter value with fewer overflow pages replaces a value, first removes the old value. Otherwise LMDB would keep all
  /// pages of a value that this transaction stored, and ``WriteGuard`` could not distinguish the unneeded pages from damage.
  mutating func removeLonger(
    _ key: Span<UInt8>, count: Int, in database: Database
  ) throws(LMDBError) {
    defer { largestStored = max(largestStored, count) }
    // LMDB's smallest pages have room for a value of 496 bytes, so such a value needs only one page.
    guard largestStored > count, largestStored > 496, let table = guarding?.pages.table,
      table.overflowPages(for: largestStored) > table.overflowPages(for: count),
      let former = try unsafe lookUp(key, in: database, of: live)?.mv_size,
      table.overflowPages(for: former) > table.overflowPages(for: count)
    else { return }
    try remove(key, from: database)
  }

  /// Checks the record that has the page number of the database's root.
  func willOpen(_ database: Database) throws(LMDBError) {
    guard let guarding else { return }
    try guarding.checking { () throws(PageDamage) in _ = try guarding.tree(of: database) }
  }

  @inline(__always)
  func checking(
    _ key: Span<UInt8>, _ check: (WriteGuard) throws(PageDamage) -> Void
  ) throws(LMDBError) {
    guard let guarding, !key.isEmpty, key.count <= 511 else { return }
    try guarding.checking { () throws(PageDamage) in try check(guarding) }
  }

  // The functions below count the pages that this transaction could allocate when it began. LMDB takes single pages from the
  // free lists, oldest list first, then from the end of the file, and a run (consecutive pages) from either. Commit `n + 2` and
  // later commits can reuse pages that commit `n` freed, if every snapshot is later than `n`.

  package func statistics(of database: Database) throws(LMDBError) -> DatabaseStatistics {
    try willOpen(database)
    var statistics = MDB_stat()
    try check(unsafe mdb_stat(live, database.handle, &statistics))
    return DatabaseStatistics(statistics)
  }

  /// The number of pages of `databases`, of the main database and of the free lists, and the two meta pages. After a commit,
  /// all other pages are free. O(databases).
  package func usedPages(of databases: [Database]) throws(LMDBError) -> Int {
    var pages = try 2 + statistics(of: .main).pages + statistics(of: .free).pages
    for database in databases where database != .main {
      pages += try statistics(of: database).pages
    }
    return pages
  }

  /// The single pages that this transaction with its commit can allocate in a file of `limit` bytes. Counting stops at `enough`.
  package func availablePages(upTo enough: Int, limit: Int) throws(LMDBError) -> Int {
    let tail = pagesBehindLast(limit: limit)
    if tail >= enough { return tail }
    let oldest = oldestReader
    var available = try tail + reusablePages(upTo: enough - tail, before: oldest)
    if available < enough, oldest < id - 1,
      let cleared = try environment?.readerTable.clearDead(), cleared > 0
    {
      available = try tail + reusablePages(upTo: enough - tail, before: oldestReader)
    }
    return available
  }

  /// Whether LMDB certainly finds a run of `pages` pages if the file may have `limit` bytes, even if it allocates up to
  /// `singles` single pages before. If the result is false, LMDB may still find a run.
  package func hasRun(
    of pages: Int, afterTaking singles: Int = 0, limit: Int
  ) throws(LMDBError) -> Bool {
    let tail = pagesBehindLast(limit: limit)
    if tail >= pages + singles { return true }
    guard let lastPage = guarding?.pages.lastPage else { return false }
    // Like LMDB's `mdb_page_alloc`, reads one list after another until the pages of these lists contain a run. When LMDB has
    // read as many pages as the run needs, it reads at most `60 * pages` more lists. LMDB takes single pages from the lists
    // that it has already read, the lowest page first. LMDB may need fewer single pages, so no list is read only for them.
    var known = PageSet(upTo: Int(lastPage) + 1)
    var (found, lists, lastList, missing) = (0, 0, Int.max, singles)
    try forEachReusableList(before: oldestReader) { (list) throws(LMDBError) in
      lists += 1
      for index in 0..<list.count {
        guard known.insert(list.page(index)) else { throw LMDBError.corrupted }
      }
      found += list.count
      if found >= pages, lastList == .max { lastList = lists + 60 * pages }
      while missing > 0, known.removeLowest() { missing -= 1 }
      return lists < lastList
    }
    return known.hasRun(of: pages) || tail >= pages + missing
  }

  /// The number of the first commit whose free list LMDB must not use, because a reader may need the pages (`mdb_find_oldest`).
  private var oldestReader: UInt64 {
    min(id - 1, unsafe clmdb_oldest_reader(mdb_txn_env(live)).transaction)
  }

  /// The number of pages between the last page of the last commit and the limit. O(1). Each allocated page takes at most one.
  package func pagesBehindLast(limit: Int) -> Int {
    guard let data = environment?.handle.data else { return 0 }
    // LMDB never uses the last page of its map.
    let mapped = unsafe mappedSize(of: mdb_txn_env(live))
    let end = min(limit / data.pageSize, mapped / data.pageSize - 1)
    return max(end - data.pages, 0)
  }

  private func reusablePages(upTo enough: Int, before oldest: UInt64) throws(LMDBError) -> Int {
    var pages = 0
    try forEachReusableList(before: oldest) { (list) throws(LMDBError) in
      pages += list.count
      return pages < enough
    }
    return pages
  }

  /// Visits the lists of the last commit, from which this transaction takes pages, until `visit` returns false. A read
  /// transaction reads the lists, because LMDB allows no cursor on the free lists in a write transaction.
  private func forEachReusableList(
    before oldest: UInt64, _ visit: (borrowing FreeList) throws(LMDBError) -> Bool
  ) throws(LMDBError) {
    guard let environment else { return }
    let read = try environment.beginRead()
    if read.id != id - 1 { throw .lockMismatch }
    var cursor = try read.cursor(in: .free)
    while let record = try cursor.next() {
      let list = try FreeList(record.key, record.value)
      if list.transaction >= oldest { return }
      if try !visit(list) { return }
    }
  }
}
