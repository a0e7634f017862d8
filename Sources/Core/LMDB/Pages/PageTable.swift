/// The pages that a snapshot may use: all pages of the file up to the snapshot's last page. No other bytes are ever read.
@safe struct PageTable {
  let start: UnsafeRawPointer
  /// The number of the last existing page, plus one.
  let end: UInt64
  let shift: Int

  static let headerSize = 16
  static let nodeHeaderSize = 8

  var pageSize: Int { 1 &<< shift }

  @unsafe func address(of page: UInt64) -> UnsafeRawPointer {
    unsafe start + Int(truncatingIfNeeded: page &<< UInt64(truncatingIfNeeded: shift))
  }

  func page(at address: UnsafeRawPointer) -> UInt64 {
    unsafe UInt64(address - start) >> UInt64(shift)
  }

  func contains(_ page: UInt64) -> Bool { page >= 2 && page < end }

  /// Checks every offset and length before it is used.
  @inline(__always)
  func lookUp(_ key: SearchKey, in tree: Tree) -> PageLookup {
    if tree.isEmpty { return .absent }
    var number = tree.root
    var level = tree.depth
    while level > 1 {
      guard let page = TreePage(number, isLeaf: false, in: self) else { return .damaged }
      let index = unsafe page.lastNotAfter(key)
      guard index >= 0, let node = page.node(index) else { return .damaged }
      number = node.child
      level &-= 1
    }
    guard let page = TreePage(number, isLeaf: true, in: self) else { return .damaged }
    let index = unsafe page.lastNotAfter(key)
    guard index >= 0, let node = page.node(index) else { return .damaged }
    guard unsafe key.isSame(as: node) else { return .absent }
    return value(of: node)
  }

  @inline(__always)
  func value(of node: TreePage.Node) -> PageLookup {
    let count = node.valueCount
    guard node.flags == 0, count <= node.room else { return uncommonValue(of: node) }
    return unsafe PageLookup(start: node.value, count: count)
  }

  /// A record of a leaf page with its value; nil if the value cannot be reached.
  @inline(__always)
  func record(of node: TreePage.Node) -> TreeCursor.Record? {
    let value = value(of: node)
    guard let start = unsafe value.start else { return nil }
    return unsafe TreeCursor.Record(
      key: node.key, keyCount: node.keyCount, value: start, valueCount: value.count)
  }

  static let bigValue: UInt16 = 0x01
  static let database: UInt16 = 0x02

  /// A value on overflow pages, the record of a named database, or damage.
  @inline(never)
  private func uncommonValue(of node: TreePage.Node) -> PageLookup {
    let count = node.valueCount
    switch node.flags {
    case Self.database where count == Tree.size && count <= node.room:
      return unsafe PageLookup(start: node.value, count: count)
    case Self.bigValue:
      guard let run = overflowRun(of: node, orLonger: true) else { return .damaged }
      return unsafe PageLookup(start: address(of: run.lowerBound) + Self.headerSize, count: count)
    default: return .damaged
    }
  }

  func overflowPages(for count: Int) -> UInt64 {
    UInt64((Self.headerSize + count + pageSize - 1) >> shift)
  }

  /// The consecutive overflow pages of a leaf's record. Empty if the value is in the leaf. Nil if the header of the first page is
  /// damaged or pages are missing.
  ///
  /// - Parameter orLonger: whether there may be more pages than the value needs. LMDB frees as many pages as the header states,
  ///   so unneeded pages are damage before a write, except in a list of free pages, which LMDB shortens in place.
  func overflowRun(of node: TreePage.Node, orLonger: Bool = false) -> Range<UInt64>? {
    guard node.flags & Self.bigValue != 0 else { return 0..<0 }
    guard node.room >= 8, case let first = unsafe node.value.loadUnaligned(as: UInt64.self),
      contains(first)
    else { return nil }
    let start = unsafe address(of: first)
    let word = unsafe start.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    let (pages, needed) = (word &>> 32, overflowPages(for: node.valueCount))
    guard unsafe start.loadUnaligned(as: UInt64.self) == first,
      word &>> 16 & 0xFFFF == TreePage.Flags.overflow, pages <= end - first,
      orLonger ? pages >= needed : pages == needed
    else { return nil }
    return first..<first + pages
  }

  /// The root in the record of the database `name`. Nil if the record cannot be reached or is not the record of a database.
  func tree(named name: [UInt8], in main: Tree) -> Tree? {
    let found = withExtendedLifetime(name) { unsafe lookUp(SearchKey(name.span), in: main) }
    guard let record = unsafe found.start, found.count == Tree.size else { return nil }
    let tree = unsafe Tree(record)
    return tree.isPossible(numberKeys: false, end: end) ? tree : nil
  }
}

/// The result of a lookup: the value at `start`, or no value because the key was not found, or damage of a page on the path.
@safe struct PageLookup {
  let start: UnsafeRawPointer?
  let count: Int

  static var absent: PageLookup { unsafe PageLookup(start: nil, count: -1) }
  static var damaged: PageLookup { unsafe PageLookup(start: nil, count: -2) }

  var isDamaged: Bool { count == -2 }
  var region: Region? { unsafe start.map { unsafe Region(start: $0, count: count) } }
}
