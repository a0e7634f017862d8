import Synchronization

/// Checks pages of the last commit before LMDB uses them for a write, because LMDB itself does not check pages.
///
/// LMDB reads the pages on the path to a key, the neighbours of a page that it may merge, and the lists of free pages. Pages
/// that this write has made need no check. After damage this process refuses all writes. Used only under the writer lock.
final class WriteGuard: @unchecked Sendable {
  static let rememberedWrites = 256

  let tiling = Tiling()
  // Only the writer uses these properties, without overlap. So run-time checks are off, and a write takes a tenth less time.
  @safe @exclusivity(unchecked) private var snapshot: SnapshotTrees
  @safe @exclusivity(unchecked) var checkedPages = CheckedPages()
  @safe @exclusivity(unchecked) var recentPaths = RecentPaths()
  /// The lists of free pages in the last commit; nil if the lists must be read and checked.
  @safe @exclusivity(unchecked) private var freePages: KnownFreePages?
  /// Whether `compareUse` has run. One run is enough, because this process frees only pages that a visit has compared.
  private var hasComparedUse = false
  private var writesRemembered = 0
  /// The last commit that this process made, and the ``WriteTransaction/serial`` of that write.
  var ownCommit: (id: UInt64, serial: UInt64) = (0, 0)
  private var writes: UInt64 = 0
  /// The number of pages that commits of any process have freed since this process began its first write.
  private(set) var freedPageCount = 0
  /// The last commit whose freed pages are counted in ``freedPageCount``.
  private var lastCounted: UInt64?
  private(set) var listReadings = 0
  private var writesSinceReading = 0
  /// Any thread may use this property and ``hasDamage``. All other properties are only for the writer.
  private let firstDamage = Mutex<PageDamage?>(nil)
  /// True if ``firstDamage`` is not nil. Every call of a write reads this flag, because the flag is faster than the mutex.
  private let hasDamage = Atomic(false)

  init(names: [String]) { snapshot = SnapshotTrees(names: names.map { Array($0.utf8) }) }

  var pages: SnapshotPages { @inline(__always) _read { yield snapshot.pages } }

  var damage: PageDamage? { firstDamage.withLock { $0 } }

  var pageSize: Int { pages.table.pageSize }

  func begin(_ pages: SnapshotPages) throws(PageDamage) {
    let former = snapshot.pages.id
    snapshot.show(pages)
    checkedPages.begin()
    recentPaths.forget()
    let isKnown = pages.id == former || pages.id == ownCommit.id
    if !isKnown || writesRemembered >= Self.rememberedWrites {
      checkedPages.forget()
      writesRemembered = 0
    }
    writesRemembered += 1
    lastCounted = lastCounted ?? pages.id
    try followFreePages()
    checkedPages.hasLists = freePages != nil
  }

  /// Updates the lists. After many writes (more writes for longer lists), forgets the lists, so that they are checked again.
  private func followFreePages() throws(PageDamage) {
    guard let (commit, count) = freePages.map({ ($0.commit, $0.count) }) else { return }
    writesSinceReading += 1
    if writesSinceReading > max(Self.rememberedWrites, count / 16) || commit > pages.id {
      freePages = nil
    } else if commit < pages.id, let freed = try freePages?.advance(to: pages) {
      freedPageCount += freed
      lastCounted = pages.id
    }
  }

  func nextSerial() -> UInt64 {
    writes += 1
    return writes
  }

  /// Before the first change, checks the lists of free pages, from which LMDB takes pages.
  func checkFreeLists() throws(PageDamage) {
    if freePages != nil { return }
    let check = try readFreeLists()
    let trees =
      try [pages.main]
      + snapshot.names.indices.map { (index) throws(PageDamage) in
        try tree(of: Database(handle: UInt32(index) + 2))
      }
    try check.compare(used: trees.reduce(2 + pages.free.pages) { $0 + $1.pages })
    try compareUse(of: trees, with: check)
    // This write has already read pages that were not compared with the lists. So it must visit and check these pages again.
    snapshot.forgetRoots()
    recentPaths.forget()
    checkedPages.hasLists = true
  }

  /// Finds a page that is in use and also free. A count of all pages does not reveal such a page if another page is on no list.
  /// Also finds a used page that is in the tree of the free lists, which no other check finds if its keys fit.
  private func compareUse(of trees: [Tree], with lists: FreeListCheck) throws(PageDamage) {
    if hasComparedUse { return }
    var inUse = PageSet(upTo: Int(pages.lastPage) + 1)
    for tree in trees { inUse.insertPages(of: tree, in: pages.table) }
    if let page = inUse.first(in: lists.free) { throw PageDamage.usedAndFree(page) }
    if let page = inUse.first(in: lists.treePages) { throw PageDamage.usedTwice(page) }
    hasComparedUse = true
  }

  /// Whether a page is free in the last commit. False as long as the lists of free pages are not checked.
  func isFree(_ page: UInt64) throws(PageDamage) -> Bool {
    guard freePages?.contains(page) == true else { return false }
    return try readFreeLists().free.contains(page)
  }

  private func readFreeLists() throws(PageDamage) -> FreeListCheck {
    listReadings += 1
    writesSinceReading = 0
    var check = FreeListCheck(pages: pages)
    try check.run()
    let known = KnownFreePages(check.lists, check.free, of: pages.id)
    freedPageCount += known.count(after: lastCounted ?? pages.id)
    lastCounted = pages.id
    freePages = known
    return check
  }

  /// If the check finds damage, this process refuses all later writes.
  @inline(__always)
  func checking<Result>(_ check: () throws(PageDamage) -> Result) throws(LMDBError) -> Result {
    if hasDamage.load(ordering: .relaxed) { throw .damagedPage }
    do throws(PageDamage) { return try check() } catch {
      refuse(error)
      throw .damagedPage
    }
  }

  private func refuse(_ damage: PageDamage) {
    firstDamage.withLock { $0 = $0 ?? damage }
    hasDamage.store(true, ordering: .relaxed)
  }

  func tree(of database: Database) throws(PageDamage) -> Tree {
    if let known = snapshot.known(database) { return known }
    let index = Int(database.handle) - 2
    guard index < snapshot.names.count else {
      throw PageDamage(page: 0, reason: "a database that was not opened")
    }
    let name = snapshot.names[index]
    defer { withExtendedLifetime(name) {} }
    // LMDB reads and writes the record of the database. So this call also checks the pages on the path to the record.
    _ = try unsafe path(to: SearchKey(name.span), in: .main)
    guard let tree = snapshot.tree(of: database) else {
      throw PageDamage(
        page: pages.main.root,
        reason: "the record of database \(String(decoding: name, as: UTF8.self))")
    }
    return tree
  }
}
