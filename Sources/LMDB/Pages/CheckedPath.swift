/// The path from a tree's root to one of its records. Every page on it was checked.
struct CheckedPath {
  struct Level {
    var number: UInt64
    var page: TreePage
    var index: Int
    /// The page's keys are at least `low` and less than `high`; nil stands for no bound.
    var low: PageCheck.Key?
    var high: PageCheck.Key?
  }

  /// The pages from the root to the leaf.
  var levels: [Level] = []

  var leaf: Level { levels[levels.count - 1] }
}

extension WriteGuard {
  /// The path to the record of `key`, or to the record behind which `key` would be inserted.
  func path(to key: PageCheck.Key, in tree: Tree, numberKeys: Bool) throws(PageDamage)
    -> CheckedPath
  {
    try descend(in: tree, numberKeys: numberKeys) { page in
      guard !numberKeys else { return page.lastNotAfter(number: key, pageSize: pageSize) }
      return unsafe page.lastNotAfter(
        SearchKey(key.start, count: key.count), pageSize: pageSize)
    }
  }

  /// The path to the first record or the last.
  func path(toLast atLast: Bool, in tree: Tree, numberKeys: Bool) throws(PageDamage) -> CheckedPath
  {
    try descend(in: tree, numberKeys: numberKeys) { page in atLast ? page.count - 1 : 0 }
  }

  private func descend(
    in tree: Tree, numberKeys: Bool, _ choose: (TreePage) -> Int
  ) throws(PageDamage) -> CheckedPath {
    var path = CheckedPath()
    path.levels.reserveCapacity(tree.depth)
    if tree.isEmpty { return path }
    try extend(&path, to: tree.root, low: nil, high: nil, tree, numberKeys, choose)
    return path
  }

  /// Adds the levels below the last one of `path`.
  private func extend(
    _ path: inout CheckedPath, to root: UInt64, low: PageCheck.Key?, high: PageCheck.Key?,
    _ tree: Tree, _ numberKeys: Bool, _ choose: (TreePage) -> Int
  ) throws(PageDamage) {
    var (number, low, high) = (root, low, high)
    while path.levels.count < tree.depth {
      let isLeaf = path.levels.count == tree.depth - 1
      let page = try checked(number, isLeaf: isLeaf, numberKeys: numberKeys, from: low, to: high)
      let index = choose(page)
      path.levels.append(
        CheckedPath.Level(number: number, page: page, index: index, low: low, high: high))
      if !isLeaf { (number, low, high) = try child(index, of: path.levels[path.levels.count - 1]) }
    }
  }

  /// A page below a branch page, and the bounds of its keys.
  func child(
    _ index: Int, of level: CheckedPath.Level
  ) throws(PageDamage) -> (page: UInt64, low: PageCheck.Key?, high: PageCheck.Key?) {
    guard let node = level.page.node(index, pageSize: pageSize) else {
      throw PageDamage(page: level.number, reason: "record \(index) lies outside the page")
    }
    let next =
      index + 1 < level.page.count ? level.page.node(index + 1, pageSize: pageSize) : nil
    let low = index == 0 ? level.low : unsafe PageCheck.Key(start: node.key, count: node.keyCount)
    let high =
      next.map { unsafe PageCheck.Key(start: $0.key, count: $0.keyCount) } ?? level.high
    return (node.child, low, high)
  }

  /// Moves to the next or the previous page of the path's last level; false at the end.
  func move(
    _ path: inout CheckedPath, forward: Bool, in tree: Tree, numberKeys: Bool, bottom: Int
  ) throws(PageDamage) -> Bool {
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
        let parent = path.levels[path.levels.count - 1]
        let (number, low, high) = try child(parent.index, of: parent)
        let isLeaf = path.levels.count == tree.depth - 1
        let page = try checked(number, isLeaf: isLeaf, numberKeys: numberKeys, from: low, to: high)
        path.levels.append(
          CheckedPath.Level(
            number: number, page: page, index: forward ? 0 : page.count - 1, low: low, high: high))
      }
      return true
    }
    return false
  }
}

extension TreePage {
  /// The index of a key in a page of the free list's tree; -1 if the page is damaged.
  func lastNotAfter(number key: PageCheck.Key, pageSize: Int) -> Int {
    let wanted = unsafe key.start.loadUnaligned(as: UInt64.self)
    var found = 0
    for index in 0..<count {
      guard let node = node(index, pageSize: pageSize) else { return -1 }
      if node.keyCount == 8, unsafe node.key.loadUnaligned(as: UInt64.self) <= wanted {
        found = index
      }
    }
    return found
  }
}
