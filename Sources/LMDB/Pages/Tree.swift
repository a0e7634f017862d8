/// The root of one B-tree, with the facts in its record (`mdb.c`: MDB_db).
struct Tree: Equatable {
  var flags: UInt16
  var depth: Int
  var branchPages: UInt64
  var leafPages: UInt64
  var overflowPages: UInt64
  var records: UInt64
  var root: UInt64
  /// The address of the record; 0 for none.
  var place: UInt = 0

  static let size = 48
  private static let noRoot = UInt64.max
  /// The greatest depth that LMDB's cursors support.
  static let deepest = 32
  /// `MDB_INTEGERKEY`: the keys are numbers in the machine's byte order.
  static let numberKeys: UInt16 = 0x08
  /// The flags that change how a tree is read; the others belong to the environment.
  private static let kinds: UInt16 = 0x7F

  var isEmpty: Bool { root == Self.noRoot }
  var pages: UInt64 { branchPages &+ leafPages &+ overflowPages }

  static let empty = Tree(
    flags: 0, depth: 0, branchPages: 0, leafPages: 0, overflowPages: 0, records: 0, root: noRoot)

  /// Whether the record can be one of a tree of this kind in a file of `end` pages.
  func isPossible(numberKeys: Bool, end: UInt64) -> Bool {
    guard flags & Self.kinds == (numberKeys ? Self.numberKeys : 0) else { return false }
    if isEmpty { return depth == 0 && records == 0 && pages == 0 }
    return depth >= 1 && depth <= Self.deepest && root >= 2 && root < end && leafPages >= 1
      && branchPages < end && leafPages < end && overflowPages < end
      && records <= leafPages << 12
  }
}

extension Tree {
  /// - Precondition: 48 bytes lie at `start`.
  @unsafe init(_ start: UnsafeRawPointer) {
    flags = unsafe start.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
    depth = Int(unsafe start.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
    branchPages = unsafe start.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    leafPages = unsafe start.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
    overflowPages = unsafe start.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
    records = unsafe start.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
    root = unsafe start.loadUnaligned(fromByteOffset: 40, as: UInt64.self)
    place = UInt(bitPattern: start)
  }
}

extension DatabaseStatistics {
  init(_ tree: Tree, pageSize: Int) {
    self.pageSize = pageSize
    depth = tree.depth
    branchPages = Int(clamping: tree.branchPages)
    leafPages = Int(clamping: tree.leafPages)
    overflowPages = Int(clamping: tree.overflowPages)
    records = Int(clamping: tree.records)
  }
}
