import CLMDB
import LarderSystem

/// What this transaction may count on at its beginning, before its first change.
///
/// LMDB takes single pages from the lists of free pages first, the oldest list first, and then from behind the last page
/// of the file. Several pages in a row it takes from where it finds them. Pages that commit `n` freed are there for
/// commit `n + 2` and later ones, once every reader has a snapshot of commit `n + 1` or later.
extension WriteTransaction {
  /// Pages in use now: those of `databases`, of the main one and of the list of free pages, and the two meta pages.
  ///
  /// After a commit these and the free ones are all pages of the file. Proportional to the number of databases.
  package func usedPages(of databases: [Database]) throws(LMDBError) -> Int {
    var pages = 2
    pages += try statistics(of: .main).pages
    pages += try statistics(of: .free).pages
    for database in databases where database != .main {
      pages += try statistics(of: database).pages
    }
    return pages
  }

  /// How many pages this transaction can take, one by one, before LMDB finds none or the file passes `limit` bytes.
  ///
  /// The commit itself takes some of them. Counting ends at `enough` or beyond; it takes time in proportion to the
  /// number of free lists that it needs, and to that of readers if the pages behind the last one are not enough.
  package func availablePages(upTo enough: Int, limit: Int) throws(LMDBError) -> Int {
    let tail = try pagesBehindLast(limit: limit)
    if tail >= enough { return tail }
    let oldest = oldestReader
    var available = try tail + reusablePages(upTo: enough - tail, before: oldest)
    if available < enough, oldest < id - 1, try clearDeadReaders() {
      available = try tail + reusablePages(upTo: enough - tail, before: oldestReader)
    }
    return available
  }

  /// How many of the available pages to leave for the commit, which takes some to write the lists of free pages anew.
  ///
  /// A bound that is generous for up to a dozen named databases. What the transaction frees, LMDB stores in one list: of
  /// more than 500 pages, it needs one page for each 500, in a row. In a file without a page left nothing can even be
  /// removed, so what is stored must end well before the limit.
  package static func pagesOfCommit(available: Int, freeing: Int) -> Int {
    32 + (available + freeing) / 128
  }

  /// Whether LMDB finds `pages` pages in a row in this transaction without the file passing `limit` bytes, even if up to
  /// `singles` pages were taken one by one before.
  ///
  /// False may be wrong, true never is. Proportional to the number of free pages if those behind the last one are not
  /// enough.
  package func hasRun(
    of pages: Int, afterTaking singles: Int = 0, limit: Int
  ) throws(LMDBError) -> Bool {
    let tail = try pagesBehindLast(limit: limit)
    if tail >= pages + singles { return true }
    guard let environment else { return false }
    let read = try viewOfLastCommit(in: environment)
    var search = try RunSearch(pages: pages, singles: singles, fileEnd: lastPage() + 1)
    let oldest = oldestReader
    var cursor = try read.cursor(in: .free)
    while search.shouldContinue, let record = try cursor.next() {
      let list = try FreeList(record)
      if list.transaction >= oldest { break }
      try search.add(list)
    }
    return search.hasRun || tail >= pages + search.missing
  }

  /// How many pages in a row LMDB takes for a value that does not fit into a leaf; such a value begins at about half a
  /// page, key included.
  package func pages(forValueOf bytes: Int) throws(LMDBError) -> Int {
    let header = 16
    return try (header + bytes - 1) / statistics(of: .free).pageSize + 1
  }

  /// Lists of free pages with this number and later ones are not touched, as in LMDB's `mdb_find_oldest`.
  private var oldestReader: UInt64 {
    min(id - 1, unsafe clmdb_oldest_reader(mdb_txn_env(live)).transaction)
  }

  private func clearDeadReaders() throws(LMDBError) -> Bool {
    try (environment?.clearDeadReaders() ?? 0) > 0
  }

  private func lastPage() throws(LMDBError) -> Int {
    try unsafe information().me_last_pgno
  }

  private func information() throws(LMDBError) -> MDB_envinfo {
    var info = unsafe MDB_envinfo()
    try check(unsafe mdb_env_info(mdb_txn_env(live), &info))
    return unsafe info
  }

  /// Pages between the last one of the last commit and the limit, all in a row; constant time.
  ///
  /// Whatever this transaction took before, in a row or one by one: with `n` pages taken, a run of this many less `n` is
  /// sure to be found. Of the map LMDB never uses the last page.
  package func pagesBehindLast(limit: Int) throws(LMDBError) -> Int {
    let info = try unsafe information()
    let pageSize = try statistics(of: .free).pageSize
    let end = min(limit / pageSize, unsafe info.me_mapsize / pageSize - 1)
    return max(unsafe end - info.me_last_pgno - 1, 0)
  }

  private func reusablePages(upTo enough: Int, before oldest: UInt64) throws(LMDBError) -> Int {
    guard let environment else { return 0 }
    let read = try viewOfLastCommit(in: environment)
    var pages = 0
    var cursor = try read.cursor(in: .free)
    while pages < enough, let record = try cursor.next() {
      let list = try FreeList(record)
      if list.transaction >= oldest { break }
      pages += list.count
    }
    return pages
  }

  /// LMDB lends no cursor on the free lists to a write, which sees them as the last commit left them anyway.
  private func viewOfLastCommit(in environment: Environment) throws(LMDBError) -> ReadTransaction {
    let read = try environment.beginRead()
    if read.id != id - 1 { throw .lockMismatch }
    return read
  }
}
