import CLMDB
import LarderSystem
import Synchronization

extension Environment {
  /// Needs no lock, allocation or system call once the pool is filled. The caller keeps the environment alive during the read.
  @inline(__always)
  package func beginRead() throws(LMDBError) -> ReadTransaction {
    if !handle.isOpen { throw handle.phaseError }
    if let slot = unsafe handle.readers.acquire() {
      if let transaction = unsafe slot.pointee.transaction, unsafe mdb_txn_renew(transaction) == 0,
        case let id = UInt64(truncatingIfNeeded: unsafe mdb_txn_id(transaction)),
        id <= handle.meta.lastTransaction,
        unsafe snapshots.hasPages(slot, of: id)
      {
        return unsafe ReadTransaction(slot: slot, handle: transaction)
      }
      unsafe handle.readers.abandon(slot)
    }
    return try beginReadSlowly()
  }

  /// The number of the newest commit of any process, in about 2 ns and without a transaction. 0 after closing.
  ///
  /// A snapshot that begins after this call may be one commit older until the writer publishes the commit, or until the next
  /// write if the writer was killed just before that. ``ReadTransaction/id`` is the commit that a snapshot shows.
  package var lastTransaction: UInt64 {
    @inline(__always) get { handle.isOpen ? handle.meta.lastTransaction : 0 }
  }

  /// Begins a read if the slot has no transaction, the map is smaller than the file, or the reader table is full.
  @inline(never)
  private func beginReadSlowly() throws(LMDBError) -> ReadTransaction {
    let deadline = ContinuousClock.now + handle.lockTimeout
    var hasCleared = false
    while true {
      do throws(LMDBError) {
        if let transaction = try beginReadOnce() { return transaction }
        backOff()
      } catch .readersFull where !hasCleared {
        hasCleared = true
        try readerTable.clearDead()
      } catch .mapResized {
        // A writer of this process may resize the map at the same time, so this loop tries again and does not wait.
        if try !mapSize.adopt(lockTimeout: .milliseconds(10)) {
          if ContinuousClock.now > deadline { throw .mapHeld }
          backOff()
        }
      } catch .panic {
        handle.noteBroken()
        throw .panic
      }
    }
  }

