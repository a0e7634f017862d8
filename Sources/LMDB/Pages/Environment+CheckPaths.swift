import CLMDB
import CLarderSystem
import LarderSystem

extension Environment {
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
