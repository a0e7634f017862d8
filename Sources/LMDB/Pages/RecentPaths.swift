/// The two paths that a write took last in each tree. Most writes come back to a leaf that they know: they look a key up before
/// they store it, append to an index, and write the store's own records.
///
/// The trees are those of the last commit, which a write does not change, so a path stays valid until the write ends.
struct RecentPaths {
  private var paths: [CheckedPath] = []

  mutating func forget() { paths.removeAll(keepingCapacity: true) }

  /// The path to `key`, or to the record behind which `key` would be inserted, if one of the two leads to its leaf.
  mutating func path(
    to key: PageCheck.Key, in database: Database, pageSize: Int
  ) -> CheckedPath? {
    let first = 2 * Int(database.handle)
    guard first + 1 < paths.count else { return nil }
    let searched = unsafe SearchKey(key.start, count: key.count)
    for index in first...first + 1 where unsafe paths[index].hasLeaf(for: searched) {
      unsafe paths[index].moveInLeaf(to: searched, pageSize: pageSize)
      return paths[index]
    }
    return nil
  }

  /// The last leaf of a tree, if the path taken last leads there and `key` belongs there, behind a record or in front of it.
  func lastLeaf(for key: PageCheck.Key, in database: Database) -> UInt64? {
    let index = 2 * Int(database.handle)
    guard index < paths.count, let leaf = paths[index].levels.last, leaf.reference.high == nil
    else {
      return nil
    }
    if let low = leaf.reference.low {
      let searched = unsafe SearchKey(key.start, count: key.count)
      if unsafe searched.isBefore(low.start, count: low.count) { return nil }
    }
    return leaf.number
  }

  mutating func add(_ path: CheckedPath, in database: Database) {
    let first = 2 * Int(database.handle)
    while paths.count < first + 2 { paths.append(CheckedPath()) }
    paths[first + 1] = paths[first]
    paths[first] = path
  }
}

extension CheckedPath {
  /// Whether `key` belongs into the leaf of the path.
  @inline(__always)
  fileprivate func hasLeaf(for key: SearchKey) -> Bool {
    guard let leaf = levels.last else { return false }
    if let low = leaf.reference.low, unsafe key.isBefore(low.start, count: low.count) {
      return false
    }
    guard let high = leaf.reference.high else { return true }
    return unsafe key.isBefore(high.start, count: high.count)
  }

  @inline(__always)
  fileprivate mutating func moveInLeaf(to key: SearchKey, pageSize: Int) {
    let index = unsafe leaf.page.lastNotAfter(key, pageSize: pageSize)
    if index != leaf.index { levels[levels.count - 1].index = index }
  }
}
