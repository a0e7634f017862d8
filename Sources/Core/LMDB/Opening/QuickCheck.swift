import CLarderSystem
import LarderSystem

/// Checks a data file that no process has open: the meta pages, the length, the root pages of all databases, and the pages on
/// the path to the record of each database. Reads about twelve pages, and all free lists if the file lacks its last pages.
struct QuickCheck: PageOpener {
  private let path: String
  private let map: DataMap
  private let pages: SnapshotPages
  private let filePages: UInt64
  private let check: PageCheck

  static func run(_ files: StoreFiles, _ options: EnvironmentOptions) throws(OpenError) {
    try QuickCheck(path: files.data).run(databases: options.databases, signature: options.signature)
  }

  init(path: String) throws(OpenError) {
    let (map, size) = try Self.open(path)
    let file = try OpenError.wrapping(path: path) { () throws(LMDBError) in
      try map.filePages(fileSize: size)
    }
    guard file.end >= 2 else {
      throw OpenError(
        .truncated, path: path, detail: "\(size) bytes do not hold the two meta pages")
    }
    let metas = try (0..<UInt64(2)).map { (page) throws(OpenError) in
      try Self.checkReadable(page, in: map, path: path)
      let meta = unsafe MetaPage(file.address(of: page))
      guard meta.isMarked, meta.isOfKind, meta.pageSize == map.pageSize else {
        throw OpenError(.damaged, path: path, detail: "meta page \(page) is not valid")
      }
      return meta
    }
    // LMDB writes even commits to page 0 and odd commits to page 1, and relies on that rule. So any other order is damage.
    let (first, second) = (metas[0].transaction, metas[1].transaction)
    let newest = max(first, second)
    guard first % 2 == 0, newest <= Int64.max,
      second % 2 == 1 && newest - min(first, second) == 1 || newest == 0
    else {
      throw OpenError(
        .damaged, path: path, detail: "the meta pages claim commits \(first) and \(second)")
    }
    self.path = path
    self.map = map
    filePages = file.end
    pages = unsafe SnapshotPages(metas[second > first ? 1 : 0], in: file)
    check = PageCheck(table: pages.table, numberKeys: false)
  }

  private static func open(_ path: String) throws(OpenError) -> (map: DataMap, size: Int) {
    let (head, size) = try OpenError.wrapping(path: path) { () throws(LMDBError) in
      let file = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      return (try file.contents(at: 0, count: MetaPage.size), try file.size())
    }
    if MetaPage.isOfLMDB1(head) { throw OpenError(.otherLMDB, path: path) }
    guard head.count == MetaPage.size, head.u32(MetaPage.Offset.mark) == MetaPage.magic else {
      throw OpenError(.notLMDB, path: path, detail: "it does not begin with LMDB's mark")
    }
    guard head.u64(MetaPage.Offset.mark) == MetaPage.mark else {
      let version = head.u32(MetaPage.Offset.mark + 4)
      throw OpenError(
        .notLMDB, path: path, detail: "its data version is \(version), this build reads 1")
    }
    let pageSize = Int(head.u32(MetaPage.Offset.pageSize))
    let map = try OpenError.wrapping(path: path) { () throws(LMDBError) in
      try DataMap(path: path, pageSize: pageSize)
    }
    guard let map else {
      throw OpenError(.damaged, path: path, detail: "page 0 gives a page size of \(pageSize)")
    }
    return (map, size)
  }

  private static func checkReadable(
    _ page: UInt64, in map: DataMap, path: String
  ) throws(OpenError) {
    do throws(LMDBError) { try map.checkReadable(page) } catch {
      throw OpenError(.system, path: path, detail: "page \(page)", cause: error)
    }
  }

  private func finding(_ kind: OpenError.Kind, _ detail: String = "") -> OpenError {
    OpenError(kind, path: path, detail: detail)
  }

  /// - Parameter signature: the key of a record that only Larder's files have. If the key is empty, any LMDB file is accepted.
  func run(databases: [String], signature: [UInt8]) throws(OpenError) {
    if pages.main.kind != 0 { throw finding(.foreign) }
    try checkRoot(pages.main, name: "the main database")
    try checkRoot(pages.free, numberKeys: true, name: "the free list")
    if !signature.isEmpty, try find(signature) == nil { throw finding(.foreign) }
    if filePages <= pages.lastPage { try checkMissingPages() }
    _ = try find(DurabilityLevel.record)
    for name in databases {
      guard let node = try find(Array(name.utf8)) else {
        throw finding(.lacksDatabase, "it lacks the database \(name)")
      }
      guard node.flags == PageTable.database else {
        throw finding(.damaged, "the record of database \(name) is not one")
      }
      try checkRoot(unsafe Tree(node.value), name: "database \(name)")
    }
  }

