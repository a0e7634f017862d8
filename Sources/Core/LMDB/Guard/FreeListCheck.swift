/// Reads the whole tree of free pages, with the lists in it.
///
/// LMDB uses the pages of a list without a check. So each page must exist, be on one list only, and not belong to the tree
/// of the lists. Proportional to the number of free pages.
struct FreeListCheck {
  let pages: SnapshotPages
  /// The pages of the tree and of its long lists.
  private var treePages: PageSet
  private var treePageCount: UInt64 = 0
  private(set) var free: PageSet
  /// The number of free pages.
  private(set) var count: UInt64 = 0
  /// The number of those that commits after `lastCounted` freed.
  private(set) var newCount = 0
  private let lastCounted: UInt64
  private var lists: UInt64 = 0
  private let tiling = Tiling()

  init(pages: SnapshotPages, newAfter lastCounted: UInt64 = .max) {
    self.pages = pages
    self.lastCounted = lastCounted
    free = PageSet(upTo: Int(pages.lastPage) + 1)
    treePages = free
  }

  mutating func run() throws(PageDamage) {
    let tree = pages.free
    if tree.isEmpty { return }
    try visit(tree.root, level: 1, from: nil, to: nil)
    guard lists == tree.records else {
      throw PageDamage(page: tree.root, reason: "\(lists) lists of free pages, not \(tree.records)")
    }
    guard treePageCount == tree.pages else {
      throw PageDamage(page: tree.root, reason: "the tree of free pages has another size")
    }
    if let page = treePages.first(in: free) {
      throw PageDamage(page: page, reason: "it is in use and on a list of free pages")
    }
  }

  /// Throws unless the free pages are all that are not in use.
  ///
  /// - Parameter used: the number of pages in use, as the records of the trees say.
  func compare(used: UInt64) throws(PageDamage) {
    guard used + count == pages.lastPage + 1 else {
      throw PageDamage(
        page: pages.id % 2,
        reason:
          "\(used) pages in use and \(count) free ones are not the \(pages.lastPage + 1) there are")
    }
  }

  private mutating func visit(
    _ number: UInt64, level: Int, from low: PageCheck.Key?, to high: PageCheck.Key?
  ) throws(PageDamage) {
    let isLeaf = level == pages.free.depth
    let check = PageCheck(table: pages.table, numberKeys: true, tiling: tiling)
    try check.check(number, isLeaf: isLeaf, from: low, to: high)
    try note(number)
    let page = try check.open(number, isLeaf: isLeaf)
    for index in 0..<page.count {
      guard let node = page.node(index, pageSize: pages.table.pageSize) else {
        throw PageDamage(page: number, reason: "record \(index) lies outside the page")
      }
      let key = unsafe PageCheck.Key(start: node.key, count: node.keyCount)
      if isLeaf {
        let commit = check.number(key)
        guard commit >= 1, commit <= pages.id else {
          throw PageDamage(page: number, reason: "a list of free pages of a commit to come")
        }
        let before = count
        try read(pages.table.value(of: node, in: page), of: number)
        if commit > lastCounted { newCount += Int(count - before) }
        // A damaged length of the run changes the number of the tree's pages.
        for page in pages.table.overflowRun(of: node, in: page, isFreeList: true) ?? 0..<0 {
          try note(page)
        }
      } else {
        let next =
          index + 1 < page.count ? page.node(index + 1, pageSize: pages.table.pageSize) : nil
        try visit(
          node.child, level: level + 1, from: index == 0 ? low : key,
          to: next.map { unsafe PageCheck.Key(start: $0.key, count: $0.keyCount) } ?? high)
      }
    }
  }

  private mutating func note(_ page: UInt64) throws(PageDamage) {
    treePageCount += 1
    guard !treePages.contains(page), treePages.insert(page) else {
      throw PageDamage(page: page, reason: "it is in use twice")
    }
    guard treePageCount <= pages.free.pages else {
      throw PageDamage(page: page, reason: "the tree of free pages has another size")
    }
  }

  /// One list: its length, and its pages in descending order.
  private mutating func read(_ list: PageLookup, of leaf: UInt64) throws(PageDamage) {
    guard let start = unsafe list.start, list.count >= 8 else {
      throw PageDamage(page: leaf, reason: "a list of free pages cannot be read")
    }
    lists += 1
    let length = unsafe start.loadUnaligned(as: UInt64.self)
    guard length <= UInt64(list.count / 8 - 1) else {
      throw PageDamage(page: leaf, reason: "a list of free pages is longer than its record")
    }
    var former = UInt64.max
    for index in 0..<Int(length) {
      let page = unsafe start.loadUnaligned(fromByteOffset: 8 + 8 * index, as: UInt64.self)
      guard page >= 2, page <= pages.lastPage, page < former, !free.contains(page) else {
        throw PageDamage(page: leaf, reason: "page \(page) on a list of free pages")
      }
      _ = free.insert(page)
      former = page
    }
    count += length
  }
}
