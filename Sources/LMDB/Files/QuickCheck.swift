import CLMDB
import CLarderSystem
import LarderSystem

/// Checks a data file before LMDB maps it: the meta pages, the length, the roots of all databases and the path to each
/// database's record.
///
/// It reads about twelve pages, independent of the file's size, while no process has the environment open.
struct QuickCheck: ~Copyable {
  private let file: RawFile

  init(path: String) throws(RawFile.Finding) {
    file = try RawFile(path: path)
  }

  /// `MDB_INTEGERKEY`, the kind of the free list's keys; its record also holds the environment's flags.
  private static let integerKeys: UInt16 = 0x08
  /// The flags of database kinds that Larder does not use.
  private static let kinds: UInt16 = 0x7F

  /// The check at the opening of an environment.
  static func run(_ files: StoreFiles, _ options: EnvironmentOptions) throws(OpenError) {
    do throws(RawFile.Finding) {
      let check = try QuickCheck(path: files.data)
      try check.run(databases: options.databases, signature: options.signature)
    } catch {
      throw OpenError(error.kind, path: files.data, detail: error.detail)
    }
  }

  /// - Parameter signature: the key of a record that only Larder's files have; if empty, any LMDB file is accepted.
  func run(databases: [String], signature: [UInt8]) throws(RawFile.Finding) {
    if file.meta.main.flags & Self.kinds != 0 { throw .init(kind: .foreign, detail: "") }
    try checkRoot(file.meta.main, flags: 0, name: "the main database")
    try checkRoot(file.meta.free, flags: Self.integerKeys, name: "the free list")
    if !signature.isEmpty, try find(signature) == nil { throw .init(kind: .foreign, detail: "") }
    if file.pages <= file.meta.lastPage { try checkMissingPages() }
    // LMDB reads it before there is a reader of our own.
    _ = try find(DurabilityLevel.record)
    for name in databases {
      guard let record = try find(Array(name.utf8)) else {
        throw .init(kind: .lacksDatabase, detail: "it lacks the database \(name)")
      }
      guard record.isDatabase, case .inline(let bytes) = record.value, bytes.count == 48 else {
        throw .init(kind: .damaged, detail: "the record of database \(name) is not one")
      }
      try checkRoot(RawFile.Tree(bytes, at: 0), flags: 0, name: "database \(name)")
    }
  }

  private func checkRoot(_ tree: RawFile.Tree, flags: UInt16, name: String) throws(RawFile.Finding)
  {
    guard tree.flags & Self.kinds == flags else {
      throw .init(kind: .damaged, detail: "\(name) has the flags \(tree.flags)")
    }
    if tree.isEmpty {
      guard tree.depth == 0, tree.records == 0 else {
        throw .init(kind: .damaged, detail: "\(name) has no root and \(tree.records) records")
      }
      return
    }
    guard tree.depth >= 1, tree.depth <= 32 else {
      throw .init(kind: .damaged, detail: "\(name) gives a depth of \(tree.depth)")
    }
    let page = try file.page(tree.root)
    guard page.isLeaf == (tree.depth == 1) else {
      throw .init(kind: .damaged, detail: "the root of \(name) does not fit its depth")
    }
  }

  private func find(_ key: [UInt8]) throws(RawFile.Finding) -> (
    value: RawPage.Value, isDatabase: Bool
  )? {
    let tree = file.meta.main
    if tree.isEmpty { return nil }
    var page = try file.page(tree.root)
    for _ in 1..<tree.depth {
      guard !page.isLeaf, page.count > 1 else { break }
      page = try file.page(page.child(page.branch(for: key)))
    }
    guard page.isLeaf else {
      throw .init(kind: .damaged, detail: "a path without a leaf at page \(page.number)")
    }
    for index in 0..<page.count where page.key(index).elementsEqual(key) {
      return (page.value(index), page.isDatabase(index))
    }
    return nil
  }

