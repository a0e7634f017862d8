/// The paths from a tree's root to a record. Each page on a path is checked once.
extension WriteGuard: PageOpener {
  /// Takes and remembers a path; returns its number in ``recentPaths``.
  func newPath(to key: SearchKey, in database: Database, _ tree: Tree) throws(PageDamage) -> Int {
    let index = recentPaths.reuseOlder(in: database, tree)
    try unsafe recentPaths[index].seek(key, by: self)
    return index
  }

  /// The path to the record of `key`, or to the record behind which `key` would be inserted.
  func knownPath(
    to key: PageCheck.Key, in database: Database, _ tree: Tree
  ) throws(PageDamage) -> TreePath {
    let searched = unsafe SearchKey(key.start, count: key.count)
    if let known = unsafe recentPaths.find(searched, in: database, pageSize: pageSize) {
      return recentPaths[known]
    }
    return recentPaths[try unsafe newPath(to: searched, in: database, tree)]
  }

  /// For a tree that has pages.
  func path(toLast atLast: Bool, in tree: Tree) throws(PageDamage) -> TreePath {
    var path = TreePath(tree)
    try path.seekEnd(atLast: atLast, by: self)
    return path
  }

  /// The page to which a record leads. Checks the page unless this was done before. A damaged page number may name a sound
  /// page that is free or belongs elsewhere. LMDB would free that page twice.
  @inline(__always)
  func open(_ reference: PageReference, isLeaf: Bool) throws(PageDamage) -> TreePage {
    let number = reference.page
    let visit = checkedPages.visit(number, through: reference.place)
    if visit == .again, let page = TreePage(number, isLeaf: isLeaf, in: pages.table) {
      return page
    }
    return try openVisited(visit, reference, isLeaf: isLeaf)
  }

  @inline(never)
  private func openVisited(
    _ visit: CheckedPages.Visit, _ reference: PageReference, isLeaf: Bool
  ) throws(PageDamage) -> TreePage {
    let number = reference.page
    let check = PageCheck(table: pages.table, numberKeys: false, tiling: tiling)
    switch visit {
    case .same, .again: break
    case .first:
      try check.check(number, isLeaf: isLeaf, from: reference.low, to: reference.high)
    case .moved:
      try check.checkBounds(
        of: check.open(number, isLeaf: isLeaf), number, isLeaf: isLeaf, from: reference.low,
        to: reference.high)
    case .twice:
      throw PageDamage(page: number, reason: "it is in use twice")
    }
    if try isFree(number) {
      throw PageDamage(page: number, reason: "it is in use and on a list of free pages")
    }
    return try check.open(number, isLeaf: isLeaf)
  }

  func failure(_ damage: PageDamage) -> PageDamage { damage }
}
