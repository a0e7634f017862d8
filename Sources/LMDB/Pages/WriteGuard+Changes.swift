extension WriteGuard {
  /// A leaf and the place in it where a key is or belongs.
  private struct Place {
    /// The number of the path among the recent ones.
    var path: Int
    var leaf: CheckedPath.Level
    /// The number of the page above; 0 for a leaf that is the root.
    var parent: UInt64
    /// The bytes of the record with its entry in the page's list; 0 if no record has that key.
    var size: Int
  }

  /// Checks, before a record is read, the pages on the path and the stored value.
  ///
  /// - Returns: the record in the last commit, if this write has changed nothing in its leaf; else nil, and LMDB must look
  ///   it up.
  func willRead(_ key: PageCheck.Key, in database: Database) throws(PageDamage) -> PageLookup? {
    guard let place = try place(of: key, in: database) else { return nil }
    let leaf = place.leaf
    let facts = checkedPages[leaf.number]
    guard facts.added == 0, facts.removed == 0 else { return nil }
    guard place.size > 0, let node = leaf.page.node(leaf.index, pageSize: pageSize) else {
      return .absent
    }
    return pages.table.value(of: node, in: leaf.page)
  }

  /// Checks, before LMDB stores `count` bytes under `key`, the pages that the change touches.
  func willStore(_ key: PageCheck.Key, count: Int, in database: Database) throws(PageDamage) {
    try checkFreeLists()
    guard let place = try place(of: key, in: database) else { return }
    note(place, added: inlineSize(key, count) + 3)
  }

  /// Bytes that a record takes in its leaf; a value of this many bytes or more lies on overflow pages.
  private func inlineSize(_ key: PageCheck.Key, _ count: Int) -> Int {
    min(PageTable.nodeHeaderSize + key.count + count, pageSize / 2)
  }

  /// Checks, before LMDB appends a value, the path to the last record.
  func willAppend(_ key: PageCheck.Key, count: Int, in database: Database) throws(PageDamage) {
    try checkFreeLists()
    guard let place = try place(of: key, in: database) else { return }
    note(place, added: inlineSize(key, count) + 3)
    // LMDB looks at the last leaf wherever the key belongs; no other has no key above it.
    if place.leaf.reference.high != nil {
      _ = try path(toLast: true, in: tree(of: database), numberKeys: false)
    }
  }

  /// Checks, before LMDB removes the record under `key`, the pages that the removal touches.
  ///
  /// LMDB merges a page that is less than a quarter full with a neighbour, or moves a record from there. It treats a branch
  /// page with one child in the same way, and then also needs the first leaf below.
  func willRemove(_ key: PageCheck.Key, in database: Database) throws(PageDamage) {
    try checkFreeLists()
    let tree = try tree(of: database)
    guard let place = try place(of: key, in: database) else { return }
    let leaf = place.leaf
    try checkNext(behind: place, in: tree)
    note(place, added: 0)
    guard tree.depth > 1 else { return }
    let facts = checkedPages[leaf.number]
    let capacity = pageSize - PageTable.headerSize
    let used = pageSize - leaf.page.upper + 2 * leaf.page.count
    let mayUnderflow =
      (used - Int(facts.removed)) * 10 < capacity * 3 || used + Int(facts.added) > capacity
      || checkedPages[place.parent].removals > 0
    if mayUnderflow { try willMerge(recentPaths[place.path], in: tree) }
  }

  /// Checks the page behind a leaf if a cursor on the record may move there: from the last record of the page, or from any
  /// record of a page that this write has changed.
  private func checkNext(behind place: Place, in tree: Tree) throws(PageDamage) {
    let leaf = place.leaf
    let facts = checkedPages[leaf.number]
    if facts.hasCheckedNext { return }
    guard facts.added > 0 || facts.removed > 0 || leaf.index >= leaf.page.count - 1 else { return }
    var next = recentPaths[place.path]
    _ = try move(&next, forward: true, in: tree, numberKeys: false, bottom: tree.depth - 1)
    checkedPages[leaf.number].hasCheckedNext = true
  }

  private func note(_ place: Place, added: Int) {
    checkedPages.note(added: added, removed: place.size, on: place.leaf.number)
    if place.size == 0 || place.parent == 0 { return }
    checkedPages.note(added: 0, removed: place.size, on: place.parent)
  }

  /// Nil for a tree without pages.
  private func place(of key: PageCheck.Key, in database: Database) throws(PageDamage) -> Place? {
    let searched = unsafe SearchKey(key.start, count: key.count)
    let known = unsafe recentPaths.find(searched, in: database, pageSize: pageSize)
    let index: Int
    if let known {
      index = known
    } else {
      let tree = try tree(of: database)
      if tree.isEmpty { return nil }
      index = try unsafe newPath(to: searched, in: database, tree)
    }
    let (leaf, parent) = recentPaths.end(of: index)
    guard let node = leaf.page.node(leaf.index, pageSize: pageSize),
      unsafe searched.isSame(as: node.key, count: node.keyCount)
    else { return Place(path: index, leaf: leaf, parent: parent, size: 0) }
    try checkValue(of: node, at: leaf.index, in: leaf)
    let inline = node.flags & PageTable.bigValue != 0 ? 8 : node.valueCount
    return Place(
      path: index, leaf: leaf, parent: parent,
      size: PageTable.nodeHeaderSize + node.keyCount + inline + 3)
  }

  /// The path to the record of `key`, or to the record behind which `key` would be inserted.
  func knownPath(
    to key: PageCheck.Key, in database: Database, _ tree: Tree
  ) throws(PageDamage) -> CheckedPath {
    let searched = unsafe SearchKey(key.start, count: key.count)
    if let known = unsafe recentPaths.find(searched, in: database, pageSize: pageSize) {
      return recentPaths[known]
    }
    let new = try unsafe newPath(to: searched, in: database, tree)
    return recentPaths[new]
  }

  /// The pages that LMDB may merge with the leaf of `path`, and those above that may then be merged.
  private func willMerge(_ path: CheckedPath, in tree: Tree) throws(PageDamage) {
    let bottom = tree.depth - 1
    var level = bottom - 1
    let parent = path.levels[level]
    checkedPages[parent.number].removals += 1
    let removals = Int(checkedPages[parent.number].removals)
    if removals < 4 {
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
    if level < tree.depth - 2 { return branch.page.count - Int(facts.drained) < 3 }
    if branch.page.count - Int(facts.removals) >= 3 { return false }
    try checkBelow(branch, in: tree, level: level)
    // The remaining records below it must fit into three pages.
    let left = Int(checkedPages[branch.number].total) - Int(checkedPages[branch.number].removed)
    return left <= 3 * (pageSize - PageTable.headerSize)
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
        guard try move(&beside, forward: forward, in: tree, numberKeys: false, bottom: level)
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
