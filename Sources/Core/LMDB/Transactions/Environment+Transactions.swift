import CLMDB
import LarderSystem
import Synchronization

extension Environment {
  /// Begins a read, without lock, allocation or system call if a free slot has a transaction. The caller keeps `self` alive.
  @inline(__always)
  package func beginRead() throws(LMDBError) -> ReadTransaction {
    if !handle.isOpen { throw handle.phaseError }
    if let slot = unsafe handle.readers.acquire() {
      if let transaction = unsafe slot.pointee.transaction, unsafe mdb_txn_renew(transaction) == 0,
        case let id = UInt64(truncatingIfNeeded: unsafe mdb_txn_id(transaction)),
        id <= handle.data.lastTransaction, unsafe handle.data.hasPages(slot, of: id)
      {
        return unsafe ReadTransaction(slot: slot, handle: transaction)
      }
      unsafe handle.readers.abandon(slot)
    }
    return try beginReadSlowly()
  }

  /// The number of the newest commit of any process; 0 after closing. Takes about 2 ns and no transaction.
  ///
  /// A snapshot that begins after this call may be older by one commit, until the writer publishes that commit. If the writer
  /// was killed first, that lasts until the next write. ``ReadTransaction/id`` is the commit that a snapshot shows.
  @inline(__always)
  package var lastTransaction: UInt64 { handle.isOpen ? handle.data.lastTransaction : 0 }

  /// The newest commit that snapshots show, see ``lastTransaction``; 0 if no snapshot can begin.
  package var newestVisible: UInt64 {
    do throws(LMDBError) { return try beginRead().id } catch { return 0 }
  }

  /// Begins a read, also if the slot has no transaction, the map is smaller than the file, or the reader table is full.
  @inline(never)
  private func beginReadSlowly() throws(LMDBError) -> ReadTransaction {
    let deadline = SuspendingClock.now + handle.lockTimeout
    var hasCleared = false
    while true {
      do throws(LMDBError) {
        if let transaction = try beginReadOnce() { return transaction }
        backOff()
      } catch .readersFull where !hasCleared {
        hasCleared = true
        try readerTable.clearDead()
      } catch .mapResized {
        // A writer of this process may also be resizing the map, so this call waits only briefly, and the loop tries again.
        if try !mapSize.adopt(lockTimeout: .milliseconds(10)) {
          if SuspendingClock.now > deadline { throw .mapHeld }
          backOff()
        }
      } catch .panic {
        handle.noteBroken()
        throw .panic
      }
    }
  }

  /// Nil if the pool of read transactions is closed now.
  private func beginReadOnce() throws(LMDBError) -> ReadTransaction? {
    if !handle.isOpen { throw handle.phaseError }
    guard let slot = unsafe handle.readers.acquire() else { return nil }
    do throws(LMDBError) {
      // While this slot is taken, no thread can close the environment. But another thread may have closed it before.
      if !handle.isOpen { throw handle.phaseError }
      let transaction = try unsafe renew(slot)
      // Without the fence, an ARM processor may read the number of the newest commit before LMDB reads the number of the snapshot.
      atomicMemoryFence(ordering: .acquiring)
      // If the snapshot is newer than the file's newest commit, another program has changed lock.mdb, and writers may overwrite
      // pages of the snapshot. An older snapshot is consistent: the newest commit is not published, or its writer was killed.
      if unsafe UInt64(truncatingIfNeeded: mdb_txn_id(transaction)) > handle.data.lastTransaction {
        throw LMDBError.lockMismatch
      }
      let pages = try unsafe handle.data.pages(of: transaction)
      unsafe slot.pointee.snapshot.show(pages)
      return unsafe ReadTransaction(slot: slot, handle: transaction)
    } catch {
      unsafe handle.readers.abandon(slot)
      throw error
    }
  }

  private func renew(_ slot: UnsafeMutablePointer<ReaderSlot>) throws(LMDBError) -> OpaquePointer {
    if let transaction = unsafe slot.pointee.transaction {
      try check(unsafe mdb_txn_renew(transaction))
      return unsafe transaction
    }
    let transaction = try unsafe handle.beginReading()
    unsafe slot.pointee.transaction = transaction
    readerTable.scheduleSweep()
    return unsafe transaction
  }

