/// A set of page numbers, as one bit for each page of the file.
struct PageSet {
  private var end: UInt64
  private var words: [UInt64]
  /// All words before this index are 0.
  private var lowest = 0

  init(upTo end: Int) {
    self.end = UInt64(end)
    words = [UInt64](repeating: 0, count: end / 64 + 1)
  }

  /// Inserts a page. Returns false if the file has no such page.
  mutating func insert(_ page: UInt64) -> Bool {
    guard page < end else { return false }
    let word = Int(page / 64)
    words[word] |= 1 << (page % 64)
    lowest = min(lowest, word)
    return true
  }

  mutating func remove(_ page: UInt64) {
    if page < end { words[Int(page / 64)] &= ~(1 << (page % 64)) }
  }

  mutating func grow(upTo end: UInt64) {
    guard end > self.end else { return }
    self.end = end
    let missing = Int(end / 64) + 1 - words.count
    guard missing > 0 else { return }
    // Adds at least half of the present size. Otherwise each commit of a growing file would copy the whole set.
    words.append(contentsOf: repeatElement(0, count: max(missing, words.count / 2)))
  }

  func contains(_ page: UInt64) -> Bool {
    page < end && words[Int(page / 64)] & 1 << (page % 64) != 0
  }

  func first(in others: PageSet) -> UInt64? {
    for (index, (word, other)) in zip(words, others.words).enumerated() where word & other != 0 {
      return UInt64(index * 64 + (word & other).trailingZeroBitCount)
    }
    return nil
  }

  /// Removes the lowest page. Returns false if the set is empty.
  mutating func removeLowest() -> Bool {
    while lowest < words.count, words[lowest] == 0 { lowest += 1 }
    guard lowest < words.count else { return false }
    words[lowest] &= words[lowest] - 1
    return true
  }

  func hasRun(of length: Int) -> Bool {
    var run = 0
    for word in words[lowest...] {
      if word == 0 {
        run = 0
        continue
      }
      for bit in 0..<UInt64(64) {
        run = word >> bit & 1 == 0 ? 0 : run + 1
        if run >= length { return true }
      }
    }
    return false
  }

  /// The largest number of leaves that are read in one tree. With pages of 4 KB, these leaves have 64 MB.
  static let mostLeaves: UInt64 = 16_384

  /// Inserts the pages that a tree uses, found without reading all these pages.
  ///
  /// LMDB overwrites the pages on its lists of free pages without any check. So if a list names a page that is in use, this
  /// page is destroyed. The branch pages name all pages in use except the pages of large values, which the leaves name. So the
  /// leaves are read only if the tree has large values and at most ``mostLeaves`` leaves.
  mutating func insertPages(of tree: Tree, in table: PageTable) {
    if !tree.isEmpty { insertPages(from: tree.root, level: 1, of: tree, in: table) }
  }

  /// Skips a damaged page. Skipping is safe: a write that uses the page fails, and reads find nothing below the page.
  private mutating func insertPages(
    from number: UInt64, level: Int, of tree: Tree, in table: PageTable
  ) {
    // Stops at a page that was already inserted, because a damaged page number may lead back to a page above.
    if contains(number) || !insert(number) { return }
    let isLeaf = level == tree.depth
    if isLeaf, tree.overflowPages == 0 || tree.leafPages > Self.mostLeaves { return }
    guard let page = TreePage(number, isLeaf: isLeaf, in: table) else { return }
    for index in 0..<page.count {
      guard let node = page.node(index) else { continue }
      if !isLeaf {
        insertPages(from: node.child, level: level + 1, of: tree, in: table)
      } else if let run = table.overflowRun(of: node) {
        for page in run { _ = insert(page) }
      }
    }
  }
}
