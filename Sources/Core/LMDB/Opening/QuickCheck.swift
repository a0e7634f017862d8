import CLMDB
import CLarderSystem
import LarderSystem

/// Checks a data file before LMDB maps it: the meta pages, the length, the roots of all databases and the path to the record of
/// each database.
///
/// It reads about twelve pages, and all free lists if the file lacks its last pages. No process has the environment open.
struct QuickCheck {
  private let map: DataMap
  private let pages: SnapshotPages
  /// The number of complete pages in the file.
  private let filePages: UInt64
  private let check: PageCheck

  /// Damage of the file, or another reason to refuse it: its kind and place.
  struct Finding: Error {
    let kind: OpenError.Kind
    var detail = ""
    var cause: LMDBError?
  }

  /// The check at the opening of an environment.
  static func run(_ files: StoreFiles, _ options: EnvironmentOptions) throws(OpenError) {
    do throws(Finding) {
      let check = try QuickCheck(path: files.data)
      try check.run(databases: options.databases, signature: options.signature)
    } catch {
      throw OpenError(error.kind, path: files.data, detail: error.detail, cause: error.cause)
    }
  }

  init(path: String) throws(Finding) {
    let (map, size) = try Self.open(path)
    let extent = try Self.system { () throws(LMDBError) in try map.extent(fileSize: size) }
    guard extent.pages >= 2 else {
      throw Finding(kind: .truncated, detail: "\(size) bytes do not hold the two meta pages")
    }
    let metas = try (0..<2).map { (page) throws(Finding) in
      try Self.readable(UInt64(page), in: map)
      let meta = unsafe MetaPage(extent.start + page * map.pageSize)
      guard meta.isMarked, meta.isOfKind, meta.pageSize == map.pageSize else {
        throw Finding(kind: .damaged, detail: "meta page \(page) is not valid")
      }
      return meta
    }
    // Commits with even numbers use page 0, commits with odd numbers page 1. LMDB relies on that.
    let (first, second) = (metas[0].transaction, metas[1].transaction)
    let newest = max(first, second)
    guard first % 2 == 0, newest <= Int64.max,
      second % 2 == 1 && newest - min(first, second) == 1 || newest == 0
    else {
      throw Finding(
        kind: .damaged, detail: "the meta pages claim commits \(first) and \(second)")
    }
    self.map = map
    filePages = extent.pages
    pages = unsafe SnapshotPages(metas[second > first ? 1 : 0], of: extent, shift: map.shift)
    check = PageCheck(table: pages.table, numberKeys: false)
  }

  /// Opens the file with the page size that its first page states; also returns the file's length.
  private static func open(_ path: String) throws(Finding) -> (map: DataMap, size: Int) {
    let (head, size) = try system { () throws(LMDBError) in
      let file = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      return (try file.contents(at: 0, count: MetaPage.size), file.size)
    }
    if MetaPage.isOfLMDB1(head) { throw Finding(kind: .otherLMDB) }
    let first = unsafe head.withUnsafeBytes { bytes in
      unsafe bytes.count == MetaPage.size
        ? (MetaPage(bytes.baseAddress!).mark, MetaPage(bytes.baseAddress!).pageSize) : nil
    }
    guard let (mark, pageSize) = first, UInt32(truncatingIfNeeded: mark) == 0xBEEF_C0DE else {
      throw Finding(kind: .notLMDB, detail: "it does not begin with LMDB's mark")
    }
    guard mark == MetaPage.mark else {
      throw Finding(
        kind: .notLMDB, detail: "its data version is \(mark >> 32), this build reads 1")
    }
    let map = try system { () throws(LMDBError) in try DataMap(path: path, pageSize: pageSize) }
    guard let map else {
      throw Finding(kind: .damaged, detail: "page 0 gives a page size of \(pageSize)")
    }
    return (map, size)
  }

  private static func system<Result: ~Copyable>(
    _ body: () throws(LMDBError) -> Result
  ) throws(Finding) -> Result {
    do throws(LMDBError) {
      return try body()
    } catch {
      throw Finding(kind: .system, cause: error)
    }
  }

  /// Throws if the system cannot read a page: a use of its map would end the process.
  private static func readable(_ page: UInt64, in map: DataMap) throws(Finding) {
    guard let error = map.failureToRead(page) else { return }
    throw Finding(kind: .system, detail: "page \(page)", cause: error)
  }

