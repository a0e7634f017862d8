extension WriteGuard {
  /// A leaf, and the place in the leaf where a key is or would be inserted.
  private struct Place {
    var path: Int
    // The number, the page and the record of the leaf. The whole level of the path would be copied often.
    var number: UInt64
    var page: TreePage
    var index: Int
    /// The number of the parent page; 0 if the leaf is the root.
    var parent: UInt64
    /// The bytes of the record, including its entry in the page's list of records. 0 if no record has the key.
    var size: Int
  }

  /// Checks the pages on the path and the stored value. If this write has changed nothing in the leaf, returns the record of
  /// the last commit. Otherwise returns nil, and LMDB must look up the record.
  func willRead(_ key: SearchKey, in database: Database) throws(PageDamage) -> PageLookup? {
    guard let place = try unsafe place(of: key, in: database) else { return nil }
    let facts = checkedPages[place.number]
    guard facts.added == 0, facts.removed == 0 else { return nil }
    guard place.size > 0, let node = place.page.node(place.index) else { return .absent }
    return pages.table.value(of: node)
  }

  /// For each record, two bytes in the page's list of records, and at most one byte that makes the record's size even.
  private static let entryAndPadding = 3

  func willStore(_ key: SearchKey, count: Int, in database: Database) throws(PageDamage) {
    try checkFreeLists()
    guard let place = try unsafe place(of: key, in: database) else { return }
    // A record has at most half a page in the leaf; the value of a larger record is on overflow pages.
    let inlineSize = unsafe min(PageTable.nodeHeaderSize + key.count + count, pageSize / 2)
    note(place, added: inlineSize + Self.entryAndPadding)
  }

  /// LMDB merges leaves that are less than 25 % full. The limit is higher here, because LMDB must not read an unchecked page.
  private static let sparsePercent = 30

  /// LMDB (`mdb_rebalance`) merges a page that is less than a quarter full with a neighbour, or moves a record from the
  /// neighbour to the page. For a branch page with only one child, LMDB also reads the first leaf below the branch page.
  func willRemove(_ key: SearchKey, in database: Database) throws(PageDamage) {
    try checkFreeLists()
    guard let place = try unsafe place(of: key, in: database) else { return }
    try checkNext(behind: place)
    note(place, added: 0)
    if place.parent == 0 { return }
    let facts = checkedPages[place.number]
    let capacity = pageSize - PageTable.headerSize
    let used = pageSize - place.page.upper + 2 * place.page.count
    let mayUnderflow =
      (used - Int(facts.removed)) * 100 < capacity * Self.sparsePercent
      || used + Int(facts.added) > capacity || checkedPages[place.parent].removals > 0
    if mayUnderflow { try willMerge(recentPaths[place.path]) }
  }

  /// Checks the next leaf. LMDB's cursor may move there from the last record of a leaf, and from any record of a changed leaf.
  private func checkNext(behind place: Place) throws(PageDamage) {
    let facts = checkedPages[place.number]
    if facts.hasCheckedNext { return }
    guard facts.added > 0 || facts.removed > 0 || place.index >= place.page.count - 1
    else { return }
    var next = recentPaths[place.path]
    _ = try next.move(forward: true, at: next.tree.depth - 1, by: self)
    checkedPages[place.number].hasCheckedNext = true
  }

  private func note(_ place: Place, added: Int) {
    checkedPages.note(added: added, removed: place.size, on: place.number)
    if place.size == 0 || place.parent == 0 { return }
    checkedPages.note(added: 0, removed: place.size, on: place.parent)
  }

  /// The place of `key`; nil if the tree has no pages.
  private func place(of key: SearchKey, in database: Database) throws(PageDamage) -> Place? {
    guard let index = try unsafe path(to: key, in: database) else { return nil }
    var place = Place(
      path: index, number: recentPaths[index].leaf.number, page: recentPaths[index].leaf.page,
      index: recentPaths[index].leaf.index,
      parent: recentPaths[index].tree.depth > 1 ? recentPaths[index].branch.number : 0, size: 0)
    guard let node = place.page.node(place.index), unsafe key.isSame(as: node) else { return place }
    try checkValue(of: node, at: place.index, on: place.number)
    let inline = node.flags & PageTable.bigValue != 0 ? 8 : node.valueCount
    place.size = PageTable.nodeHeaderSize + node.keyCount + inline + Self.entryAndPadding
    return place
  }

  /// Checks the pages that a cursor reads when it moves from `key`, or searches for the first record at or after `key`.
  func willMove(from key: SearchKey, forward: Bool, in database: Database) throws(PageDamage) {
    guard let known = try unsafe self.path(to: key, in: database) else { return }
    let leaf = recentPaths[known].leaf
    try checkValues(of: leaf)
    let facts = checkedPages[leaf.number]
    let isUnchanged = facts.added == 0 && facts.removed == 0
    if isUnchanged, forward, leaf.index < leaf.page.count - 1 { return }
    var path = recentPaths[known]
    if try path.move(forward: forward, at: path.tree.depth - 1, by: self) {
      try checkValues(of: path.leaf)
    }
  }

  func willMove(toLast atLast: Bool, in database: Database) throws(PageDamage) {
    let tree = try tree(of: database)
    if tree.isEmpty { return }
    var path = TreePath(tree)
    try path.seekEnd(atLast: atLast, by: self)
    try checkValues(of: path.leaf)
  }

  /// Checks the values of a leaf that are on overflow pages, because LMDB reads such a value when a cursor comes to its record.
  private func checkValues(of leaf: TreePath.Level) throws(PageDamage) {
    if checkedPages[leaf.number].hasCheckedValues { return }
    for index in 0..<leaf.page.count {
      guard let node = leaf.page.node(index) else { continue }
      if node.flags != 0 { try checkValue(of: node, at: index, on: leaf.number) }
    }
    checkedPages[leaf.number].hasCheckedValues = true
  }

  /// Checks the overflow pages of a value, because LMDB frees these pages when the value is replaced or removed.
  func checkValue(of node: TreePage.Node, at index: Int, on leaf: UInt64) throws(PageDamage) {
    let table = pages.table
    guard !table.value(of: node).isDamaged, let run = table.overflowRun(of: node)
    else { throw PageDamage(page: leaf, reason: "the value of record \(index)") }
    if run.isEmpty { return }
    for page in run where try isFree(page) { throw PageDamage.usedAndFree(page) }
    let reference = unsafe UInt(bitPattern: node.start)
    if checkedPages.visit(run.lowerBound, through: reference) == .twice {
      throw PageDamage.usedTwice(run.lowerBound)
    }
  }
}