  private func checkRoot(_ tree: Tree, numberKeys: Bool = false, name: String) throws(OpenError) {
    guard tree.kind == (numberKeys ? Tree.numberKeys : 0) else {
      throw finding(.damaged, "\(name) has the flags \(tree.flags)")
    }
    if tree.isEmpty {
      guard tree.depth == 0, tree.records == 0 else {
        throw finding(.damaged, "\(name) has no root and \(tree.records) records")
      }
      return
    }
    guard tree.depth >= 1, tree.depth <= Tree.deepest else {
      throw finding(.damaged, "\(name) gives a depth of \(tree.depth)")
    }
    _ = try page(tree.root, isLeaf: tree.depth == 1)
  }

  /// Reads a page of a tree, and checks that its header and records are inside the page.
  private func page(_ number: UInt64, isLeaf: Bool) throws(OpenError) -> TreePage {
    guard number < filePages || number > pages.lastPage else { throw truncated(at: number) }
    if pages.table.contains(number) { try Self.checkReadable(number, in: map, path: path) }
    do throws(PageDamage) {
      let page = try check.open(number, isLeaf: isLeaf)
      try check.checkRecords(of: page, number)
      return page
    } catch { throw failure(error) }
  }

  private func truncated(at page: UInt64) -> OpenError {
    finding(.truncated, "page \(page) is needed and the file ends after \(filePages)")
  }

  /// The durability level in the newest commit; the level `durable` if there is no record of the level.
  func durability() throws(OpenError) -> DurabilityLevel {
    guard let node = try find(DurabilityLevel.record) else { return .durable }
    guard node.flags == 0, node.valueCount == 1,
      let level = DurabilityLevel(rawValue: unsafe node.value.load(as: UInt8.self))
    else { throw finding(.damaged, "the record of its durability is not one") }
    return level
  }

  /// Checks the pages that a write of the level changes, and the free lists, because LMDB writes to the pages in these lists.
  func checkWriteOfLevel(databases: [String]) throws(OpenError) {
    let writeGuard = WriteGuard(names: databases)
    do throws(PageDamage) {
      try writeGuard.begin(pages)
      let record = DurabilityLevel.record
      try unsafe writeGuard.willStore(SearchKey(record.span), count: 1, in: .main)
    } catch { throw failure(error) }
  }

  private func find(_ key: [UInt8]) throws(OpenError) -> TreePage.Node? {
    let tree = pages.main
    // A recovery searches before ``run(databases:signature:)``, which reports a depth of 0.
    if tree.isEmpty || tree.depth == 0 { return nil }
    defer { withExtendedLifetime(key) {} }
    let searched = unsafe SearchKey(key.span)
    var path = TreePath(tree)
    try unsafe path.seek(searched, by: self)
    let leaf = path.leaf.page
    // A damaged page may have its records in any order, so every record is compared instead of a binary search.
    for index in 0..<leaf.count {
      guard let node = leaf.node(index) else { continue }
      if unsafe searched.isSame(as: node) { return node }
    }
    return nil
  }

  /// Throws if a missing page is not free. LMDB does not write a page that the same transaction has allocated and freed.
  private func checkMissingPages() throws(OpenError) {
    guard pages.lastPage < SnapshotPages.mostPages(inFileOf: filePages) else {
      throw truncated(at: pages.lastPage)
    }
    var lists = FreeListCheck(pages: pages)
    do throws(PageDamage) { try lists.run() } catch {
      let isMissing = error.page >= filePages && error.page <= pages.lastPage
      throw isMissing ? truncated(at: error.page) : failure(error)
    }
    for number in filePages...pages.lastPage where !lists.free.contains(number) {
      throw finding(.truncated, "page \(number) is in use and the file ends after \(filePages)")
    }
  }

  func open(_ reference: PageReference, isLeaf: Bool) throws(OpenError) -> TreePage {
    let page = try page(reference.page, isLeaf: isLeaf)
    guard isLeaf || page.count > 1 else {
      throw failure(PageDamage(page: reference.page, reason: "a branch of one page"))
    }
    return page
  }

  func failure(_ damage: PageDamage) -> OpenError { finding(.damaged, damage.description) }
}
