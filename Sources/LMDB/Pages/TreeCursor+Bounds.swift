import LarderSystem

extension TreeCursor {
  /// Throws unless the keys of a page lie between the keys of the references on the path to it.
  ///
  /// A search by key never reaches a record outside these bounds. After a changed key in a branch page, a move from page to
  /// page would reach it, and return a value that writes by key no longer replace.
  mutating func checkBounds(of page: TreePage, level: Int) throws(LMDBError) {
    // The first key of a branch page is not used.
    let first = level == tree.depth - 1 ? 0 : 1
    guard page.count > first else { return }
    if let low = try bound(above: level, ofNext: false) {
      let lowest = try node(first, of: page)
      guard unsafe !isBefore(lowest.key, lowest.keyCount, low.key, low.keyCount) else {
        throw .damagedPage
      }
    }
    if let high = try bound(above: level, ofNext: true) {
      let highest = try node(page.count - 1, of: page)
      guard unsafe isBefore(highest.key, highest.keyCount, high.key, high.keyCount) else {
        throw .damagedPage
      }
    }
  }

  /// The nearest reference that bounds the page of a level: the one that leads to it, or the next one. Nil if there is no bound.
  private mutating func bound(above level: Int, ofNext: Bool) throws(LMDBError) -> TreePage.Node? {
    for level in (0..<level).reversed() {
      let place = place(at: level)
      let index = ofNext ? place.index + 1 : place.index
      if index > 0, index < place.page.count { return try node(index, of: place.page) }
    }
    return nil
  }

  @inline(__always)
  private mutating func node(_ index: Int, of page: TreePage) throws(LMDBError) -> TreePage.Node {
    guard let node = page.node(index, pageSize: table.pageSize) else { throw .damagedPage }
    return node
  }
}
