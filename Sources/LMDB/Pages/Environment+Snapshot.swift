import CLMDB
import CLarderSystem
import LarderSystem

extension SnapshotPages {
  /// The offsets of a meta page's fields (`mdb.c`: MDB_page, MDB_meta), and its magic number.
  private enum Field {
    static let magic = 16
    static let pageSize = 40
    static let free = 40
    static let main = 88
    static let lastPage = 136
    static let transaction = 144
    static let mark: UInt64 = 0x1_BEEF_C0DE
  }

  /// Pages that a file lacks at its end are free. There are never so many that all pages are more than this.
  static func mostPages(inFileOf pages: UInt64) -> UInt64 { 2 * pages + 1 << 20 }

  /// The snapshot that a meta page describes; nil if the page is damaged.
  @unsafe init?(meta page: UnsafeRawPointer, of extent: DataMap.Extent, shift: Int) {
    free = unsafe Tree(page + Field.free)
    main = unsafe Tree(page + Field.main)
    lastPage = unsafe page.loadUnaligned(fromByteOffset: Field.lastPage, as: UInt64.self)
    id = unsafe page.loadUnaligned(fromByteOffset: Field.transaction, as: UInt64.self)
    guard lastPage >= 1, lastPage < Self.mostPages(inFileOf: extent.pages) else { return nil }
    let end = min(lastPage + 1, extent.pages)
    table = unsafe PageTable(start: extent.start, end: end, shift: shift)
    guard
      unsafe page.loadUnaligned(fromByteOffset: Field.magic, as: UInt64.self) == Field.mark,
      unsafe page.loadUnaligned(fromByteOffset: Field.pageSize, as: UInt32.self) == 1 << shift,
      free.isPossible(numberKeys: true, end: end), main.isPossible(numberKeys: false, end: end)
    else { return nil }
  }
}

extension Environment {
  /// Gives a slot the pages of its transaction's snapshot. False if only the slow path can find them.
  @inline(__always)
  func hasPages(_ slot: UnsafeMutablePointer<ReaderSlot>, of id: UInt64) -> Bool {
    if unsafe slot.pointee.snapshot.pages.id == id { return true }
    return unsafe loadPages(slot, of: id)
  }

  /// The meta page of a commit is written over by the commit after the next. As long as this commit is the newest one
  /// after its page was read, that has not begun.
  @inline(never)
  private func loadPages(_ slot: UnsafeMutablePointer<ReaderSlot>, of id: UInt64) -> Bool {
    do throws(LMDBError) {
      guard let pages = try snapshotPages(of: id), meta.lastTransaction == id else { return false }
      unsafe slot.pointee.snapshot.show(pages)
      return true
    } catch {
      return false
    }
  }

  /// The snapshot of a commit; nil if its meta page is damaged or already another commit's.
  ///
  /// - Parameter fileSize: the size of the data file, if the caller has just asked for it.
  func snapshotPages(of id: UInt64, fileSize: Int? = nil) throws(LMDBError) -> SnapshotPages? {
    guard let dataMap else { return .unreadable(id) }
    let pages = try unsafe SnapshotPages(
      meta: meta.address(of: id), of: dataMap.extent(fileSize: fileSize), shift: dataMap.shift)
    return pages?.id == id ? pages : nil
  }

  /// Gives a slot the pages of its renewed transaction's snapshot, and returns the transaction's number.
  ///
  /// A commit that was written but not published leaves the one before as the newest that reads may see. Its page is
  /// whole if renewing the transaction once more, after the page was read, leads to the same commit.
  func pagesSlowly(
    _ slot: UnsafeMutablePointer<ReaderSlot>, _ transaction: OpaquePointer
  ) throws(LMDBError) -> UInt64 {
    var id = UInt64(truncatingIfNeeded: unsafe mdb_txn_id(transaction))
    for _ in 0..<1000 {
      if unsafe hasPages(slot, of: id) { return id }
      let pages = try snapshotPages(of: id)
      unsafe mdb_txn_reset(transaction)
      try check(unsafe mdb_txn_renew(transaction))
      let next = UInt64(truncatingIfNeeded: unsafe mdb_txn_id(transaction))
      if next == id {
        guard let pages else { throw .damagedPage }
        unsafe slot.pointee.snapshot.show(pages)
        return id
      }
      id = next
    }
    throw .damagedPage
  }

  /// Checks the pages on the paths to the named databases and the durability level, before LMDB reads them.
  ///
  /// ``QuickCheck`` checks more, for a file that no process has open.
  static func checkPaths(
    _ handle: OpaquePointer, in files: StoreFiles, names: [String]
  ) -> Int32 {
    // A writer may be writing over the meta page that is read. Then the next attempt sees a newer commit.
    for _ in 0..<50 {
      let code = unsafe checkPathsOnce(handle, in: files, names: names)
      if code != EAGAIN { return code }
      backOff(microseconds: 1000)
    }
    return LMDBError.damagedPage.code
  }

  /// - Returns: EAGAIN if the transaction's meta page is incomplete.
  private static func checkPathsOnce(
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
