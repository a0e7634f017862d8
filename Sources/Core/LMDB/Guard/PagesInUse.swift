/// The pages that the trees of a commit use, found without reading all these pages.
///
/// LMDB overwrites the pages on its lists of free pages without any check. So if a list names a page that is in use, that page
/// is destroyed. The numbers of pages in use are in the branch pages; only the pages of large values are named in the leaves.
/// So the leaves of a tree are read only if the tree has large values, and not too many leaves.
struct PagesInUse {
  /// The largest number of leaves that are read in one tree. These leaves have 64 MB.
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

  /// Skips a damaged page. That is safe: a write that uses the page fails, and reads find nothing below it.
  private mutating func add(_ number: UInt64, level: Int, of tree: Tree) {
    // Stops at a page that was already added, because a damaged page number may lead back to a page above.
    if pages.contains(number) || !pages.insert(number) { return }
    let isLeaf = level == tree.depth
    if isLeaf, tree.overflowPages == 0 || tree.leafPages > Self.mostLeaves { return }
    guard let page = TreePage(number, isLeaf: isLeaf, in: table) else { return }
    for index in 0..<page.count {
      guard let node = page.node(index) else { continue }
      if !isLeaf {
        add(node.child, level: level + 1, of: tree)
      } else if node.flags & PageTable.bigValue != 0,
        let run = table.overflowRun(of: node, isFreeList: false)
      {
        for page in run { _ = pages.insert(page) }
      }
    }
  }
}
