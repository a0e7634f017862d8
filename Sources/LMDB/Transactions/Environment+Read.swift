import CLMDB
import LarderSystem

extension Environment {
  /// Begins a read where the quick way did not lead through: a slot without a transaction, a map that another process
  /// outgrew, a full reader table.
  @inline(never)
  func beginReadSlowly() throws(LMDBError) -> ReadTransaction {
    let deadline = ContinuousClock.now + lockTimeout
    var cleared = false
    while true {
      do throws(LMDBError) {
        if let transaction = try beginReadOnce() { return transaction }
        backOff()
      } catch .readersFull where !cleared {
        cleared = true
        try clearDeadReaders()
      } catch .mapResized {
        // A writer of this process may adopt the size at the same moment, so it is tried again and not waited for.
        if try !adoptMapSize(lockTimeout: .milliseconds(10)), ContinuousClock.now > deadline {
          throw .mapHeld
        }
      } catch .panic {
        noteBroken()
        throw .panic
      }
    }
  }

  /// Nil while the pool is shut.
  private func beginReadOnce() throws(LMDBError) -> ReadTransaction? {
    if !isOpen { throw phaseError }
    guard let slot = unsafe readers.acquire() else { return nil }
    do throws(LMDBError) {
      // Only now is it certain that nobody closes the environment meanwhile.
      if !isOpen { throw phaseError }
      let transaction = try unsafe renew(slot)
      try unsafe checkAge(of: transaction)
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
    return unsafe transaction!
  }

  /// A view newer than the data file's newest commit is one of the other meta page under a wrong number: lock.mdb was
  /// changed by somebody else, and what is read could be overwritten at any time.
  ///
  /// An older one is consistent and needs nothing: its commit was not acknowledged yet, or never will be because the
  /// writer was killed between the commit and its publication. Renewing would only find the same number again.
  private func checkAge(of transaction: OpaquePointer) throws(LMDBError) {
    if UInt64(unsafe mdb_txn_id(transaction)) > meta.lastTransaction { throw .lockMismatch }
  }
}