  /// A file may end before its last page only if all missing pages are free: LMDB does not write a page that one
  /// transaction both allocates and frees.
  private func checkMissingPages() throws(RawFile.Finding) {
    var free = Set<UInt64>()
    var visited = 0
    var pending =
      file.meta.free.isEmpty ? [] : [(page: file.meta.free.root, depth: Int(file.meta.free.depth))]
    while let (number, depth) = pending.popLast() {
      let page = try file.page(number)
      visited += 1
      guard visited <= file.pages else {
        throw .init(kind: .damaged, detail: "the free list has a cycle at page \(number)")
      }
      guard depth >= 1, page.isLeaf == (depth == 1) else {
        throw .init(
          kind: .damaged, detail: "the free list is deeper than it says at page \(number)")
      }
      for index in 0..<page.count {
        if page.isLeaf {
          try collect(page.value(index), into: &free)
        } else {
          pending.append((page.child(index), depth - 1))
        }
      }
    }
    for number in file.pages...file.meta.lastPage where !free.contains(number) {
      throw .init(
        kind: .truncated, detail: "page \(number) is in use and the file ends after \(file.pages)")
    }
  }

  private func collect(_ value: RawPage.Value, into free: inout Set<UInt64>) throws(RawFile.Finding)
  {
    let bytes =
      switch value {
      case .inline(let bytes): bytes
      case .overflow(let page, let count): try file.overflow(page, count: count)
      }
    guard bytes.count >= 8, UInt64(bytes.count) / 8 - 1 >= bytes.u64(0) else {
      throw .init(kind: .damaged, detail: "a free list of impossible length")
    }
    for index in 0..<Int(bytes.u64(0)) { free.insert(bytes.u64(8 + 8 * index)) }
  }
}

/// Checks the pages on the paths to the named databases and the durability level, before LMDB reads them.
///
/// ``QuickCheck`` checks more, for a file that no process has open.
enum PathCheck {
  static func run(
    _ handle: OpaquePointer, in files: StoreFiles, names: [String]
  ) -> Int32 {
    // A writer may be writing over the meta page that is read. Then the next attempt sees a newer commit.
    for _ in 0..<50 {
      let code = unsafe runOnce(handle, in: files, names: names)
      if code != EAGAIN { return code }
      backOff(microseconds: 1000)
    }
    return LMDBError.damagedPage.code
  }

  /// - Returns: EAGAIN if the transaction's meta page is incomplete.
  private static func runOnce(
    _ handle: OpaquePointer, in files: StoreFiles, names: [String]
  ) -> Int32 {
    var transaction: OpaquePointer?
    let begun = unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
    if begun != 0 { return begun }
    defer { unsafe mdb_txn_abort(transaction) }
    var statistics = MDB_stat()
    unsafe mdb_env_stat(handle, &statistics)
    do throws(LMDBError) {
      guard let map = try DataMap(path: files.data, pageSize: Int(statistics.ms_psize)) else {
        return 0
      }
      let extent = try map.extent()
      let id = UInt64(truncatingIfNeeded: unsafe mdb_txn_id(transaction))
      guard extent.pages > 2,
        let pages = unsafe SnapshotPages(
          meta: extent.start + Int(id % 2) * map.pageSize, of: extent, shift: map.shift)
      else { return EAGAIN }
      if pages.id != id { return EAGAIN }
      let guarding = WriteGuard(names: names)
      try guarding.checking { () throws(PageDamage) in
        try guarding.begin(pages)
        for index in names.indices {
          _ = try guarding.tree(of: Database(handle: UInt32(index) + 2))
        }
        let record = DurabilityLevel.record
        try unsafe record.withUnsafeBufferPointer { (bytes) throws(PageDamage) in
          guard let start = bytes.baseAddress else { return }
          let key = unsafe PageCheck.Key(start: UnsafeRawPointer(start), count: bytes.count)
          _ = try guarding.willRead(key, in: .main)
        }
      }
      return 0
    } catch {
      return error.code
    }
  }
}
