import CLarderSystem
import LarderSystem

/// One snapshot, read from its meta page: the pages that the snapshot may use, and the roots of main tree and free list.
@safe struct SnapshotPages {
  let id: UInt64
  let table: PageTable
  let main: Tree
  let free: Tree
  /// The number of the last page that was ever used. The file may end before this page, if only free pages are missing.
  let lastPage: UInt64

  static var none: SnapshotPages {
    unsafe SnapshotPages(
      id: 0, table: PageTable(start: UnsafeRawPointer(bitPattern: 1)!, end: 0, shift: 0),
      main: .empty, free: .empty, lastPage: 0)
  }
}

extension SnapshotPages {
  /// The most pages that a commit can have if the file has `pages` pages. Pages after the end of the file are all free.
  static func mostPages(inFileOf pages: UInt64) -> UInt64 { 2 * pages + 1 << 20 }

  /// Makes the snapshot of a meta page's commit, without any check.
  @unsafe init(_ page: MetaPage, in file: PageTable) {
    (free, main, lastPage) = (page.free, page.main, page.lastPage)
    // This number is read last: if LMDB overwrites the page during the call, the number differs, so the caller notices.
    id = page.transaction
    // If the page is damaged, `lastPage` may be the largest possible number, to which 1 cannot be added.
    let end = min(max(lastPage, lastPage &+ 1), file.end)
    table = unsafe PageTable(start: file.start, end: end, shift: file.shift)
  }

  /// Nil if the meta page is damaged.
  @unsafe init?(meta address: UnsafeRawPointer, in file: PageTable) {
    let page = unsafe MetaPage(address)
    unsafe self.init(page, in: file)
    guard lastPage >= 1, lastPage < Self.mostPages(inFileOf: file.end), page.isMarked,
      page.pageSize == file.pageSize, free.isPossible(numberKeys: true, end: table.end),
      main.isPossible(numberKeys: false, end: table.end)
    else { return nil }
  }
}

/// The pages of a snapshot, with the roots of its databases. Each named database is looked up at its first use.
struct SnapshotTrees {
  private(set) var pages = SnapshotPages.none
  /// The root of the database that most reads use; nil before the first lookup in this snapshot.
  private(set) var firstNamed: Tree?
  private var named: [Tree?] = []
  /// The keys of the named databases in the main database.
  let names: [[UInt8]]

  init(names: [[UInt8]]) { self.names = names }

  mutating func show(_ pages: SnapshotPages) {
    self.pages = pages
    forgetRoots()
  }

  mutating func forgetRoots() {
    firstNamed = nil
    named.removeAll(keepingCapacity: true)
  }

  /// The root of a database. Nil if the root was not looked up yet.
  func known(_ database: Database) -> Tree? {
    if database == .main { return pages.main }
    if database == .free { return pages.free }
    let index = Int(database.handle) - 2
    return index < named.count ? named[index] : nil
  }

  /// The root of a database. Nil if the root cannot be reached.
  mutating func tree(of database: Database) -> Tree? {
    if let tree = known(database) { return tree }
    let index = Int(database.handle) - 2
    guard index < names.count, let tree = pages.table.tree(named: names[index], in: pages.main)
    else { return nil }
    if database == .firstNamed { firstNamed = tree }
    while named.count <= index { named.append(nil) }
    named[index] = tree
    return tree
  }
}

/// A meta page, which describes one commit (`mdb.c`: MDB_page, MDB_meta). The values in the page are not checked.
@safe struct MetaPage {
  private let start: UnsafeRawPointer

  /// The number of used bytes at the beginning of the page, including the page's header.
  static let size = 152
  static let magic: UInt32 = 0xBEEF_C0DE
  /// LMDB's mark together with the version of its format.
  static let mark: UInt64 = 1 << 32 | UInt64(magic)

  /// Whether a file with this beginning belongs to LMDB 1.x, whose pages have headers of 24 bytes.
  static func isOfLMDB1(_ head: [UInt8]) -> Bool {
    guard head.count == size else { return false }
    return [Offset.mark, Offset.mark + 8].contains {
      head.u32($0) == magic && head.u32($0 + 4) == 3
    }
  }

  enum Offset {
    static let mark = 16
    static let pageSize = 40
    static let free = 40
    static let main = 88
    static let lastPage = 136
    static let transaction = 144
  }

  /// - Precondition: ``size`` bytes stay at `start` while the page is used.
  @unsafe init(_ start: UnsafeRawPointer) { unsafe self.start = start }

