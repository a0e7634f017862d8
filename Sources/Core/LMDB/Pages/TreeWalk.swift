import LarderSystem

/// Visits all records of trees that can be reached, also on damaged pages, and collects the damage. Each page is visited once,
/// so the walk ends even if damaged pages form a cycle.
package struct TreeWalk {
  private let table: PageTable
  private let numberKeys: Bool
  private let tiling = Tiling()
  package internal(set) var damage: [PageDamage]
  private(set) var visited: PageSet
  private var records: UInt64 = 0
  private var pages: UInt64 = 0

  init(in table: PageTable, numberKeys: Bool = false, visited: PageSet, damage: [PageDamage] = []) {
    self.table = table
    self.numberKeys = numberKeys
    self.visited = visited
    self.damage = damage
  }

  /// - Parameter counting: whether the numbers of records and pages are compared with the tree's record, if no page is damaged.
  mutating func run<Failure>(
    _ tree: Tree, counting: Bool = false, _ visit: (TreeCursor.Record) throws(Failure) -> Void
  ) throws(Failure) {
    let former = damage.count
    (records, pages) = (0, 0)
    if !tree.isEmpty { try page(PageReference(to: tree), height: tree.depth, visit) }
    guard counting, damage.count == former else { return }
    for (found, stated, noun) in [(records, tree.records, "records"), (pages, tree.pages, "pages")]
    where found != stated {
      damage.append(
        PageDamage(page: tree.root, reason: "a tree of \(found) \(noun), not \(stated)"))
    }
  }

  private mutating func page<Failure>(
    _ reference: PageReference, height: Int, _ visit: (TreeCursor.Record) throws(Failure) -> Void
  ) throws(Failure) {
    let check = PageCheck(table: table, numberKeys: numberKeys, tiling: tiling)
    let isLeaf = height == 1
    let page: TreePage
    do throws(PageDamage) {
      page = try check.open(reference.page, isLeaf: isLeaf)
      guard !visited.contains(reference.page), visited.insert(reference.page) else {
        throw PageDamage.usedTwice(reference.page)
      }
      pages += 1
    } catch {
      damage.append(error)
      return
    }
    do throws(PageDamage) { try check.check(reference, isLeaf: isLeaf) } catch {
      // The page is damaged, but its readable records are still visited.
      damage.append(error)
    }
    let place = TreePath.Level(reference: reference, page: page, index: 0)
    for index in 0..<page.count {
      guard let node = page.node(index) else { continue }
      if isLeaf {
        try record(node, on: reference.page, visit)
      } else if let child = place.child(index) {
        try self.page(child, height: height - 1, visit)
      }
    }
  }

  private mutating func record<Failure>(
    _ node: TreePage.Node, on page: UInt64, _ visit: (TreeCursor.Record) throws(Failure) -> Void
  ) throws(Failure) {
    guard let record = table.record(of: node) else {
      // The check of a leaf page does not include its overflow pages, so this damage is found only here.
      damage.append(PageDamage(page: page, reason: "a value cannot be reached"))
      return
    }
    if let run = table.overflowRun(of: node, orLonger: numberKeys) {
      for page in run {
        if visited.contains(page) { damage.append(PageDamage.usedTwice(page)) }
        _ = visited.insert(page)
      }
      pages += UInt64(run.count)
    } else {
      damage.append(PageDamage(page: page, reason: "a value has more pages than it needs"))
    }
    records += 1
    try visit(record)
  }
}

extension ReadTransaction {
  /// Checks every page of the snapshot: the pages of the databases, of the free list, and of large values.
  package func damagedPages(databases: [Database]) throws(LMDBError) -> [PageDamage] {
    let pages = unsafe slot.pointee.snapshot.pages
    var walk = TreeWalk(in: pages.table, visited: PageSet(upTo: Int(pages.lastPage) + 1))
    // The count begins with the two meta pages, which belong to no tree.
    var used = 2 + pages.free.pages
    for database in [.main] + databases {
      guard let tree = tree(of: database) else {
        walk.damage.append(
          PageDamage(page: pages.main.root, reason: "the root of a database cannot be found"))
        continue
      }
      walk.run(tree, counting: true) { _ in }
      used += tree.pages
    }
    do throws(PageDamage) {
      var free = FreeListCheck(pages: pages)
      try free.run()
      if let page = free.free.first(in: walk.visited) { throw PageDamage.usedAndFree(page) }
      // A writer refuses to write if the numbers of used and free pages have a wrong sum, so this check compares them, too.
      if walk.damage.isEmpty { try free.compare(used: used) }
    } catch { walk.damage.append(error) }
    return walk.damage
  }
}
