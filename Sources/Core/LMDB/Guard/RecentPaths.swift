/// The two paths that a write took last in each tree, because most writes use a recent leaf again. The paths are in the trees
/// of the last commit. A write does not change these trees, so a path stays valid until the write ends.
struct RecentPaths {
  private var paths: [TreePath] = []
  /// One bit for each tree; a store has six trees. If the bit is set, the second path of the tree is the newer path.
  private var isSecondNewer: UInt64 = 0

  mutating func forget() { for index in paths.indices { paths[index].begin(in: .empty) } }

  subscript(index: Int) -> TreePath {
    @inline(__always) _read { yield paths[index] }
    @inline(__always) _modify { yield &paths[index] }
  }

  /// The number of the path to the leaf of `key`, moved to the last record that is not after `key`. Nil if no path has the leaf.
  @inline(__always)
  mutating func find(_ key: SearchKey, in database: Database) -> Int? {
    let newer = newer(in: database)
    guard newer | 1 < paths.count else { return nil }
    var index = newer
    if unsafe !paths[index].hasLeaf(for: key) {
      index = newer ^ 1
      guard unsafe paths[index].hasLeaf(for: key) else { return nil }
    }
    let leaf = paths[index].leaf
    let place = unsafe leaf.page.lastNotAfter(key, from: leaf.index)
    if place != leaf.index { paths[index].leaf.index = place }
    return index
  }

  /// Makes the older path of a tree the newer path, and returns its index. The caller fills the path.
  mutating func reuseOlder(in database: Database, _ tree: Tree) -> Int {
    while paths.count < 2 * Int(database.handle) + 2 { paths.append(TreePath(.empty)) }
    isSecondNewer ^= 1 << UInt64(database.handle)
    let index = newer(in: database)
    if !paths[index].isWhole { paths[index].begin(in: tree) }
    return index
  }

  private func newer(in database: Database) -> Int {
    let handle = UInt64(database.handle)
    return Int(2 &* handle | isSecondNewer &>> handle & 1)
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
