/// The checks for cursors of a write.
extension WriteGuard {
  /// Checks the pages before a cursor seeks the first record whose key is at least `key`, or moves on from that key.
  func willMove(
    from key: PageCheck.Key, forward: Bool, in database: Database
  ) throws(PageDamage) {
    let tree = try tree(of: database)
    if tree.isEmpty { return }
    var path = try knownPath(to: key, in: database, tree)
    let leaf = path.leaf
    try checkValues(of: leaf)
    let facts = checkedPages[leaf.number]
    let isUnchanged = facts.added == 0 && facts.removed == 0
    if isUnchanged, forward, leaf.index < leaf.page.count - 1 { return }
    if try move(&path, forward: forward, in: tree, numberKeys: false, bottom: tree.depth - 1) {
      try checkValues(of: path.leaf)
    }
  }

  /// Checks the pages before a cursor moves to the first record or the last.
  func willMove(toLast atLast: Bool, in database: Database) throws(PageDamage) {
    let path = try path(toLast: atLast, in: tree(of: database), numberKeys: false)
    if !path.levels.isEmpty { try checkValues(of: path.leaf) }
  }

  /// Checks the values of a leaf that lie on overflow pages: a cursor leads LMDB to any of them.
  private func checkValues(of leaf: CheckedPath.Level) throws(PageDamage) {
    if checkedPages[leaf.number].hasCheckedValues { return }
    for index in 0..<leaf.page.count {
      guard let node = leaf.page.node(index, pageSize: pageSize) else { continue }
      if node.flags != 0 { try checkValue(of: node, at: index, in: leaf) }
    }
    checkedPages[leaf.number].hasCheckedValues = true
  }

  /// Checks the pages of a value outside its leaf: LMDB frees them when the value is replaced or removed.
  func checkValue(
    of node: TreePage.Node, at index: Int, in leaf: CheckedPath.Level
  ) throws(PageDamage) {
    let table = pages.table
    guard !table.value(of: node, in: leaf.page).isDamaged,
      let run = table.overflowRun(of: node, in: leaf.page, isFreeList: false)
    else { throw PageDamage(page: leaf.number, reason: "the value of record \(index)") }
    if run.isEmpty { return }
    for page in run where try isFree(page) {
      throw PageDamage(page: page, reason: "it is in use and on a list of free pages")
    }
    let reference = unsafe UInt(bitPattern: node.start)
    if checkedPages.visit(run.lowerBound, through: reference) == .twice {
      throw PageDamage(page: run.lowerBound, reason: "it is in use twice")
    }
  }
}
