/// The checks before a removal after which LMDB may merge pages.
///
/// A merge takes a page away, so the neighbour of the next merge below the same branch can lie one page further: after *n*
/// removals it is at most *n* + 1 pages away.
extension WriteGuard {
  /// With so many removals below one branch, all its pages are checked in place of the neighbours.
  private static let removalsBeforeAll = 4
  /// LMDB keeps two children in a branch. One with fewer than this may come to that.
  private static let fewChildren = 3

  /// The pages that LMDB may merge with the leaf of `path`, and those above that may then be merged.
  func willMerge(_ path: CheckedPath, in tree: Tree) throws(PageDamage) {
    let bottom = tree.depth - 1
    var level = bottom - 1
    let parent = path.levels[level]
    checkedPages[parent.number].removals += 1
    let removals = Int(checkedPages[parent.number].removals)
    if removals < Self.removalsBeforeAll {
      try checkBeside(path, by: removals + 1, level: bottom, in: tree) { _ throws(PageDamage) in }
    } else {
      try checkBelow(parent, in: tree, level: level)
    }
    while level > 0,
      try isDrained(path.levels[level], level: level, above: path.levels[level - 1], in: tree)
    {
      let number = path.levels[level].number
      let above = path.levels[level - 1].number
      if !checkedPages[number].isDrained {
        checkedPages[number].isDrained = true
        checkedPages[above].drained += 1
      }
      let distance = checkedPages[above].drained + 1
      if checkedPages[number].covered < distance {
        let level = level
        try checkBelow(path.levels[level], in: tree, level: level)
        try checkBeside(path, by: Int(distance), level: level, in: tree) {
          (beside) throws(PageDamage) in
          try checkBelow(beside, in: tree, level: level)
        }
        checkedPages[number].covered = distance
      }
      level -= 1
    }
  }

  /// Whether the removals may leave a branch page so few children that LMDB merges it.
  private func isDrained(
    _ branch: CheckedPath.Level, level: Int, above: CheckedPath.Level, in tree: Tree
  ) throws(PageDamage) -> Bool {
    let facts = checkedPages[branch.number]
    if facts.isDrained || checkedPages[above.number].drained > 0 { return true }
    if level < tree.depth - 2 { return branch.page.count - Int(facts.drained) < Self.fewChildren }
    if branch.page.count - Int(facts.removals) >= Self.fewChildren { return false }
    try checkBelow(branch, in: tree, level: level)
    // As many pages as that can be merged into fewer if the records that are left below the branch fit into them.
    let left = Int(checkedPages[branch.number].total) - Int(checkedPages[branch.number].removed)
    return left <= Self.fewChildren * (pageSize - PageTable.headerSize)
  }

  /// The pages up to `distance` before and behind the path's page on a level.
  private func checkBeside(
    _ path: CheckedPath, by distance: Int, level: Int, in tree: Tree,
    _ visit: (CheckedPath.Level) throws(PageDamage) -> Void
  ) throws(PageDamage) {
    for forward in [false, true] {
      var beside = path
      beside.levels.removeSubrange((level + 1)...)
      for _ in 0..<distance {
        guard try move(&beside, forward: forward, in: tree)
        else { break }
        try visit(beside.levels[level])
      }
    }
  }

  /// All pages right below a branch page, and the first leaf below it.
  private func checkBelow(
    _ branch: CheckedPath.Level, in tree: Tree, level: Int
  ) throws(PageDamage) {
    if checkedPages[branch.number].total > 0 { return }
    var total = 0
    let isLeaf = level + 1 == tree.depth - 1
    for index in 0..<branch.page.count {
      let reference = try child(index, of: branch)
      let page = try checked(reference, isLeaf: isLeaf, numberKeys: false)
      total += pageSize - page.upper + 2 * page.count
      if !isLeaf, index == 0 {
        let first = CheckedPath.Level(reference: reference, page: page, index: 0)
        try checkFirstLeaf(below: first, in: tree, level: level + 1)
      }
    }
    checkedPages[branch.number].total = Int32(clamping: total)
  }

  private func checkFirstLeaf(
    below branch: CheckedPath.Level, in tree: Tree, level: Int
  ) throws(PageDamage) {
    var branch = branch
    for level in level..<(tree.depth - 1) {
      let reference = try child(0, of: branch)
      let page = try checked(reference, isLeaf: level + 1 == tree.depth - 1, numberKeys: false)
      branch = CheckedPath.Level(reference: reference, page: page, index: 0)
    }
  }
}