  /// - Parameter signature: the key of a record that only Larder's files have; an empty key accepts any LMDB file.
  func run(databases: [String], signature: [UInt8]) throws(Finding) {
    if pages.main.kind != 0 { throw Finding(kind: .foreign) }
    try checkRoot(pages.main, name: "the main database")
    try checkRoot(pages.free, numberKeys: true, name: "the free list")
    if !signature.isEmpty, try find(signature) == nil { throw Finding(kind: .foreign) }
    if filePages <= pages.lastPage { try checkMissingPages() }
    // LMDB reads this record before a `PageReader` can.
    _ = try find(DurabilityLevel.record)
    for name in databases {
      guard let node = try find(Array(name.utf8)) else {
        throw Finding(kind: .lacksDatabase, detail: "it lacks the database \(name)")
      }
      guard node.flags == PageTable.database else {
        throw Finding(kind: .damaged, detail: "the record of database \(name) is not one")
      }
      try checkRoot(unsafe Tree(node.key + node.keyCount), name: "database \(name)")
    }
  }

  private func checkRoot(
    _ tree: Tree, numberKeys: Bool = false, name: String
  ) throws(Finding) {
    guard tree.kind == (numberKeys ? Tree.numberKeys : 0) else {
      throw Finding(kind: .damaged, detail: "\(name) has the flags \(tree.flags)")
    }
    if tree.isEmpty {
      guard tree.depth == 0, tree.records == 0 else {
        throw Finding(
          kind: .damaged, detail: "\(name) has no root and \(tree.records) records")
      }
      return
    }
    guard tree.depth >= 1, tree.depth <= Tree.deepest else {
      throw Finding(kind: .damaged, detail: "\(name) gives a depth of \(tree.depth)")
    }
    _ = try page(tree.root, isLeaf: tree.depth == 1)
  }

  /// A page of a tree; proves that its header and records lie within the page.
  private func page(_ number: UInt64, isLeaf: Bool) throws(Finding) -> TreePage {
    guard number < filePages || number > pages.lastPage else { throw truncated(at: number) }
    if pages.table.contains(number) { try Self.readable(number, in: map) }
    do throws(PageDamage) {
      let page = try check.open(number, isLeaf: isLeaf)
      try check.checkRecords(of: page, number, isLeaf: isLeaf)
      return page
    } catch {
      throw Finding(kind: .damaged, detail: error.description)
    }
  }

  private func truncated(at page: UInt64) -> Finding {
    Finding(
      kind: .truncated, detail: "page \(page) is needed and the file ends after \(filePages)")
  }

  func find(_ key: [UInt8]) throws(Finding) -> TreePage.Node? {
    let tree = pages.main
    if tree.isEmpty { return nil }
    return try unsafe key.withUnsafeBufferPointer { (bytes) throws(Finding) -> TreePage.Node? in
      let key = unsafe SearchKey(UnsafeRawPointer(bytes.baseAddress!), count: bytes.count)
      var path = TreePath(tree)
      try unsafe path.seek(key, by: self)
      let leaf = path.leaf.page
      // A damaged page may have its records in any order.
      for index in 0..<leaf.count {
        guard let node = leaf.node(index, pageSize: pageSize) else { continue }
        if unsafe key.isSame(as: node.key, count: node.keyCount) { return node }
      }
      return nil
    }
  }

  /// A file may end before its last page only if all missing pages are free: LMDB does not write a page that one transaction
  /// both allocates and frees.
  private func checkMissingPages() throws(Finding) {
    guard pages.lastPage < SnapshotPages.mostPages(inFileOf: filePages) else {
      throw truncated(at: pages.lastPage)
    }
    var lists = FreeListCheck(pages: pages)
    do throws(PageDamage) {
      try lists.run()
    } catch {
      let isMissing = error.page >= filePages && error.page <= pages.lastPage
      throw isMissing
        ? truncated(at: error.page) : Finding(kind: .damaged, detail: error.description)
    }
    for number in filePages...pages.lastPage where !lists.free.contains(number) {
      throw Finding(
        kind: .truncated, detail: "page \(number) is in use and the file ends after \(filePages)")
    }
  }
}

extension QuickCheck: PageOpener {
  var pageSize: Int { map.pageSize }

  func open(_ reference: PageReference, isLeaf: Bool) throws(Finding) -> TreePage {
    let page = try page(reference.page, isLeaf: isLeaf)
    guard isLeaf || page.count > 1 else {
      throw failure(PageDamage(page: reference.page, reason: "a branch of one page"))
    }
    return page
  }

  func failure(_ damage: PageDamage) -> Finding {
    Finding(kind: .damaged, detail: damage.description)
  }
}