  /// Nil while the pool is closed to readers.
  private func beginReadOnce() throws(LMDBError) -> ReadTransaction? {
    if !handle.isOpen { throw handle.phaseError }
    guard let slot = unsafe handle.readers.acquire() else { return nil }
    do throws(LMDBError) {
      // While the slot is held, no thread can close the environment.
      if !handle.isOpen { throw handle.phaseError }
      let transaction = try unsafe renew(slot)
      // A snapshot newer than the file's newest commit: another program changed lock.mdb, and writers may overwrite its pages.
      // An older snapshot is consistent: the newest commit is not published yet, or its writer was killed before that.
      if unsafe UInt64(truncatingIfNeeded: mdb_txn_id(transaction)) > handle.meta.lastTransaction {
        throw LMDBError.lockMismatch
      }
      try unsafe snapshots.findPages(slot, transaction)
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
}

extension Environment {
  /// Runs `body` in the environment's only write transaction and commits the transaction; an error from `body` rolls it back.
  ///
  /// Waits for other writers of this process until one of them has kept the lock for the environment's lock timeout, then for
  /// writers of other processes, at most for that timeout. The same thread may read meanwhile; a write there throws
  /// ``LMDBError/insideWrite``. After ``LMDBError/mapFull`` a repeated write may succeed: each write first adapts the map.
  ///
  /// - Parameters:
  ///   - bound: a lock timeout for this write; it also limits the wait for this process's other writers.
  ///   - ended: called with the newest commit after the transaction has ended, while no other process can begin one. If it
  ///     returns true, `body` runs again, in a transaction of its own, before any other writer.
  package func write<Result>(
    waitingAtMost bound: Duration? = nil, ended: (UInt64) -> Bool = { _ in false },
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    if !handle.isOpen { throw handle.phaseError }
    if handle.writer.isMine { throw LMDBError.insideWrite }
    if let bound {
      guard handle.writer.enter(lockTimeout: bound) else { throw LMDBError.busy }
    } else {
      try handle.enterWriter()
    }
    defer { handle.writer.leave() }
    let result = try writeLocked(lockTimeout: bound ?? handle.lockTimeout, ended, body)
    syncing.checkpoints?.makeWithoutTimer()
    return result
  }

  /// The caller owns the writer lock.
  private func writeLocked<Result>(
    lockTimeout: Duration, _ ended: (UInt64) -> Bool,
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    if !handle.isOpen { throw handle.phaseError }
    if writeGuard.damage != nil { throw LMDBError.damagedPage }
    try mapSize.prepare()
    try syncing.checkpoints?.prepareWrite(lockTimeout: lockTimeout)
    try handle.locks.write.wait(lockTimeout: lockTimeout)
    defer { handle.locks.write.release() }
    while true {
      let (result, runsAgain) = try runTransaction(ended, body)
      if !runsAgain { return result }
    }
  }

  /// The caller owns `lock.write`, too.
  private func runTransaction<Result>(
    _ ended: (UInt64) -> Bool, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> (Result, runsAgain: Bool) {
    do {
      let fileSize = try unsafe files.check(handle.pointer)
      try mapSize.fit()
      try syncing.scratch?.markDirty()
      handle.readers.enterWriter()
      defer { handle.readers.leaveWriter() }
      let result = try commitTransaction(fileSize: fileSize, body)
      syncing.checkpoints?.noteCommit()
      return (result, ended(handle.meta.lastTransaction))
    } catch {
      if error as? LMDBError == .mapFull { mapSize.noteFull() }
      if error as? LMDBError == .panic { handle.noteBroken() }
      _ = ended(handle.meta.lastTransaction)
      throw error
    }
  }

  private func commitTransaction<Result>(
    fileSize: Int, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    var transaction = try beginWrite()
    let (id, serial) = (transaction.id, transaction.serial)
    try beginGuarding(id, fileSize: fileSize)
    let result = try body(&transaction)
    // A child that `body` forked also returns here and must not commit.
    if isForked { throw LMDBError.forked }
    // `body` may have caught the error.
    if writeGuard.damage != nil { throw LMDBError.damagedPage }
    do throws(LMDBError) {
      try transaction.commit()
    } catch {
      throw error.explained(writing: handle.files.data)
    }
    // A transaction without changes makes no commit. Then another process may make the commit with this number.
    if handle.meta.lastTransaction == id { writeGuard.noteCommit(id, serial: serial) }
    return result
  }

  private func beginWrite() throws(LMDBError) -> WriteTransaction {
    // Only damage since the opening can make the number so large.
    guard handle.meta.lastTransaction <= Int64.max else { throw .damagedPage }
    let expected = handle.meta.lastTransaction + 1
    var transaction: OpaquePointer?
    let code = unsafe mdb_txn_begin(handle.pointer, nil, 0, &transaction)
    // The map was adapted to the file, and no other process can make the file larger now.
    if code == MDB_MAP_RESIZED { throw .damagedPage }
    try check(code)
    let begun = unsafe WriteTransaction(handle: transaction!, environment: self)
    // No other process commits while this process holds `lock.write`. Any other number means that the lock file lost its
    // contents or that a program writes without Larder's locks. (If a writer was killed before it published its commit, LMDB
    // notices the death and takes the number from the data file.)
    if begun.id != expected { throw .lockMismatch }
    return begun
  }

  /// Gives the guard the commit on which write `id` begins. No other write can begin or end meanwhile.
  private func beginGuarding(_ id: UInt64, fileSize: Int) throws(LMDBError) {
    guard let pages = try snapshots.pages(of: id - 1, fileSize: fileSize) else {
      return try writeGuard.checking { () throws(PageDamage) in
        throw PageDamage(page: (id - 1) % 2, reason: "the meta page of commit \(id - 1)")
      }
    }
    try writeGuard.checking { () throws(PageDamage) in try writeGuard.begin(pages) }
  }
}