  /// Runs `body` in the environment's only write transaction and then commits. If `body` throws, rolls the transaction back.
  ///
  /// First waits for other writers of this process, until one of them has kept the lock for the environment's lock timeout.
  /// Then waits for writers of other processes, at most for that timeout. Inside `body` the thread may read, but another write
  /// throws ``LMDBError/insideWrite``. After ``LMDBError/mapFull`` a new try may succeed: each write first adapts the map.
  ///
  /// - Parameters:
  ///   - bound: a lock timeout only for this write. The bound also limits the wait for other writers of this process.
  ///   - ended: called after the transaction, with the newest commit, before another process can begin a transaction. If the
  ///     result is true, `body` runs again in another transaction, before any other writer.
  package func write<Result>(
    waitingAtMost bound: Duration? = nil, ended: (UInt64) -> Bool = { _ in false },
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    let lockTimeout = bound ?? handle.lockTimeout
    try handle.enterWriter(waitingAtMost: bound)
    defer {
      checkpoints?.makeWithoutTimer(lockTimeout: lockTimeout)
      handle.writer.leave()
    }
    if !handle.isOpen { throw handle.phaseError }
    if writeGuard.damage != nil { throw LMDBError.damagedPage }
    try mapSize.prepare()
    try checkpoints?.prepareWrite(lockTimeout: lockTimeout)
    try handle.locks.write.wait(lockTimeout: lockTimeout)
    defer { handle.locks.write.release() }
    while true {
      let (result, runsAgain) = try runTransaction(ended, body)
      if !runsAgain { return result }
    }
  }

  /// Runs one transaction. The caller owns the writer lock and `lock.write`.
  private func runTransaction<Result>(
    _ ended: (UInt64) -> Bool, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> (Result, runsAgain: Bool) {
    do {
      let fileSize = try unsafe files.check(handle.pointer)
      try mapSize.fit()
      try scratch?.markDirty()
      handle.readers.enterWriter()
      defer { handle.readers.leaveWriter() }
      if checkpoints == nil { readerTable.clearDeadIfDue() }
      let result = try commitTransaction(fileSize: fileSize, body)
      checkpoints?.noteCommit()
      return (result, ended(handle.data.lastTransaction))
    } catch {
      if error as? LMDBError == .mapFull { mapSize.noteFull() }
      if error as? LMDBError == .panic { handle.noteBroken() }
      _ = ended(handle.data.lastTransaction)
      throw error
    }
  }

  private func commitTransaction<Result>(
    fileSize: Int, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    var transaction = try beginWrite()
    let (id, serial) = (transaction.id, transaction.serial)
    // The guard checks the commit on which this write is based. No other process can make a commit now.
    let pages = try handle.data.pages(of: id - 1, fileSize: fileSize)
    try writeGuard.checking { () throws(PageDamage) in
      guard let pages else {
        throw PageDamage(page: (id - 1) % 2, reason: "the meta page of commit \(id - 1)")
      }
      try writeGuard.begin(pages)
    }
    let result = try body(&transaction)
    // If `body` has forked, the child process also runs this line, and the child must not commit.
    if isForked { throw LMDBError.forked }
    // A change may have found damage and thrown an error that `body` has caught. Then nothing is committed.
    if writeGuard.damage != nil { throw LMDBError.damagedPage }
    do throws(LMDBError) { try transaction.commit() } catch {
      throw error.explained(writing: handle.files.data)
    }
    // If nothing has changed, LMDB makes no commit, and then another process may make the commit with this number.
    if handle.data.lastTransaction == id { writeGuard.ownCommit = (id, serial) }
    return result
  }

  private func beginWrite() throws(LMDBError) -> WriteTransaction {
    // The number can be larger than this only if the file was damaged after the opening.
    guard handle.data.lastTransaction <= Int64.max else { throw .damagedPage }
    let expected = handle.data.lastTransaction + 1
    var transaction: OpaquePointer?
    let code = unsafe mdb_txn_begin(handle.pointer, nil, 0, &transaction)
    // The map was already adapted to the file, and no other process can make the file larger now. So the file is damaged.
    if code == MDB_MAP_RESIZED { throw .damagedPage }
    try check(code)
    let begun = unsafe WriteTransaction(handle: transaction!, environment: self)
    // While this process holds `lock.write`, no other process commits. So if the number is different, the lock file has lost
    // its contents, or another program writes without Larder's locks. (If a writer was killed before it published its commit,
    // LMDB finds that out and takes the number from the data file.)
    if begun.id != expected { throw .lockMismatch }
    return begun
  }
}
