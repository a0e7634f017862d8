/// A page number that was read from a branch page or from a tree's record, with the range of keys that the page may have.
struct PageReference {
  let page: UInt64
  /// The address of the record that has the page number.
  let place: UInt
  /// The page's keys are at least the key of `low` and less than the key of `high`. Nil means that there is no bound.
  let low: TreePage.Node?
  let high: TreePage.Node?
}

extension PageReference {
  init(to tree: Tree) { (page, place, low, high) = (tree.root, tree.place, nil, nil) }
}

/// Opens the pages of a path. Each opener checks a page as much as the user of the path needs.
protocol PageOpener {
  associatedtype Failure: Error
  func open(_ reference: PageReference, isLeaf: Bool) throws(Failure) -> TreePage
  func failure(_ damage: PageDamage) -> Failure
}

/// The pages from the root of a tree to one of its leaves. A page is opened when the path reaches it.
@safe struct TreePath {
  /// A page of the path; `index` is the record of this page that is on the path.
  @safe struct Level {
    var reference: PageReference
    var page: TreePage
    var index: Int

    var number: UInt64 { reference.page }

    /// The reference in record `index` of a branch page. Nil if the record is not inside the page.
    @inline(__always)
    func child(_ index: Int) -> PageReference? {
      guard let node = page.node(index) else { return nil }
      var high = reference.high
      if index &+ 1 < page.count {
        guard let next = page.node(index &+ 1) else { return nil }
        high = next
      }
      return unsafe PageReference(
        page: node.child, place: UInt(bitPattern: node.start),
        low: index == 0 ? reference.low : node, high: high)
    }

    var damage: PageDamage { PageDamage(page: number, reason: "a record lies outside the page") }
  }

  private(set) var tree: Tree
  // The two lowest levels are properties, not elements of an array, because then a tree of two levels needs no allocation.
  var leaf: Level
  private(set) var branch: Level
  /// The pages above `branch`, beginning with the root.
  private var upper: [Level] = []
  private(set) var isWhole = false

  init(_ tree: Tree) {
    self.tree = tree
    leaf = Level(reference: PageReference(to: tree), page: .none, index: 0)
    branch = leaf
  }

  /// Forgets the pages but keeps their memory, for a path in another tree or commit.
  mutating func begin(in tree: Tree) {
    self.tree = tree
    isWhole = false
  }

  subscript(level: Int) -> Level {
    switch tree.depth &- level {
    case 1: leaf
    case 2: branch
    default: upper[level]
    }
  }

  private mutating func set(_ place: Level, at level: Int) {
    switch tree.depth &- level {
    case 1: leaf = place
    case 2: branch = place
    default: if level < upper.count { upper[level] = place } else { upper.append(place) }
    }
  }

  /// Moves to the last record whose key is at most `key`. If the leaf has no such record, moves to the leaf's first record.
  @inline(__always)
  mutating func seek<Opener: PageOpener>(
    _ key: SearchKey, by opener: Opener
  ) throws(Opener.Failure) { try descend(by: opener) { page in unsafe page.lastNotAfter(key) } }

  mutating func seekEnd<Opener: PageOpener>(
    atLast: Bool, by opener: Opener
  ) throws(Opener.Failure) { try descend(by: opener) { page in atLast ? page.count &- 1 : 0 } }

  /// Moves to the next or previous page of the level `bottom`. Returns false if there is none. Keeps the levels below `bottom`.
  @inline(never)
  mutating func move<Opener: PageOpener>(
    forward: Bool, at bottom: Int, by opener: Opener
  ) throws(Opener.Failure) -> Bool {
    for level in (0..<bottom).reversed() {
      var place = self[level]
      place.index += forward ? 1 : -1
      guard place.index >= 0, place.index < place.page.count else { continue }
      set(place, at: level)
      try open(level + 1..<bottom + 1, by: opener) { page in forward ? 0 : page.count &- 1 }
      return true
    }
    return false
  }

  /// Opens the pages from the root down to a leaf. If the path is complete, the root is not opened again.
  @inline(__always)
  private mutating func descend<Opener: PageOpener>(
    by opener: Opener, _ choose: (TreePage) -> Int
  ) throws(Opener.Failure) {
    let hasRoot = isWhole
    isWhole = false
    if hasRoot {
      var root = self[0]
      root.index = choose(root.page)
      if root.index < 0 { throw opener.failure(root.damage) }
      set(root, at: 0)
    }
    try open((hasRoot ? 1 : 0)..<tree.depth, by: opener, choose)
    isWhole = true
  }

  @inline(__always)
  private mutating func open<Opener: PageOpener>(
    _ levels: Range<Int>, by opener: Opener, _ choose: (TreePage) -> Int
  ) throws(Opener.Failure) {
    for level in levels {
      var reference = PageReference(to: tree)
      if level > 0 {
        let above = self[level &- 1]
        guard let child = above.child(above.index) else { throw opener.failure(above.damage) }
        reference = child
      }
      let page = try opener.open(reference, isLeaf: level == tree.depth &- 1)
      let place = Level(reference: reference, page: page, index: choose(page))
      if place.index < 0 { throw opener.failure(place.damage) }
      set(place, at: level)
    }
  }
}

/// Opens pages for reads, and checks that the keys of a page are in the range of its reference. Otherwise, after damage to a key
/// of a branch page, a cursor would return values that a search does not find and a write does not replace.
struct PageReader: PageOpener {
  let table: PageTable
  let numberKeys: Bool

  func open(_ reference: PageReference, isLeaf: Bool) throws(LMDBError) -> TreePage {
    guard let page = TreePage(reference.page, isLeaf: isLeaf, in: table),
      page.lies(in: reference, numberKeys: numberKeys)
    else { throw .damagedPage }
    return page
  }

  func failure(_ damage: PageDamage) -> LMDBError { .damagedPage }
}
