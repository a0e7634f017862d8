import CLMDB
import CLarderSystem
import LarderSystem

/// Reads a data file page by page without LMDB, so that damage is an error and not a crash in LMDB.
///
/// The layout is that of LMDB 0.9 on a 64-bit little-endian machine (`mdb.c`: MDB_page, MDB_meta, MDB_node).
struct RawFile: ~Copyable {
  private let file: FileDescriptor
  let size: Int
  let pageSize: Int
  let meta: Meta

  /// The newer of the two meta pages.
  struct Meta {
    var free: Tree
    var main: Tree
    var lastPage: UInt64
    var transaction: UInt64
  }

  /// A database's root, as in its record.
  struct Tree {
    var flags: UInt16
    var depth: UInt16
    var records: UInt64
    var root: UInt64

    static let noRoot = UInt64.max
    var isEmpty: Bool { root == Self.noRoot }
  }

  /// Damage of the file: its kind and place.
  struct Finding: Error {
    let kind: OpenError.Kind
    let detail: String
  }

  init(path: String) throws(Finding) {
    let opened = try Self.open(path)
    let size = opened.size
    let head = try Self.read(opened, at: 0, count: min(size, 152))
    guard head.count >= 152, head.u32(16) == 0xBEEF_C0DE else {
      throw Finding(kind: .notLMDB, detail: "it does not begin with LMDB's mark")
    }
    guard head.u32(20) == 1 else {
      throw Finding(
        kind: .notLMDB, detail: "its data version is \(head.u32(20)), this build reads 1")
    }
    let pageSize = Int(head.u32(40))
    guard pageSize >= 512, pageSize <= 65_536, pageSize.nonzeroBitCount == 1 else {
      throw Finding(kind: .damaged, detail: "page 0 gives a page size of \(pageSize)")
    }
    guard size >= 2 * pageSize else {
      throw Finding(kind: .truncated, detail: "\(size) bytes do not hold the two meta pages")
    }
    let first = try Self.meta(opened, page: 0, pageSize: pageSize)
    let second = try Self.meta(opened, page: 1, pageSize: pageSize)
    // Commits with even numbers use page 0, those with odd numbers page 1. LMDB relies on it.
    let newest = max(first.transaction, second.transaction)
    guard first.transaction % 2 == 0, newest <= Int64.max,
      second.transaction % 2 == 1 && newest - min(first.transaction, second.transaction) == 1
        || newest == 0
    else {
      throw Finding(
        kind: .damaged,
        detail: "the meta pages claim commits \(first.transaction) and \(second.transaction)")
    }
    self.size = size
    self.pageSize = pageSize
    meta = second.transaction > first.transaction ? second : first
    file = opened
  }

  private static func open(_ path: String) throws(Finding) -> FileDescriptor {
    do throws(LMDBError) {
      return try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    } catch {
      throw Finding(kind: .system, detail: error.description)
    }
  }

  private static func meta(
    _ file: borrowing FileDescriptor, page: Int, pageSize: Int
  ) throws(Finding) -> Meta {
    let bytes = try read(file, at: page * pageSize, count: 152)
    guard bytes.u16(10) & 0x08 != 0, bytes.u32(16) == 0xBEEF_C0DE, bytes.u32(20) == 1,
      Int(bytes.u32(40)) == pageSize
    else { throw Finding(kind: .damaged, detail: "meta page \(page) is not valid") }
    return Meta(
      free: Tree(bytes, at: 40), main: Tree(bytes, at: 88),
      lastPage: bytes.u64(136), transaction: bytes.u64(144))
  }

  /// The number of complete pages in the file.
  var pages: UInt64 { UInt64(size / pageSize) }

  func page(_ number: UInt64) throws(Finding) -> RawPage {
    guard number >= 2, number <= meta.lastPage else {
      throw Finding(kind: .damaged, detail: "a reference to page \(number) of \(meta.lastPage)")
    }
    guard number < pages else {
      throw Finding(
        kind: .truncated, detail: "page \(number) is needed and the file ends after \(pages)")
    }
    let bytes = try Self.read(file, at: Int(number) * pageSize, count: pageSize)
    return try RawPage(bytes, number: number)
  }

  /// The bytes of a value on overflow pages.
  func overflow(_ number: UInt64, count: Int) throws(Finding) -> [UInt8] {
    let needed = UInt64((16 + count + pageSize - 1) / pageSize)
    guard number >= 2, number <= meta.lastPage, needed <= meta.lastPage - number + 1 else {
      throw Finding(kind: .damaged, detail: "a large value at page \(number) of \(meta.lastPage)")
    }
    guard number < pages, needed <= pages - number else {
      throw Finding(
        kind: .truncated, detail: "a large value at page \(number) and the file ends after \(pages)"
      )
    }
    return try Self.read(file, at: Int(number) * pageSize + 16, count: count)
  }

  private static func read(
    _ file: borrowing FileDescriptor, at offset: Int, count: Int
  ) throws(Finding) -> [UInt8] {
    let bytes = file.read(at: offset, count: count)
    guard bytes.count == count else {
      throw Finding(kind: .truncated, detail: "\(count) bytes at \(offset) could not be read")
    }
    return bytes
  }
}

extension RawFile.Tree {
  init(_ bytes: [UInt8], at offset: Int) {
    flags = bytes.u16(offset + 4)
    depth = bytes.u16(offset + 6)
    records = bytes.u64(offset + 32)
    root = bytes.u64(offset + 40)
  }
}
