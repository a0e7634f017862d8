/// The ways from a tree's root to a record. Each page on them is checked once.
extension WriteGuard {
  /// Takes the path to the record of `key`, or to the record behind which `key` would be inserted, and remembers it among
  /// ``recentPaths``.
  ///
  /// - Returns: its number there.
  func newPath(to key: SearchKey, in database: Database, _ tree: Tree) throws(PageDamage) -> Int {
    let pageSize = pageSize
    let index = recentPaths.reuseOlder(in: database)
    do throws(PageDamage) {
      try descend(&recentPaths[index], in: tree, numberKeys: false) { page in
        unsafe page.lastNotAfter(key, pageSize: pageSize)
      }
    } catch {
      // A part of another path is left in it.
      recentPaths[index].levels.removeAll()
      throw error
    }
    return index
  }

  /// The path to the first record or the last.
  func path(toLast atLast: Bool, in tree: Tree) throws(PageDamage) -> CheckedPath {
    var path = CheckedPath()
    try descend(&path, in: tree, numberKeys: false) { page in atLast ? page.count - 1 : 0 }
    return path
  }

  /// Makes a path lead elsewhere. One with levels is a path in the same tree, of which the root stays.
  @inline(__always)
  private func descend(
    _ path: inout CheckedPath, in tree: Tree, numberKeys: Bool, _ choose: (TreePage) -> Int
  ) throws(PageDamage) {
    if tree.isEmpty { return }
    if path.levels.isEmpty {
      let root = PageReference(page: tree.root, place: tree.place, low: nil, high: nil)
      let page = try checked(root, isLeaf: tree.depth == 1, numberKeys: numberKeys)
      path.levels.reserveCapacity(tree.depth)
      path.levels.append(CheckedPath.Level(reference: root, page: page, index: 0))
    }
    path.levels[0].index = choose(path.levels[0].page)
    var level = 1
    while level < tree.depth {
      let reference = try child(path.levels[level &- 1])
      let page = try checked(
        reference, isLeaf: level == tree.depth &- 1, numberKeys: numberKeys)
      let next = CheckedPath.Level(reference: reference, page: page, index: choose(page))
      if level < path.levels.count {
        path.levels[level] = next
      } else {
        path.levels.append(next)
      }
      level &+= 1
    }
  }

  /// The reference that the path takes in a branch page.
  private func child(_ level: CheckedPath.Level) throws(PageDamage) -> PageReference {
    try child(level.index, of: level)
  }

  /// The reference in a record of a branch page.
  func child(_ index: Int, of level: CheckedPath.Level) throws(PageDamage) -> PageReference {
    guard index >= 0, let node = level.page.node(index, pageSize: pageSize) else {
      throw PageDamage(page: level.number, reason: "record \(index) lies outside the page")
    }
    let next =
      index + 1 < level.page.count ? level.page.node(index + 1, pageSize: pageSize) : nil
    return unsafe PageReference(
      page: node.child, place: UInt(bitPattern: node.start),
      low: index == 0
        ? level.reference.low : PageCheck.Key(start: node.key, count: node.keyCount),
      high: next.map { unsafe PageCheck.Key(start: $0.key, count: $0.keyCount) }
        ?? level.reference.high)
  }

  /// Moves to the next or the previous page of the path's last level; false at the end.
  func move(
    _ path: inout CheckedPath, forward: Bool, in tree: Tree
  ) throws(PageDamage) -> Bool {
    let bottom = path.levels.count - 1
    var level = bottom - 1
    while level >= 0 {
      let index = path.levels[level].index + (forward ? 1 : -1)
      guard index >= 0, index < path.levels[level].page.count else {
        level -= 1
        continue
      }
      path.levels[level].index = index
      path.levels.removeSubrange((level + 1)...)
      while path.levels.count <= bottom {
        let reference = try child(path.levels[path.levels.count - 1])
        let isLeaf = path.levels.count == tree.depth - 1
        let page = try checked(reference, isLeaf: isLeaf, numberKeys: false)
        path.levels.append(
          CheckedPath.Level(
            reference: reference, page: page, index: forward ? 0 : page.count - 1))
      }
      return true
    }
    return false
  }

  /// The page that a record leads to; checks the page unless that was done before.
  ///
  /// A damaged page number may name a sound page that is free or belongs elsewhere. LMDB would free the page twice.
  @inline(__always)
  func checked(
    _ reference: PageReference, isLeaf: Bool, numberKeys: Bool
  ) throws(PageDamage) -> TreePage {
    let number = reference.page
    let visit = checkedPages.visit(number, through: reference.place)
    if visit == .again, let page = TreePage(number, isLeaf: isLeaf, in: pages.table) {
      return page
    }
    return try checkVisited(visit, reference, isLeaf: isLeaf, numberKeys: numberKeys)
  }

  @inline(never)
  private func checkVisited(
    _ visit: CheckedPages.Visit, _ reference: PageReference, isLeaf: Bool, numberKeys: Bool
  ) throws(PageDamage) -> TreePage {
    let number = reference.page
    let check = PageCheck(table: pages.table, numberKeys: numberKeys, tiling: tiling)
    switch visit {
    case .same, .again: break
    case .first:
      try check.check(number, isLeaf: isLeaf, from: reference.low, to: reference.high)
      if !numberKeys { try visitFreeLists(likePage: number, isLeaf: isLeaf, check) }
    case .moved:
      try check.checkBounds(number, isLeaf: isLeaf, from: reference.low, to: reference.high)
    case .twice:
      throw PageDamage(page: number, reason: "it is in use twice")
    }
    if try isFree(number) {
      throw PageDamage(page: number, reason: "it is in use and on a list of free pages")
    }
    return try check.open(number, isLeaf: isLeaf)
  }

  /// Walks the tree of the free lists to where this page would be, so that a page in both trees is visited twice.
  private func visitFreeLists(
    likePage number: UInt64, isLeaf: Bool, _ check: PageCheck
  ) throws(PageDamage) {
    let page = try check.open(number, isLeaf: isLeaf)
    // The first record of a branch has no key.
    guard let node = page.node(isLeaf ? 0 : min(1, page.count - 1), pageSize: pageSize),
      node.keyCount == 8
    else { return }
    let key = unsafe PageCheck.Key(start: node.key, count: node.keyCount)
    var path = CheckedPath()
    try descend(&path, in: pages.free, numberKeys: true) {
      $0.lastNotAfter(number: key, pageSize: pageSize)
    }
  }
}
