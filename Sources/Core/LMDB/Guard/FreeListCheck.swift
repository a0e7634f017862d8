/// Reads the whole tree of free pages, with its lists. LMDB uses the pages of a list without a check. So this check makes sure
/// that each page exists, is on only one list, and is not a page of this tree itself. O(free pages).
struct FreeListCheck {
  let pages: SnapshotPages
  private(set) var free: PageSet
  /// The pages of this tree, including the pages of lists that are too long for a leaf.
  private(set) var treePages: PageSet
  /// The lists, with the oldest list first.
  private(set) var lists: [KnownFreePages.List] = []
  var count: UInt64 { lists.reduce(0) { $0 + UInt64($1.pages.count) } }

  init(pages: SnapshotPages) {
    self.pages = pages
    free = PageSet(upTo: Int(pages.lastPage) + 1)
    treePages = free
  }

  mutating func run() throws(PageDamage) {
    var walk = TreeWalk(in: pages.table, numberKeys: true, visited: treePages)
    try walk.run(pages.free, counting: true) { (record) throws(PageDamage) in try read(record) }
    if let damage = walk.damage.first { throw damage }
    treePages = walk.visited
    if let page = treePages.first(in: free) { throw PageDamage.usedAndFree(page) }
  }

  /// Throws if the used pages (from the records of the trees) and the free pages do not add up to the number of all pages.
  func compare(used: UInt64) throws(PageDamage) {
    guard used + count == pages.lastPage + 1 else {
      throw PageDamage(
        page: pages.id % 2,
        reason:
          "\(used) pages in use and \(count) free ones are not the \(pages.lastPage + 1) there are")
    }
  }

  /// Reads one list: its length, and its pages, which must be in descending order.
  private mutating func read(_ record: TreeCursor.Record) throws(PageDamage) {
    let leaf = unsafe pages.table.page(at: record.key)
    let list: KnownFreePages.List
    do throws(LMDBError) {
      list = try KnownFreePages.List(FreeList(record.keyBytes, record.valueBytes))
    } catch { throw PageDamage(page: leaf, reason: "a list of free pages cannot be read") }
    guard list.commit >= 1, list.commit <= pages.id else {
      throw PageDamage(page: leaf, reason: "a list of free pages of a commit to come")
    }
    var former = UInt64.max
    for page in list.pages {
      guard page >= 2, page <= pages.lastPage, page < former, !free.contains(page) else {
        throw PageDamage(page: leaf, reason: "page \(page) on a list of free pages")
      }
      _ = free.insert(page)
      former = page
    }
    lists.append(list)
  }
}
