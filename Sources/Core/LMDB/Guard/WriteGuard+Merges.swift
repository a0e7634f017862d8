/// The checks before a removal after which LMDB may merge pages. Each merge removes a page, so the neighbour for the next merge
/// below the same branch page can be one page further away. After *n* removals this neighbour is at most *n* + 1 pages away.
extension WriteGuard {
  /// After this number of removals below a branch page, all pages below that page are checked, not only the neighbours.
  private static let removalsBeforeAll = 4
  /// LMDB keeps at least two children in a branch page. So a branch page with fewer children than this limit may be merged.
  private static let fewChildren = 3

  /// Checks the pages that LMDB may merge: neighbours of the leaf of `path`, and neighbours of the branch pages above the leaf.
  func willMerge(_ path: TreePath) throws(PageDamage) {
    let bottom = path.tree.depth - 1
    let parent = path.branch
    checkedPages[parent.number].removals += 1
    let removals = Int(checkedPages[parent.number].removals)
    if removals < Self.removalsBeforeAll {
      try checkBeside(path, by: removals + 1, level: bottom) { _ throws(PageDamage) in }
    } else {
      try checkBelow(parent, in: path.tree, level: bottom - 1)
    }
    for level in (1..<bottom).reversed() {
      guard try isDrained(path, at: level) else { return }
      let number = path[level].number
      let above = path[level - 1].number
      if !checkedPages[number].isDrained {
        checkedPages[number].isDrained = true
        checkedPages[above].drained += 1
      }
      let distance = checkedPages[above].drained + 1
      if checkedPages[number].covered < distance {
        try checkBelow(path[level], in: path.tree, level: level)
        try checkBeside(path, by: Int(distance), level: level) { (beside) throws(PageDamage) in
          try checkBelow(beside, in: path.tree, level: level)
        }
        checkedPages[number].covered = distance
      }
    }
  }

  /// Whether the removals may leave so few children in the branch page at `level` that LMDB merges the page.
  private func isDrained(_ path: TreePath, at level: Int) throws(PageDamage) -> Bool {
    let (branch, above) = (path[level], path[level - 1])
    let facts = checkedPages[branch.number]
    if facts.isDrained || checkedPages[above.number].drained > 0 { return true }
    if level < path.tree.depth - 2 {
      return branch.page.count - Int(facts.drained) < Self.fewChildren
    }
    if branch.page.count - Int(facts.removals) >= Self.fewChildren { return false }
    try checkBelow(branch, in: path.tree, level: level)
    // Merges can leave few pages (`fewChildren`) below the branch page only if the remaining records fit into these pages.
    let left = Int(checkedPages[branch.number].total) - Int(checkedPages[branch.number].removed)
    return left <= Self.fewChildren * (pageSize - PageTable.headerSize)
  }

  private func checkBeside(
    _ path: TreePath, by distance: Int, level: Int,
    _ visit: (TreePath.Level) throws(PageDamage) -> Void
  ) throws(PageDamage) {
    for forward in [false, true] {
      var beside = path
      for _ in 0..<distance {
        guard try beside.move(forward: forward, at: level, by: self) else { break }
        try visit(beside[level])
      }
    }
  }

  /// Checks all children of a branch page, and the first leaf below the branch page.
  private func checkBelow(_ branch: TreePath.Level, in tree: Tree, level: Int) throws(PageDamage) {
    if checkedPages[branch.number].total > 0 { return }
    var total = 0
    for index in 0..<branch.page.count {
      let child = try openChild(index, of: branch, at: level + 1, in: tree)
      total += pageSize - child.page.upper + 2 * child.page.count
      var first = child
      for level in level + 1..<tree.depth - 1 where index == 0 {
        first = try openChild(0, of: first, at: level + 1, in: tree)
      }
    }
    checkedPages[branch.number].total = Int32(clamping: total)
  }

  private func openChild(
    _ index: Int, of branch: TreePath.Level, at level: Int, in tree: Tree
  ) throws(PageDamage) -> TreePath.Level {
    guard let reference = branch.child(index) else { throw branch.damage }
    let page = try open(reference, isLeaf: level == tree.depth - 1)
    return TreePath.Level(reference: reference, page: page, index: 0)
  }
}
