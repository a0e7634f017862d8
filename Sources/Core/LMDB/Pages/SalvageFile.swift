import CLarderSystem
import LarderSystem

/// A data file that is read without LMDB. Its pages may have any damage. Neither the file nor its directory is changed. No
/// other process may write during the reads; ``hold(_:lockTimeout:_:)`` prevents that.
package struct SalvageFile: ~Copyable {
  private let map: DataMap
  /// All pages of the file, with the trees of the newest commit. The `id` is the largest number, so lists of any commit are read.
  private let pages: SnapshotPages
  private let metaDamage: [PageDamage]
  /// The number of the newest commit whose meta page is sound; 0 if both meta pages are damaged.
  package let newestCommit: UInt64

  package init(at directory: String) throws(OpenError) {
    let path = directory + "/data.mdb"
    // The path may be a pipe. Opening a pipe would wait for a process that writes to it, so only regular files are opened.
    if let status = FileStatus.of(path), !status.isRegularFile {
      throw OpenError(.notAFile, path: path)
    }
    do throws(LMDBError) {
      guard let map = try DataMap(path: path, pageSize: Self.pageSize(of: path)) else {
        throw LMDBError.corrupted
      }
      let file = try map.filePages()
      self.map = map
      let metas = (0..<min(2, file.end)).compactMap { page in
        unsafe SnapshotPages(meta: file.address(of: page), in: file)
      }
      let newest = metas.max { $0.id < $1.id }
      metaDamage =
        metas.count == 2
        ? [] : [PageDamage(page: 0, reason: "\(2 - metas.count) of 2 meta pages are damaged")]
      // The number of the last page may be wrong and would then hide pages. So every page of the file is accepted.
      pages = SnapshotPages(
        id: .max, table: file, main: newest?.main ?? .empty, free: newest?.free ?? .empty,
        lastPage: max(newest?.lastPage ?? 0, file.end))
      newestCommit = newest?.id ?? 0
    } catch { throw OpenError(.system, path: path, cause: error) }
  }

  package var size: Int { Int(pages.table.end) << pages.table.shift }

  /// Prevents other processes from changing the data file while `body` reads. Takes no locks if the process may not write or
  /// make the lock files. Makes no lock files in a directory without a data file, which may belong to another program.
  package static func hold<Result>(
    _ directory: String, lockTimeout: Duration, _ body: () throws -> Result
  ) throws -> Result {
    if FileStatus.of(directory + "/data.mdb") == nil || !StoreFiles.mayMakeLocks(in: directory) {
      return try body()
    }
    let locks: StoreLocks
    do throws(OpenError) { locks = try StoreLocks(in: directory, isWritable: true) } catch {
      if [EACCES, EPERM, EROFS].contains(error.cause?.code) { return try body() }
      throw error
    }
    defer {
      locks.write.release()
      locks.opening.release()
    }
    try OpenError.wrapping(path: directory) { () throws(LMDBError) in
      try locks.opening.wait(lockTimeout: lockTimeout)
      try locks.write.wait(lockTimeout: lockTimeout)
    }
    return try body()
  }

  private static func pageSize(of path: String) throws(LMDBError) -> Int {
    let file = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    let first = try MetaImage.at(0, of: file)?.pageSize ?? 4096
    let stated = first <= 32_768 ? first : 4096
    // The page size is the place of the other meta page, which also states this size. Page 0 alone may state a wrong size.
    for size in [stated] + (9...15).map({ 1 << $0 }) {
      guard let second = try MetaImage.at(size, of: file), second.pageSize == size else { continue }
      if second.bytes.u64(MetaPage.Offset.mark) == MetaPage.mark { return size }
    }
    return stated
  }

  /// Visits the reachable records of the newest commit in `database` (nil: main database). Always walks the main database, too.
  package func forEachRecord(
    in database: String? = nil, _ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Void
  ) throws -> TreeWalk {
    var walk = TreeWalk(
      in: pages.table, visited: PageSet(upTo: Int(pages.lastPage) + 1), damage: metaDamage)
    try walk.run(pages.main) { (record) throws(any Error) in
      if database == nil { try visit(record.keyBytes, record.valueBytes) }
    }
    guard let database else { return walk }
    if let tree = tree(named: database) {
      try walk.run(tree) { (record) throws(any Error) in
        try visit(record.keyBytes, record.valueBytes)
      }
    } else {
      walk.damage.append(
        PageDamage(page: pages.main.root, reason: "the record of database \(database)"))
    }
    return walk
  }

  /// Visits the records on used leaves to which no branch page leads. These are the leaves below damaged pages.
  ///
  /// The records may belong to any database. If the lists of free pages are damaged, no record is visited, because then nobody
  /// can distinguish lost records from removed records.
  ///
  /// - Parameter pause: called for each record of `databases` and for each searched page. If the closure throws, the search ends.
  package func forEachLostRecord(
    besides walk: TreeWalk, databases: [String], pause: () throws -> Void,
    _ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Void
  ) throws {
    guard !walk.damage.isEmpty, !pages.main.isEmpty else { return }
    var lists = FreeListCheck(pages: pages)
    // Damage of these lists is not reported, because `walk` already has damage.
    guard (try? lists.run()) != nil else { return }
    let table = pages.table
    var others = TreeWalk(in: table, visited: walk.visited)
    for name in databases {
      guard let tree = tree(named: name) else { continue }
      try others.run(tree) { (_) throws(any Error) in try pause() }
    }
    for number in 2..<max(table.end, 2)
    where !others.visited.contains(number) && !lists.free.contains(number) {
      try pause()
      guard let page = TreePage(number, isLeaf: true, in: table) else { continue }
      for index in 0..<page.count {
        guard let node = page.node(index), let record = table.record(of: node) else { continue }
        try visit(record.keyBytes, record.valueBytes)
      }
    }
  }

  /// Lends the value under `key` in a named database. Nil if the value cannot be reached.
  package func withValue<Result>(
    for key: [UInt8], in database: String, _ body: (Span<UInt8>) -> Result
  ) -> Result? {
    defer { withExtendedLifetime(key) {} }
    guard let tree = tree(named: database),
      let region = unsafe pages.table.lookUp(SearchKey(key.span), in: tree).region
    else { return nil }
    return unsafe body(Span(region))
  }

  private func tree(named name: String) -> Tree? {
    pages.table.tree(named: Array(name.utf8), in: pages.main)
  }
}
