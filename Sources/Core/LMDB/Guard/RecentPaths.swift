/// The four newest paths of a write in each tree, because most writes use a recent leaf again: an insert that evicts uses three
/// leaves of the queue. The paths are in the trees of the last commit. A write does not change these trees, so a path stays
/// valid until the write ends.
struct RecentPaths {
  private var paths: [TreePath] = []
  /// Two bits for each tree, which are the number of the newest path of the tree. A store has six trees.
  private var newest: UInt64 = 0

  mutating func forget() { for index in paths.indices { paths[index].begin(in: .empty) } }

  subscript(index: Int) -> TreePath {
    @inline(__always) _read { yield paths[index] }
    @inline(__always) _modify { yield &paths[index] }
  }

  /// The number of the path to the leaf of `key`, moved to the last record that is not after `key`. Nil if no path has the leaf.
  @inline(__always)
  mutating func find(_ key: SearchKey, in database: Database) -> Int? {
    let newest = newest(in: database)
    guard newest | 3 < paths.count else { return nil }
    for age in 0..<4 {
      let index = newest & ~3 | (newest &- age) & 3
      guard unsafe paths[index].hasLeaf(for: key) else { continue }
      let leaf = paths[index].leaf
      let place = unsafe leaf.page.lastNotAfter(key, from: leaf.index)
      if place != leaf.index { paths[index].leaf.index = place }
      return index
    }
    return nil
  }

  /// Makes the oldest path of a tree the newest path, and returns its index. The caller fills the path.
  mutating func reuseOldest(in database: Database, _ tree: Tree) -> Int {
    while paths.count < 4 * Int(database.handle) + 4 { paths.append(TreePath(.empty)) }
    let index = newest(in: database) & ~3 | (newest(in: database) &+ 1) & 3
    let shift = 2 &* UInt64(database.handle)
    newest = newest & ~(3 &<< shift) | UInt64(index & 3) &<< shift
    if !paths[index].isWhole { paths[index].begin(in: tree) }
    return index
  }

  private func newest(in database: Database) -> Int {
    let handle = UInt64(database.handle)
    return Int(4 &* handle | newest &>> (2 &* handle) & 3)
  }
}

extension TreePath {
  @inline(__always)
  fileprivate func hasLeaf(for key: SearchKey) -> Bool {
    guard isWhole else { return false }
    if let low = leaf.reference.low, unsafe key.isBefore(low.searched) { return false }
    guard let high = leaf.reference.high else { return true }
    return unsafe key.isBefore(high.searched)
  }
}
