import LarderSystem

/// A position in a tree that moves from record to record. Each page is checked before it is used. In a move forward the keys
/// must ascend, and in a move back they must descend. So a walk always ends, even if pages are damaged.
@safe struct TreeCursor: ~Copyable {
  typealias Record = RecordRuns.Record

  let pages: PageReader
  private(set) var path: TreePath
  private var state = State.unset
  /// The key of the record that was returned last; during a search, the requested key.
  private var key: SearchKey?

  private enum State { case unset, onRecord, beforeFirst, afterLast }

  init(_ tree: Tree, in table: PageTable, numberKeys: Bool) {
    pages = PageReader(table: table, numberKeys: numberKeys)
    path = TreePath(tree)
  }

  mutating func seek(_ start: SearchKey) throws(LMDBError) -> Record? {
    forget()
    if path.tree.isEmpty { return nil }
    try unsafe path.seek(start, by: pages)
    guard let node = path.leaf.page.node(path.leaf.index) else { throw .damagedPage }
    state = .onRecord
    if unsafe !node.searched.isBefore(start) { return try record() }
    // In a damaged page, a record before the requested key may follow. So the next record is compared with the requested key.
    unsafe key = start
    do throws(LMDBError) { if let found = try next() { return found } } catch {
      forget()
      throw error
    }
    unsafe key = nil
    return nil
  }

  mutating func first() throws(LMDBError) -> Record? { try end(atLast: false) }

  mutating func last() throws(LMDBError) -> Record? { try end(atLast: true) }

  private mutating func end(atLast: Bool) throws(LMDBError) -> Record? {
    forget()
    if path.tree.isEmpty { return nil }
    try path.seekEnd(atLast: atLast, by: pages)
    state = .onRecord
    return try record()
  }

  /// The record after the record that was returned last. Before the first move, the first record; after the last record, nil.
  @inline(__always)
  mutating func next() throws(LMDBError) -> Record? { try move(forward: true) }

  /// The record before the record that was returned last. Before the first move and after the last record, the last record.
  mutating func previous() throws(LMDBError) -> Record? { try move(forward: false) }

  @inline(__always)
  private mutating func move(forward: Bool) throws(LMDBError) -> Record? {
    let beyond: State = forward ? .afterLast : .beforeFirst
    guard state == .onRecord else { return state == beyond ? nil : try end(atLast: !forward) }
    let index = path.leaf.index &+ (forward ? 1 : -1)
    if index >= 0, index < path.leaf.page.count {
      path.leaf.index = index
    } else if try !path.move(forward: forward, at: path.tree.depth &- 1, by: pages) {
      state = beyond
      return nil
    }
    if forward { path.leaf.page.prefetch(path.leaf.index &+ 1) }
    return try record(after: forward)
  }

  /// Moves to another record of the same leaf. The caller has already checked this record.
  @unsafe mutating func move(to index: Int, key: SearchKey) {
    path.leaf.index = index
    unsafe self.key = key
  }

  /// The record at the cursor's new position. If `after` is true, its key must be greater than the last key; if false, less.
  @inline(__always)
  private mutating func record(after: Bool? = nil) throws(LMDBError) -> Record {
    guard let node = path.leaf.page.node(path.leaf.index) else { throw .damagedPage }
    let new = unsafe node.searched
    if let after, let former = unsafe key {
      let isOrdered =
        unsafe after
        ? former.isBefore(new, numberKeys: pages.numberKeys)
        : new.isBefore(former, numberKeys: pages.numberKeys)
      guard isOrdered else { throw .damagedPage }
    }
    guard let record = pages.table.record(of: node) else { throw .damagedPage }
    unsafe key = new
    return record
  }

  private mutating func forget() {
    unsafe key = nil
    state = .unset
  }
}
