/// The pages in use by the trees of a commit, found without reading all pages.
///
/// LMDB writes over the pages on its lists of free pages, and does not check these pages before. So a list that names a page
/// in use would destroy that page. The branch pages name all other pages, except those of large values, which the leaves name.
/// The leaves of a tree are read if the tree has large values and not too many leaves.
struct PagesInUse {
  /// The largest number of leaves that are read in one tree: 64 MB.
  static let mostLeaves: UInt64 = 16_384

  private let table: PageTable
  private(set) var pages: PageSet

  init(of snapshot: SnapshotPages) {
    table = snapshot.table
    pages = PageSet(upTo: Int(snapshot.lastPage) + 1)
  }

  mutating func add(_ tree: Tree) {
    if tree.isEmpty { return }
    add(tree.root, level: 1, of: tree)
  }

  /// A damaged page is skipped here: a write that uses the page fails, and reads find nothing below the page.
  private mutating func add(_ number: UInt64, level: Int, of tree: Tree) {
    // A damaged reference may lead back to a page above it.
    if pages.contains(number) || !pages.insert(number) { return }
    let isLeaf = level == tree.depth
    if isLeaf, tree.overflowPages == 0 || tree.leafPages > Self.mostLeaves { return }
    guard let page = TreePage(number, isLeaf: isLeaf, in: table) else { return }
    for index in 0..<page.count {
      guard let node = page.node(index, pageSize: table.pageSize) else { continue }
      if !isLeaf {
        add(node.child, level: level + 1, of: tree)
      } else if node.flags & PageTable.bigValue != 0,
        let run = table.overflowRun(of: node, in: page, isFreeList: false)
      {
        for page in run { _ = pages.insert(page) }
      }
    }
  }
}
