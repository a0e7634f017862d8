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
      try locks.readers.withLock(lockTimeout: options.lockTimeout) { () throws(LMDBError) in
        try ReaderTable.freeSlots(of: process, in: table)
      }
      return false
    }
    if isTaken { throw OpenError(.sameProcessID, path: files.directory, detail: "\(process)") }
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
  /// The slots follow two headers, each of which is as long as a slot.
  private static let firstSlot = 2 * slotSize
  static let fileSize = firstSlot + size * slotSize

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
