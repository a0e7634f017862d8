import CLMDB
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

  /// The snapshot that a meta page describes; nil if the page is damaged.
  @unsafe init?(meta page: UnsafeRawPointer, of extent: DataMap.Extent, shift: Int) {
    free = unsafe Tree(page + Field.free)
    main = unsafe Tree(page + Field.main)
    lastPage = unsafe page.loadUnaligned(fromByteOffset: Field.lastPage, as: UInt64.self)
    id = unsafe page.loadUnaligned(fromByteOffset: Field.transaction, as: UInt64.self)
    // Pages that the file lacks at its end are free; there are never as many as this.
    guard lastPage >= 1, lastPage <= 2 * extent.pages + 1 << 20 else { return nil }
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
}
