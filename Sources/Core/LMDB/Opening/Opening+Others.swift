import CLMDB
import CLarderSystem
import LarderSystem

/// Finds a process in another container, if its id is the id of this process. LMDB cannot tell two such processes apart.
extension Opening {
  /// Throws if another process with the id of this process has the environment open. Otherwise frees the slots of a dead
  /// process with this id, because LMDB would never clear these slots.
  ///
  /// The caller holds `lock.opening`, and must not have the environment open: closing lock.mdb would release LMDB's locks.
  func joinOthers() throws(OpenError) {
    let process = getpid()
    let isTaken = try system { () throws(LMDBError) in
      let table = try FileDescriptor(opening: files.lock, O_RDWR | O_NOFOLLOW)
      if try checkErrno({ larder_is_locked(table.number, off_t(process), 1) }) == 1 { return true }
      try checkLayout(of: table)
      try locks.readers.withLock(lockTimeout: options.lockTimeout) { () throws(LMDBError) in
        try ReaderTable.freeSlots(of: process, in: table)
      }
      return false
    }
    if isTaken { throw OpenError(.sameProcessID, path: files.directory, detail: "\(process)") }
  }

  /// Throws if lock.mdb does not have the number of the newest commit at the right place. Then another program has changed a file,
  /// or the other processes run on another kind of processor, with locks of another size, over which LMDB would write.
  private func checkLayout(of table: borrowing FileDescriptor) throws(LMDBError) {
    // Other commits may come between these lines, and a killed writer may not have published the newest commit. If the data file
    // is too short, a later check reports that.
    guard let before = try? MetaImage.newest(of: files.data).transaction else { return }
    // The number of the slots that were ever used follows. The number is not 0, because each opening uses a slot.
    let published = try table.contents(at: ReaderTable.commitPlace, count: 12)
    guard let after = try? MetaImage.newest(of: files.data).transaction else { return }
    guard published.count == 12, published.u32(8) > 0, published.u64(0) <= after,
      published.u64(0) &+ 1 >= before
    else { throw .lockMismatch }
  }

  /// Shortens a lock file that is longer than the reader table, because LMDB would map the whole file. No other process uses it.
  func cutLockFile() throws(OpenError) {
    guard let status = FileStatus.of(files.lock), status.st_size > ReaderTable.fileSize else {
      return
    }
    try OpenError.wrapping(path: files.lock) { () throws(LMDBError) in
      try FileDescriptor(opening: files.lock, O_RDWR | O_NOFOLLOW).truncate(ReaderTable.fileSize)
    }
  }
}

extension ReaderTable {
  private static let slotSize = 64
  /// Two headers precede the slots. Each header has a lock and fills whole slots (`mdb.c`: MDB_txninfo).
  private static let firstSlot = filled(20 + clmdb_lock_size()) + filled(clmdb_lock_size())
  private static func filled(_ count: Int) -> Int { (count + slotSize - 1) / slotSize * slotSize }
  /// The place of the number of the newest commit (`mdb.c`: mtb_txnid).
  package static let commitPlace = 8 + clmdb_lock_size()
  package static let fileSize = firstSlot + size * slotSize

  /// Frees the slots of an ended process: like LMDB, sets the process id to 0. The caller holds `lock.readers`. A slot has the
  /// number of its commit in bytes 0 to 7 and the id of its process in bytes 8 to 11 (`mdb.c`: MDB_rxbody).
  fileprivate static func freeSlots(
    of process: pid_t, in table: borrowing FileDescriptor
  ) throws(LMDBError) {
    let bytes = try table.contents(at: 0, count: fileSize)
    guard bytes.count >= 4, bytes.u32(0) == MetaPage.magic else { return }
    for slot in stride(from: firstSlot, through: bytes.count - slotSize, by: slotSize)
    where bytes.u32(slot + 8) == UInt32(bitPattern: process) {
      try table.write([0, 0, 0, 0], at: slot + 8)
    }
  }
}
