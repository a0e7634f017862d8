import CLarderSystem
import LarderSystem

/// A position in a tree, which moves record by record. Each page is checked before it is used.
///
/// Keys must ascend strictly in the direction of the move, so a walk through damaged pages always ends.
@safe struct TreeCursor: ~Copyable {
  /// A page on the path from the root to the record.
  @safe struct Level {
    var page: TreePage
    var index: Int
  }

  /// A record, as addresses in the map.
  @safe struct Record {
    let key: UnsafeRawPointer
    let keyCount: Int
    let value: UnsafeRawPointer
    let valueCount: Int
  }

  let tree: Tree
  let table: PageTable
  let numberKeys: Bool
  // Each write reads the tree of free pages, which mostly has one or two levels: they need no allocation.
  private(set) var leaf: Level
  /// The page above the leaf.
  private(set) var branch: Level
  /// The pages above that, from the root on; nil for a tree of one or two levels.
  private let upper: UnsafeMutablePointer<Level>?
  private var state = State.unset
  /// The key of the record that the cursor is on.
  private var key: UnsafeRawPointer?
  private var keyCount = 0

  private enum State { case unset, onRecord, beforeFirst, afterLast }

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

  /// The first record whose key is at least `start`.
  mutating func seek(_ start: SearchKey) throws(LMDBError) -> Record? {
    forget()
    if tree.isEmpty {
      state = .afterLast
      return nil
    }
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
    guard let node = leaf.page.node(leaf.index, pageSize: table.pageSize) else {
      throw .damagedPage
    }
    state = .onRecord
    if unsafe start.isBefore(node.key, count: node.keyCount)
      || start.isSame(as: node.key, count: node.keyCount)
    {
      return try record()
    }
    // A damaged page may have any order; a record before the requested key must not be returned.
    unsafe (key, keyCount) = (start.start, start.count)
    do throws(LMDBError) {
      if let found = try next() { return found }
    } catch {
      forget()
      throw error
    }
    forgetKey()
    return nil
  }

  mutating func first() throws(LMDBError) -> Record? { try end(atLast: false) }

  mutating func last() throws(LMDBError) -> Record? { try end(atLast: true) }

  private mutating func end(atLast: Bool) throws(LMDBError) -> Record? {
    forget()
    if tree.isEmpty {
      state = atLast ? .beforeFirst : .afterLast
      return nil
    }
    try descend(to: tree.root, from: 0, atLast: atLast)
    state = .onRecord
    return try record()
  }

  /// The record after the one last returned; the first record at the beginning, nil at the end.
  @inline(__always)
  mutating func next() throws(LMDBError) -> Record? {
    guard state == .onRecord else {
      return state == .afterLast ? nil : try first()
    }
    let index = leaf.index &+ 1
    if index < leaf.page.count {
      leaf.index = index
    } else if try !moveLeaf(forward: true) {
      state = .afterLast
      return nil
    }
    leaf.page.prefetch(leaf.index &+ 1)
    return try record(after: true)
  }

  /// The record before the one last returned; the last record at the beginning and behind the end.
  mutating func previous() throws(LMDBError) -> Record? {
    guard state == .onRecord else {
      return state == .beforeFirst ? nil : try last()
    }
    if leaf.index > 0 {
      leaf.index -= 1
    } else if try !moveLeaf(forward: false) {
      state = .beforeFirst
      return nil
    }
    return try record(after: false)
  }

  /// Moves within the leaf to a record that was checked.
  @unsafe mutating func move(to index: Int, key: SearchKey) {
    leaf.index = index
    unsafe (self.key, keyCount) = (key.start, key.count)
  }

  /// Moves to the next or the previous leaf; false at the end.
  @inline(never)
  private mutating func moveLeaf(forward: Bool) throws(LMDBError) -> Bool {
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

  /// Changes nothing; a method that did not say `mutating` would be given a copy of the cursor.
  private mutating func open(_ number: UInt64, level: Int) throws(LMDBError) -> TreePage {
    guard let page = TreePage(number, isLeaf: level == tree.depth &- 1, in: table) else {
      throw .damagedPage
    }
    try checkBounds(of: page, level: level)
    return page
  }

  /// The cursor's new record. Its key must be greater (or less) than that of the record before the move.
  @inline(__always)
  private mutating func record(after: Bool? = nil) throws(LMDBError) -> Record {
    let leaf = leaf
    guard let node = leaf.page.node(leaf.index, pageSize: table.pageSize) else {
      throw .damagedPage
    }
    if let after, let former = unsafe key {
      let (former, new) = unsafe (SearchKey(former, count: keyCount), node.searched)
      let isOrdered =
        unsafe after
        ? former.isBefore(new, numberKeys: numberKeys)
        : new.isBefore(former, numberKeys: numberKeys)
      guard isOrdered else { throw .damagedPage }
    }
    let value = table.value(of: node, in: leaf.page)
    guard let start = unsafe value.start else { throw .damagedPage }
    unsafe (key, keyCount) = (node.key, node.keyCount)
    return unsafe Record(
      key: node.key, keyCount: node.keyCount, value: start, valueCount: value.count)
  }

  private mutating func forget() {
    forgetKey()
    state = .unset
  }

  private mutating func forgetKey() {
    unsafe key = nil
    keyCount = 0
  }
}

extension TreeCursor {
  /// Throws unless the keys of a page lie between the keys of the references on the path to it.
  ///
  /// A search by key never reaches a record outside these bounds. After a changed key in a branch page, a move from page to
  /// page would reach it, and return a value that writes by key no longer replace.
  mutating func checkBounds(of page: TreePage, level: Int) throws(LMDBError) {
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