  var isMarked: Bool { word(Offset.mark) == Self.mark }
  var isOfKind: Bool { word(8) >> 16 & TreePage.Flags.meta != 0 }
  /// LMDB stores the page size in the record of the free list.
  var pageSize: Int {
    Int(unsafe start.loadUnaligned(fromByteOffset: Offset.pageSize, as: UInt32.self))
  }
  var free: Tree { unsafe Tree(start + Offset.free) }
  var main: Tree { unsafe Tree(start + Offset.main) }
  var lastPage: UInt64 { word(Offset.lastPage) }
  var transaction: UInt64 { word(Offset.transaction) }

  private func word(_ offset: Int) -> UInt64 {
    unsafe start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }
}

/// The beginning of a meta page, which has all that LMDB needs to find a commit.
struct MetaImage: Equatable {
  static let size = MetaPage.size

  let pageSize: Int
  let bytes: [UInt8]
}

extension MetaImage {
  /// Nil if there are too few bytes or LMDB has no such page size: both parameters come from a file, which may be damaged.
  init?(pageSize: UInt64, bytes: [UInt8]) {
    guard (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1, bytes.count == Self.size
    else { return nil }
    self.init(pageSize: Int(pageSize), bytes: bytes)
  }

  /// The meta page of the newest commit in a data file that no process has open.
  static func newest(of path: String) throws(LMDBError) -> MetaImage {
    let file = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW)
    guard let zero = try at(0, of: file),
      let one = MetaImage(
        pageSize: UInt64(zero.pageSize), bytes: try file.contents(at: zero.pageSize, count: size))
    else { throw .corrupted }
    return zero.transaction < one.transaction ? one : zero
  }

  /// The meta page at `place` of a data file. Nil if the file is too short or gives an impossible page size.
  static func at(_ place: Int, of file: borrowing FileDescriptor) throws(LMDBError) -> MetaImage? {
    let bytes = try file.contents(at: place, count: size)
    guard bytes.count == size else { return nil }
    return MetaImage(pageSize: UInt64(bytes.u32(MetaPage.Offset.pageSize)), bytes: bytes)
  }

  var transaction: UInt64 { bytes.u64(MetaPage.Offset.transaction) }
  /// The offset of the commit's meta page. Commits use the two meta pages in turn.
  var place: Int { Int(transaction % 2) * pageSize }

  /// A copy of this commit with a number lower by one, for the other meta page. LMDB opens the commit with the higher number.
  var predecessor: MetaImage {
    var other = bytes
    other[0] ^= 1
    other.removeLast(8)
    other.append(littleEndian: transaction &- 1)
    return MetaImage(pageSize: pageSize, bytes: other)
  }
}

/// The root of a B-tree, with the numbers from the record of the tree (`mdb.c`: MDB_db).
struct Tree: Equatable {
  var flags: UInt16
  var depth: Int
  var branchPages: UInt64
  var leafPages: UInt64
  var overflowPages: UInt64
  var records: UInt64
  var root: UInt64
  /// The address of the tree's record; 0 if there is no record.
  var place: UInt = 0

  static let size = 48
  private static let noRoot = UInt64.max
  /// The greatest depth that LMDB's cursors allow.
  static let deepest = 32
  /// `MDB_INTEGERKEY`: the keys are numbers in the machine's byte order.
  static let numberKeys: UInt16 = 0x08
  /// The bits of ``flags`` that determine how a tree is read. The other bits are flags of the environment.
  private static let kinds: UInt16 = 0x7F

  var isEmpty: Bool { root == Self.noRoot }
  var kind: UInt16 { flags & Self.kinds }
  var pages: UInt64 { branchPages &+ leafPages &+ overflowPages }

  static let empty = Tree(
    flags: 0, depth: 0, branchPages: 0, leafPages: 0, overflowPages: 0, records: 0, root: noRoot)

  /// Whether the tree is possible in a file of `end` pages. `numberKeys` says whether the tree's keys must be numbers.
  func isPossible(numberKeys: Bool, end: UInt64) -> Bool {
    guard kind == (numberKeys ? Self.numberKeys : 0) else { return false }
    if isEmpty { return depth == 0 && records == 0 && pages == 0 }
    return depth >= 1 && depth <= Self.deepest && root >= 2 && root < end && leafPages >= 1
      && branchPages < end && leafPages < end && overflowPages < end && records <= leafPages << 12
  }
}

extension Tree {
  /// - Precondition: there are ``size`` bytes at `start`.
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
