/// The pages from a tree's root to one of its leaves. Each is checked when the path comes to it.
@safe struct TreePath: ~Copyable {
  /// A page on the path, and the record of it that the path takes.
  @safe struct Level {
    var page: TreePage
    var index: Int
  }

  let tree: Tree
  let table: PageTable
  let numberKeys: Bool
  // Each write reads the tree of free pages, which mostly has one or two levels: they need no allocation.
  var leaf: Level
  /// The page above the leaf.
  private(set) var branch: Level
  /// The pages above that, from the root on; nil for a tree of one or two levels.
  private let upper: UnsafeMutablePointer<Level>?

  init(_ tree: Tree, in table: PageTable, numberKeys: Bool) {
    self.tree = tree
    self.table = table
    self.numberKeys = numberKeys
    leaf = Level(page: TreePage(emptyIn: table), index: 0)
    branch = leaf
    unsafe upper = tree.depth > 2 ? .allocate(capacity: tree.depth - 2) : nil
  }

  deinit { unsafe upper?.deallocate() }

  func place(at level: Int) -> Level {
    level == tree.depth - 2 ? branch : unsafe upper![level]
  }

  private mutating func set(_ page: TreePage, _ index: Int, at level: Int) {
    let place = Level(page: page, index: index)
    switch tree.depth - level {
    case 1: leaf = place
    case 2: branch = place
    default: unsafe upper![level] = place
    }
  }

  /// Leads to the last record whose key is at most `start`, or to the first record of its leaf.
  mutating func seek(_ start: SearchKey) throws(LMDBError) {
    var number = tree.root
    for level in 0..<tree.depth {
      let page = try open(number, level: level)
      let index = unsafe page.lastNotAfter(start, pageSize: table.pageSize)
      guard index >= 0, let node = page.node(index, pageSize: table.pageSize) else {
        throw .damagedPage
      }
      set(page, index, at: level)
      number = node.child
    }
  }

  /// Leads to the first record of the tree or the last.
  mutating func seekEnd(atLast: Bool) throws(LMDBError) {
    try descend(to: tree.root, from: 0, atLast: atLast)
  }

  /// Moves to the next or the previous leaf; false at the end.
  @inline(never)
  mutating func moveLeaf(forward: Bool) throws(LMDBError) -> Bool {
    var level = tree.depth - 2
    while level >= 0 {
      let place = place(at: level)
      let index = place.index + (forward ? 1 : -1)
      let page = place.page
      if index >= 0, index < page.count {
        guard let node = page.node(index, pageSize: table.pageSize) else { throw .damagedPage }
        set(page, index, at: level)
        try descend(to: node.child, from: level + 1, atLast: !forward)
        return true
      }
      level -= 1
    }
    return false
  }

  private mutating func descend(to root: UInt64, from: Int, atLast: Bool) throws(LMDBError) {
    var number = root
    for level in from..<tree.depth {
      let page = try open(number, level: level)
      let index = atLast ? page.count - 1 : 0
      guard let node = page.node(index, pageSize: table.pageSize) else { throw .damagedPage }
      set(page, index, at: level)
      number = node.child
    }
  }

  /// Changes nothing; a method that did not say `mutating` would be given a copy of the path.
  private mutating func open(_ number: UInt64, level: Int) throws(LMDBError) -> TreePage {
    guard let page = TreePage(number, isLeaf: level == tree.depth &- 1, in: table) else {
      throw .damagedPage
    }
    try checkBounds(of: page, level: level)
    return page
  }

  /// Throws unless the keys of a page lie between the keys of the references on the path to it.
  ///
  /// A search by key never reaches a record outside these bounds. After a changed key in a branch page, a move from page to
  /// page would reach it, and return a value that writes by key no longer replace.
  private mutating func checkBounds(of page: TreePage, level: Int) throws(LMDBError) {
    let lies = page.lies(
      from: try bound(above: level, ofNext: false), to: try bound(above: level, ofNext: true),
      isLeaf: level == tree.depth - 1, numberKeys: numberKeys, pageSize: table.pageSize)
    guard lies else { throw .damagedPage }
  }

  /// The nearest reference that bounds the page of a level: the one that leads to it, or the next one. Nil if there is no bound.
  private mutating func bound(
    above level: Int, ofNext: Bool
  ) throws(LMDBError) -> PageCheck.Key? {
    for level in (0..<level).reversed() {
      let place = place(at: level)
      let index = ofNext ? place.index + 1 : place.index
      guard index > 0, index < place.page.count else { continue }
      guard let node = place.page.node(index, pageSize: table.pageSize) else { throw .damagedPage }
      return unsafe PageCheck.Key(start: node.key, count: node.keyCount)
    }
    return nil
  }
}
