/// The paths from the root of a tree to a record. Each page of a path is checked once.
extension WriteGuard: PageOpener {
  /// The index in ``recentPaths`` of the path to the last record that is not after `key`. Nil if the tree has no pages.
  @inline(__always)
  func path(to key: SearchKey, in database: Database) throws(PageDamage) -> Int? {
    if let known = unsafe recentPaths.find(key, in: database) { return known }
    return try unsafe newPath(to: key, in: database)
  }

  private func newPath(to key: SearchKey, in database: Database) throws(PageDamage) -> Int? {
    let tree = try tree(of: database)
    if tree.isEmpty { return nil }
    let index = recentPaths.reuseOldest(in: database, tree)
    try unsafe recentPaths[index].seek(key, by: self)
    return index
  }

  /// The page to which a record leads. Checks the page at its first visit. Refuses a second use: a damaged page number may name
  /// an undamaged page that is free or in another tree, and LMDB would free that page twice.
  @inline(__always)
  func open(_ reference: PageReference, isLeaf: Bool) throws(PageDamage) -> TreePage {
    let number = reference.page
    let visit = checkedPages.visit(number, through: reference.place)
    if visit == .again, let page = TreePage(number, isLeaf: isLeaf, in: pages.table) { return page }
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
    case .first: try check.check(reference, isLeaf: isLeaf)
    case .moved: try check.checkBounds(of: check.open(number, isLeaf: isLeaf), reference)
    case .twice: throw PageDamage.usedTwice(number)
    }
    if try isFree(number) { throw PageDamage.usedAndFree(number) }
    return try check.open(number, isLeaf: isLeaf)
  }

  func failure(_ damage: PageDamage) -> PageDamage { damage }
}
