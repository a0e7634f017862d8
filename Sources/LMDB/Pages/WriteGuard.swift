import LarderSystem
import Synchronization

/// Checks the pages of the last commit before LMDB touches them for a write, because LMDB does not check them.
///
/// LMDB reads the pages on the path to a key, the neighbours of a page that it may merge, and the lists of free pages. Pages
/// that this write has made need no check. If a page is damaged the write fails before LMDB sees it, and the
/// environment refuses all further writes of this process. Used only under the writer's lock.
final class WriteGuard: @unchecked Sendable {
  /// The number of successive commits for which the checked pages are remembered.
  static let rememberedCommits = 256

  private let names: [String]
  private let tiling = Tiling()
  private(set) var pages = SnapshotPages.unreadable(0)
  private var named: [Tree?] = []
  // Only the writer uses these two, and never while they change. Without checks at run time that saves a tenth of a write.
  @exclusivity(unchecked) private var pagesChecked = CheckedPages()
  @exclusivity(unchecked) private var pathsTaken = RecentPaths()
  var checkedPages: CheckedPages {
    @inline(__always) _read { yield unsafe pagesChecked }
    @inline(__always) _modify { yield unsafe &pagesChecked }
  }
  var recentPaths: RecentPaths {
    @inline(__always) _read { yield unsafe pathsTaken }
    @inline(__always) _modify { yield unsafe &pathsTaken }
  }
  /// The free pages of the commit that this write begins on, if its lists were read in this write.
  private var freePages: PageSet?
  private var hasCheckedFreeLists = false
  private var commits = 0
  /// The number of this process's last commit.
  private var ownCommit: UInt64 = 0
  /// Read by any thread. All other properties belong to the writer.
  private let firstDamage = Mutex<PageDamage?>(nil)

  init(names: [String]) { self.names = names }

  /// The first damage that a write met.
  var damage: PageDamage? { firstDamage.withLock { $0 } }

  var pageSize: Int { pages.table.pageSize }

  /// Begins a write on that commit.
  func begin(_ pages: SnapshotPages) {
    let isKnown = pages.id == self.pages.id || pages.id == ownCommit
    if !isKnown || commits >= Self.rememberedCommits {
      checkedPages.forget()
      hasCheckedFreeLists = false
      commits = 0
    }
    commits += 1
    named.removeAll(keepingCapacity: true)
    freePages = nil
    self.pages = pages
    checkedPages.begin()
    recentPaths.forget()
  }

  func noteCommit(_ id: UInt64) { ownCommit = id }

  /// Checks, before the first change, the lists that LMDB takes pages from.
  func checkFreeLists() throws(PageDamage) {
    if hasCheckedFreeLists { return }
    var check = FreeListCheck(pages: pages)
    try check.run()
    var used = 2 + pages.main.pages + pages.free.pages
    for index in names.indices {
      used += try tree(of: Database(handle: UInt32(index) + 2)).pages
    }
    guard used + check.count == pages.lastPage + 1 else {
      throw PageDamage(
        page: pages.id % 2,
        reason:
          "\(used) pages in use and \(check.count) free ones are not the \(pages.lastPage + 1) there are"
      )
    }
    freePages = check.free
    hasCheckedFreeLists = true
    for page in check.treePages { checkedPages.insert(page, separator: 0) }
  }

  /// Runs a check; if it finds damage the environment refuses writes from now on.
  func checking<Result>(_ check: () throws(PageDamage) -> Result) throws(LMDBError) -> Result {
    if damage != nil { throw .damagedPage }
    do throws(PageDamage) {
      return try check()
    } catch {
      firstDamage.withLock { $0 = $0 ?? error }
      throw .damagedPage
    }
  }

  /// The root of a database in the last commit.
  func tree(of database: Database) throws(PageDamage) -> Tree {
    if database == .main { return pages.main }
    if database == .free { return pages.free }
    let index = Int(database.handle) - 2
    if index < named.count, let tree = named[index] { return tree }
    guard index < names.count else {
      throw PageDamage(page: 0, reason: "a database that was not opened")
    }
    // LMDB takes the same path to read the record and to write it.
    try unsafe Array(names[index].utf8).withUnsafeBufferPointer { (bytes) throws(PageDamage) in
      guard let start = bytes.baseAddress else { return }
      let key = unsafe PageCheck.Key(start: UnsafeRawPointer(start), count: bytes.count)
      _ = try path(to: key, in: pages.main, numberKeys: false)
    }
    guard let tree = pages.table.tree(named: names[index], in: pages.main) else {
      throw PageDamage(page: pages.main.root, reason: "the record of database \(names[index])")
    }
    while named.count <= index { named.append(nil) }
    named[index] = tree
    return tree
  }

  /// A page of a tree; checks the page unless that was done before.
  func checked(
    _ number: UInt64, isLeaf: Bool, numberKeys: Bool, from low: PageCheck.Key?,
    to high: PageCheck.Key?
  ) throws(PageDamage) -> TreePage {
    let check = PageCheck(table: pages.table, numberKeys: numberKeys, tiling: tiling)
    let separator = low.map { unsafe UInt(bitPattern: $0.start) } ?? 0
    if !checkedPages.contains(number) {
      _ = try check.check(number, isLeaf: isLeaf, from: low, to: high)
      if freePages?.contains(number) == true {
        throw PageDamage(page: number, reason: "it is in use and on a list of free pages")
      }
      checkedPages.insert(number, separator: separator)
    } else if checkedPages.separator(of: number) != separator {
      // A damaged page number may name a sound page that belongs elsewhere.
      try check.checkBounds(number, isLeaf: isLeaf, from: low, to: high)
      checkedPages.setSeparator(separator, of: number)
    }
    return try check.open(number, isLeaf: isLeaf)
  }
}
