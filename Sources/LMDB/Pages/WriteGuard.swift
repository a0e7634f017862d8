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
  /// Nil until the lists of free pages are checked.
  private var freePages: KnownFreePages?
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
  func begin(_ pages: SnapshotPages) throws(PageDamage) {
    let former = self.pages
    self.pages = pages
    named.removeAll(keepingCapacity: true)
    checkedPages.begin()
    recentPaths.forget()
    let isKnown = pages.id == former.id || pages.id == ownCommit
    if !isKnown || commits >= Self.rememberedCommits {
      checkedPages.forget()
      freePages = nil
      commits = 0
    } else if pages.id != former.id {
      try freePages?.advance(from: former, to: pages)
    }
    commits += 1
  }

  func noteCommit(_ id: UInt64) { ownCommit = id }

  /// Checks, before the first change, the lists that LMDB takes pages from.
  func checkFreeLists() throws(PageDamage) {
    if freePages != nil { return }
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
    freePages = KnownFreePages(check.free)
    // What this write has read so far was not compared with the lists.
    named.removeAll(keepingCapacity: true)
    recentPaths.forget()
  }

  /// Whether a page is free in the last commit. False as long as no list of free pages was checked.
  func isFree(_ page: UInt64) throws(PageDamage) -> Bool {
    guard freePages?.mayContain(page) == true else { return false }
    var check = FreeListCheck(pages: pages)
    try check.run()
    freePages = KnownFreePages(check.free)
    return check.free.contains(page)
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

  /// The page that a record leads to; checks the page unless that was done before.
  ///
  /// A damaged page number may name a sound page that is free or belongs elsewhere. LMDB would free the page twice.
  func checked(
    _ reference: PageReference, isLeaf: Bool, numberKeys: Bool
  ) throws(PageDamage) -> TreePage {
    let check = PageCheck(table: pages.table, numberKeys: numberKeys, tiling: tiling)
    let number = reference.page
    switch checkedPages.visit(number, through: reference.place) {
    case .same: break
    case .first:
      _ = try check.check(number, isLeaf: isLeaf, from: reference.low, to: reference.high)
      if !numberKeys { try visitFreeLists(likePage: number, isLeaf: isLeaf, check) }
    case .moved:
      try check.checkBounds(number, isLeaf: isLeaf, from: reference.low, to: reference.high)
    case .twice:
      throw PageDamage(page: number, reason: "it is in use twice")
    }
    if try isFree(number) {
      throw PageDamage(page: number, reason: "it is in use and on a list of free pages")
    }
    return try check.open(number, isLeaf: isLeaf)
  }

  /// Visits the pages of the free lists' tree that the page would be among if it belonged to that tree; a page of both trees
  /// is met twice.
  private func visitFreeLists(
    likePage number: UInt64, isLeaf: Bool, _ check: PageCheck
  ) throws(PageDamage) {
    let page = try check.open(number, isLeaf: isLeaf)
    // The first record of a branch has no key.
    guard let node = page.node(isLeaf ? 0 : min(1, page.count - 1), pageSize: pageSize),
      node.keyCount == 8
    else { return }
    let key = unsafe PageCheck.Key(start: node.key, count: node.keyCount)
    _ = try path(to: key, in: pages.free, numberKeys: true)
  }
}
