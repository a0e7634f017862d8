import CLMDB
import LarderSystem
import Synchronization

extension Environment {
  /// Begins a snapshot: no lock, no allocation and no system call once the pool of reader slots is filled.
  ///
  /// The caller keeps the environment alive during the read.
  @inline(__always)
  package func beginRead() throws(LMDBError) -> ReadTransaction {
    if !isOpen { throw phaseError }
    if let slot = unsafe readers.acquire() {
      if let transaction = unsafe slot.pointee.transaction, unsafe mdb_txn_renew(transaction) == 0,
        case let id = UInt64(truncatingIfNeeded: unsafe mdb_txn_id(transaction)),
        id <= meta.lastTransaction,
        unsafe hasPages(slot, of: id)
      {
        return unsafe ReadTransaction(slot: slot, handle: transaction)
      }
      unsafe readers.abandon(slot)
    }
    return try beginReadSlowly()
  }

  /// The number of the newest commit by any process; about 2 ns and no transaction. 0 after closing.
  ///
  /// A snapshot that begins after this call may be one commit older: until the writer publishes the commit, or until the
  /// next write if the writer was killed at that point. The content of a snapshot belongs to ``ReadTransaction/id``.
  package var lastTransaction: UInt64 {
    @inline(__always) get { isOpen ? meta.lastTransaction : 0 }
  }

  /// Runs `body` while the map is not moved and the environment is not closed.
  func withMap<Result>(_ body: () throws(LMDBError) -> Result) throws(LMDBError) -> Result {
    while true {
      if !isOpen { throw phaseError }
      guard let slot = unsafe readers.acquire() else {
        backOff()
        continue
      }
      defer { unsafe ReaderPool.release(slot) }
      if !isOpen { throw phaseError }
      return try body()
    }
  }

  /// Begins a read when the fast path is not possible: a slot without a transaction, a file that has grown beyond the
  /// map, a full reader table.
  @inline(never)
  private func beginReadSlowly() throws(LMDBError) -> ReadTransaction {
    let deadline = ContinuousClock.now + lockTimeout
    var hasCleared = false
    while true {
      do throws(LMDBError) {
        if let transaction = try beginReadOnce() { return transaction }
        backOff()
      } catch .readersFull where !hasCleared {
        hasCleared = true
        try clearDeadReaders()
      } catch .mapResized {
        // A writer of this process may resize the map at the same time, so this tries again instead of waiting for it.
        if try !adoptMapSize(lockTimeout: .milliseconds(10)) {
          if ContinuousClock.now > deadline { throw .mapHeld }
          backOff()
        }
      } catch .panic {
        noteBroken()
        throw .panic
      }
    }
  }

  /// Nil while the pool is closed to readers.
  private func beginReadOnce() throws(LMDBError) -> ReadTransaction? {
    if !isOpen { throw phaseError }
    guard let slot = unsafe readers.acquire() else { return nil }
    do throws(LMDBError) {
      // While the slot is held, no thread can close the environment.
      if !isOpen { throw phaseError }
      let transaction = try unsafe renew(slot)
      try unsafe checkAge(of: transaction)
      _ = try unsafe pagesSlowly(slot, transaction)
      return unsafe ReadTransaction(slot: slot, handle: transaction)
    } catch {
      unsafe readers.abandon(slot)
      throw error
    }
  }

  private func renew(_ slot: UnsafeMutablePointer<ReaderSlot>) throws(LMDBError) -> OpaquePointer {
    if let transaction = unsafe slot.pointee.transaction {
      try check(unsafe mdb_txn_renew(transaction))
      return unsafe transaction
    }
    var transaction: OpaquePointer?
    try locks.whileRegistering(lockTimeout: lockTimeout) {
      unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
    }
    unsafe slot.pointee.transaction = transaction
    scheduleSweep()
    return unsafe transaction!
  }

  /// A snapshot newer than the file's newest commit shows the other meta page under a wrong number: another program
  /// changed lock.mdb, and the pages of the snapshot may be overwritten at any time.
  ///
  /// An older snapshot is consistent: its commit is not acknowledged yet, or never will be because the writer was killed
  /// between the commit and its publication. Renewing would give the same number again.
  private func checkAge(of transaction: OpaquePointer) throws(LMDBError) {
    if UInt64(truncatingIfNeeded: unsafe mdb_txn_id(transaction)) > meta.lastTransaction {
      throw .lockMismatch
    }
  }
}
