import LarderSystem

/// Visits all records of a tree that can be reached through sound pages, and collects the damage of the other pages. Each page
/// is visited once, so the walk ends even if damaged pages form a cycle.
struct TreeWalk {
  private let table: PageTable
  private let numberKeys: Bool
  private let tree: Tree
  private let tiling = Tiling()
  private(set) var damage: [PageDamage] = []
  /// The visited pages of trees and of large values; the walks over one file share them.
  var visited: PageSet
  private var records: UInt64 = 0
  private var pages: UInt64 = 0

  init(_ tree: Tree, in table: PageTable, numberKeys: Bool, visited: PageSet) {
    self.tree = tree
    self.table = table
    self.numberKeys = numberKeys
    self.visited = visited
  }

  mutating func run<Failure>(
    _ visit: (TreeCursor.Record) throws(Failure) -> Void
  ) throws(Failure) {
    if tree.isEmpty { return }
    try page(PageReference(to: tree), level: 1, visit)
  }

  /// Compares the visited records and pages with the numbers in the tree's record, after a walk without damage.
  mutating func checkCounts() {
    if records != tree.records {
      damage.append(
        PageDamage(page: tree.root, reason: "a tree of \(records) records, not \(tree.records)"))
    }
    if pages != tree.pages {
      damage.append(
        PageDamage(page: tree.root, reason: "a tree of \(pages) pages, not \(tree.pages)"))
    }
  }

  private mutating func page<Failure>(
    _ reference: PageReference, level: Int,
    _ visit: (TreeCursor.Record) throws(Failure) -> Void
  ) throws(Failure) {
    let check = PageCheck(table: table, numberKeys: numberKeys, tiling: tiling)
    let (number, isLeaf) = (reference.page, level == tree.depth)
    let page: TreePage
    do throws(PageDamage) {
      page = try check.open(number, isLeaf: isLeaf)
      guard !visited.contains(number), visited.insert(number) else {
        throw PageDamage(page: number, reason: "it is in use twice")
      }
      pages += 1
    } catch {
      damage.append(error)
      return
    }
    do throws(PageDamage) {
      try check.check(number, isLeaf: isLeaf, from: reference.low, to: reference.high)
    } catch {
      // Visits the readable records of a damaged page, too.
      damage.append(error)
    }
    let place = TreePath.Level(reference: reference, page: page, index: 0)
    for index in 0..<page.count {
      guard let node = page.node(index, pageSize: table.pageSize) else { continue }
      if isLeaf {
        try record(node, in: page, number, visit)
      } else if let child = place.child(index, pageSize: table.pageSize) {
        try self.page(child, level: level + 1, visit)
      }
    }
  }

  private mutating func record<Failure>(
    _ node: TreePage.Node, in page: TreePage, _ number: UInt64,
    _ visit: (TreeCursor.Record) throws(Failure) -> Void
  ) throws(Failure) {
    let value = table.value(of: node, in: page)
    guard let start = unsafe value.start else {
      // The check of a leaf does not include its overflow pages.
      damage.append(PageDamage(page: number, reason: "a value cannot be reached"))
      return
    }
    if let run = table.overflowRun(of: node, in: page, isFreeList: numberKeys) {
      for page in run {
        if visited.contains(page) {
          damage.append(PageDamage(page: page, reason: "it is in use twice"))
        }
        _ = visited.insert(page)
      }
      pages += UInt64(run.count)
    } else {
      damage.append(PageDamage(page: number, reason: "a value has more pages than it needs"))
    }
    records += 1
    try visit(
      unsafe TreeCursor.Record(
        key: node.key, keyCount: node.keyCount, value: start, valueCount: value.count))
  }
}

extension ReadTransaction {
  /// Checks every page of the snapshot: the pages of the databases, of the list of free pages, and of large values.
  package func damagedPages(databases: [Database]) throws(LMDBError) -> [PageDamage] {
    let pages = unsafe slot.pointee.snapshot.pages
    var damage: [PageDamage] = []
    var visited = PageSet(upTo: Int(pages.lastPage) + 1)
    // The two meta pages belong to no tree.
    var used = 2 + pages.free.pages
    for database in [.main] + databases {
      guard let tree = tree(of: database) else {
        damage.append(
          PageDamage(page: pages.main.root, reason: "the root of a database cannot be found"))
        continue
      }
      var walk = TreeWalk(tree, in: pages.table, numberKeys: false, visited: visited)
      walk.run { _ in }
      if walk.damage.isEmpty { walk.checkCounts() }
      damage += walk.damage
      visited = walk.visited
      used += tree.pages
    }
    do throws(PageDamage) {
      var free = FreeListCheck(pages: pages)
      try free.run()
      if let page = free.free.first(in: visited) {
        throw PageDamage(page: page, reason: "it is in use and on a list of free pages")
      }
      // A writer compares these numbers, too, and refuses to write if they differ.
      if damage.isEmpty { try free.compare(used: used) }
    } catch {
      damage.append(error)
    }
    return damage
  }
}

extension TreeCursor.Record {
  /// The bytes of the key; valid until the snapshot ends.
  var keyBytes: Span<UInt8> {
    @_lifetime(borrow self) get {
      let bytes = unsafe UnsafeRawBufferPointer(start: key, count: keyCount)
      return unsafe _overrideLifetime(Span<UInt8>(_unsafeBytes: bytes), borrowing: self)
    }
  }

  var valueBytes: Span<UInt8> {
    @_lifetime(borrow self) get {
      let bytes = unsafe UnsafeRawBufferPointer(start: value, count: valueCount)
      return unsafe _overrideLifetime(Span<UInt8>(_unsafeBytes: bytes), borrowing: self)
    }
  }
}
