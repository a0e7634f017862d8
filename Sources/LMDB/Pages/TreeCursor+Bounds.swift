import LarderSystem

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
