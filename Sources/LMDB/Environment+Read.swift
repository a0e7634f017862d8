import CLMDB

extension Environment {
  /// Begins a read where the quick way did not lead through: a slot without a transaction, a map that another process
  /// outgrew, a full reader table.
  @inline(never)
  func beginReadSlowly() throws(LMDBError) -> ReadTransaction {
    var attempts = 0
    while true {
      if !isOpen { throw phaseError }
      guard let slot = unsafe readers.acquire() else {
        pause()
        continue
      }
      do throws(LMDBError) {
        let transaction = try unsafe renew(slot)
        return unsafe ReadTransaction(slot: slot, handle: transaction)
      } catch {
        unsafe ReaderPool.release(slot)
        attempts += 1
        if attempts > 3 { throw error }
        switch error {
        case .readersFull: try clearDeadReaders()
        case .mapResized: try adoptMapSize()
        default: throw error
        }
      }
    }
  }

  private func renew(_ slot: UnsafeMutablePointer<ReaderSlot>) throws(LMDBError) -> OpaquePointer {
    if let transaction = unsafe slot.pointee.transaction {
      try check(unsafe mdb_txn_renew(transaction))
      return unsafe transaction
    }
    var transaction: OpaquePointer?
    try check(unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction))
    unsafe slot.pointee.transaction = transaction
    return unsafe transaction!
  }

  /// Frees the reader slots of processes that are gone; their snapshots no longer keep pages from being used again.
  @discardableResult
  package func clearDeadReaders() throws(LMDBError) -> Int {
    var dead: Int32 = 0
    try check(unsafe mdb_reader_check(handle, &dead))
    return Int(dead)
  }
}
