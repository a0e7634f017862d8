/// A page number as a branch page or a tree's record has it, and the keys that the page may have.
struct PageReference {
  let page: UInt64
  /// The address of the record that has the number.
  let place: UInt
  /// The page's keys are at least `low` and less than `high`; nil stands for no bound.
  let low: PageCheck.Key?
  let high: PageCheck.Key?
}

/// The path from a tree's root to one of its records. Every page on it was checked.
struct CheckedPath {
  struct Level {
    var reference: PageReference
    var page: TreePage
    var index: Int

    var number: UInt64 { reference.page }
  }

  /// The pages from the root to the leaf.
  var levels: [Level] = []

  var leaf: Level { levels[levels.count - 1] }
}

/// The two paths that a write took last in each tree. Most writes come back to a leaf that they know: they look a key up before
/// they store it, append to an index, and write the store's own records.
///
/// The trees are those of the last commit, which a write does not change, so a path stays valid until the write ends.
struct RecentPaths {
  /// Two for each tree.
  private var paths: [CheckedPath] = []
  /// A bit for each tree, of which a store has six: whether the second of its paths is the newer one.
  private var isSecondNewer: UInt64 = 0

  /// Forgets the paths and keeps their memory.
  mutating func forget() {
    for index in paths.indices { paths[index].levels.removeAll(keepingCapacity: true) }
  }

  subscript(index: Int) -> CheckedPath {
    @inline(__always) _read { yield paths[index] }
    @inline(__always) _modify { yield &paths[index] }
  }

  /// The number of the path to `key`, or to the record behind which `key` would be inserted, if one of the two leads to its
  /// leaf.
  @inline(__always)
  mutating func find(_ key: SearchKey, in database: Database, pageSize: Int) -> Int? {
    let newer = newer(in: database)
    guard newer | 1 < paths.count else { return nil }
    var index = newer
    if unsafe !paths[index].hasLeaf(for: key) {
      index = newer ^ 1
      guard unsafe paths[index].hasLeaf(for: key) else { return nil }
    }
    unsafe paths[index].moveInLeaf(to: key, pageSize: pageSize)
    return index
  }

  /// The leaf of a path, and the number of the page above it; 0 if the leaf is the root.
  @inline(__always)
  func end(of index: Int) -> (leaf: CheckedPath.Level, parent: UInt64) {
    let bottom = paths[index].levels.count &- 1
    return (
      paths[index].levels[bottom], bottom > 0 ? paths[index].levels[bottom &- 1].number : 0
    )
  }

  /// The number of the older path in a tree, which becomes the newer one.
  mutating func reuseOlder(in database: Database) -> Int {
    while paths.count < 2 * Int(database.handle) + 2 { paths.append(CheckedPath()) }
    isSecondNewer ^= 1 << UInt64(database.handle)
    return newer(in: database)
  }

  /// The number of the newer path.
  @inline(__always)
  private func newer(in database: Database) -> Int {
    let handle = UInt64(database.handle)
    return Int(2 &* handle | isSecondNewer &>> handle & 1)
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
    let bottom = levels.count &- 1
    let index = unsafe levels[bottom].page.lastNotAfter(
      key, from: levels[bottom].index, pageSize: pageSize)
    if index != levels[bottom].index { levels[bottom].index = index }
  }
}
