import LMDB
import LarderSystem

struct CommitMode {
  /// Whether the body may run again after a rollback. The closure of a caller runs only once.
  var mayRepeat = true
  /// Whether the transaction also removes invalidated and expired entries. False for a purge and an invalidation, which count
  /// such entries themselves, and for commits that a read, a repair or another write needs.
  var cleansUp = true
  /// The longest wait for other writers, including those of this process; nil means the lock timeout of the store.
  var lockTimeout: Duration?
  /// Whether the body may take long or read many keys. Then a separate commit first stores the records of the write buffer, and
  /// no process appends to the buffer until the body has run.
  var needsEmptyBuffer = false
  /// Whether processes may append to the buffer during the transaction. Only for a transaction without changes of its own.
  var keepsAppending = false

  static let standard = CommitMode()
  static let once = CommitMode(mayRepeat: false, needsEmptyBuffer: true)
  static let readingMany = CommitMode(needsEmptyBuffer: true)
  static let withoutCleanup = CommitMode(cleansUp: false)
  static func background(lockTimeout: Duration) -> CommitMode {
    CommitMode(lockTimeout: lockTimeout, keepsAppending: true)
  }
}

enum RolledBack: Error {
  case fileLimitChanged(to: Int?)
  case checkpointWanted
  case roomWanted
  case outOfPages(taken: Int)
  case memberFailed(index: Int)
  case memberCancelled
  case recordUnstorable(offset: Int, generation: UInt64)
}

extension StoreEngine {
  /// Runs `body` in a transaction on this thread. Throws ``LarderError/Code/insideWrite`` inside another write of the thread.
  func commit<Result>(
    _ mode: CommitMode = .standard, _ body: (inout WriteBatch) throws -> Result
  ) throws(LarderError) -> Result {
    // Closing and timers set a time limit and must not wait for the writes of loads. All other commits wait for these writes.
    if mode.lockTimeout == nil { awaitLoadWrites() }
    return try typed { try commitRethrowing(mode, body) }
  }

  /// Like ``commit(_:_:)``, for a body that runs code of the user. An error of that code is thrown unchanged, as is the rollback
  /// of a group. If necessary, makes room within the disk limit and runs the transaction again.
  func commitRethrowing<Result>(
    _ mode: CommitMode, _ body: (inout WriteBatch) throws -> Result
  ) throws -> Result {
    try checkNotWriting("writing to")
    var room = PageReclaimer(engine: self, mayRepeat: mode.mayRepeat)
    var lost = LostRecords()
    // A transaction that failed before its body ran can run again, even if the body may run only once.
    var hasRun = false
    while true {
      do {
        return try attempt(mode, with: room, without: lost) { batch in
          hasRun = true
          return try body(&batch)
        }
      } catch let rolledBack as RolledBack {
        switch rolledBack {
        case .fileLimitChanged(let limit): environment.setFileLimit(limit)
        case .checkpointWanted: try room.checkpoint()
        case .roomWanted: try room.prepare()
        case .outOfPages(let pages):
          try room.make(after: pages, mayRepeat: mode.mayRepeat || !hasRun)
        case .recordUnstorable(let offset, let generation): lost.insert(offset, of: generation)
        case .memberFailed, .memberCancelled: throw rolledBack
        }
      }
    }
  }

  /// Runs one transaction with the waiting work of this process. Throws ``RolledBack`` if the transaction may have to run
  /// again. `room` is nil if no more room can be prepared; `lost` has the records of the write buffer that cannot be stored.
  func attempt<Result>(
    _ mode: CommitMode, with room: PageReclaimer? = nil, without lost: LostRecords = LostRecords(),
    _ body: (inout WriteBatch) throws -> Result
  ) throws -> Result {
    var effects = BatchEffects()
    var thrown: (any Error)?
    var (isOverdrawn, pages) = (false, 0)
    var buffered = BufferHold(reader.buffer, without: lost)
    var attempted: UInt64 = 0
    // The number of a transaction that only stored records of the write buffer, so that another transaction runs `body`.
    var recordsID: UInt64?
    do {
      // `ended` is a closure in the call, because a local function would need an allocation for each variable that it uses.
      let result = try environment.write(
        waitingAtMost: mode.lockTimeout,
        ended: { newest in
          // Must run under `lock.write`: without the lock, another process may prepare changes with the same target, which must
          // stay, or replace the ring by a copy, which may lack a new gap.
          if let changes = effects.changes, newest < changes.transaction { changes.discard() }
          if effects.hasUnrecordedChanges, newest == attempted { changes.recordGap() }
          // Since the removal, another process may have made the file again, and begun a load.
          if effects.lacksRemoval { removalTable.discard() }
          buffered.end(newest: newest, in: environment, keepsFrozen: recordsID != nil)
          guard recordsID == newest else { return false }
          effects.confirm(in: self)
          effects = BatchEffects()
          recordsID = nil
          KillPoint.pass(15)
          return true
        },
        { transaction -> Result? in
          let ledger = try writes.committed.begin(transaction, seal)
          let id = transaction.id
          (attempted, recordsID) = (id, nil)
          var batch = WriteBatch(transaction, ledger, engine: self)
          do {
            let result = try batch.run(mode, room, &buffered, on: id - 1, body)
            if case nil = result { recordsID = id }
            effects = batch.session.effects
            pages = batch.session.pagesTaken
            writes.committed.keep(
              batch.session.ledger.next, ofWrite: batch.session.transaction.serial)
            transaction = batch.end()
            return result
          } catch {
            effects = batch.session.effects
            thrown = (error as? LMDBError).map { self.error($0) } ?? error
            isOverdrawn = batch.session.budget.isOverdrawn
            pages = batch.session.pagesTaken
            let cause = batch.session.transaction.failure?.cause
            transaction = batch.end()
            // LMDB's own error goes back to the LMDB layer, which must know that the map is full or the environment is broken.
            throw cause ?? error
          }
        })
      effects.confirm(in: self)
      if !mode.mayRepeat { PageReclaimer.noteSuccess(pages, in: self) }
      if effects.orphans > 0, mode.cleansUp { removeRemainingOrphans(effects.orphans) }
      return result!
    } catch {
      effects.rollBack(in: self)
      if let rolledBack = thrown as? RolledBack { throw rolledBack }
      let cause = error as? LMDBError
      if isOverdrawn || (cause == .mapFull && environment.fileLimit != nil) {
        if thrown.map({ $0 is LarderError }) ?? true { throw RolledBack.outOfPages(taken: pages) }
        // The caller gets the error of the body. If repeated, the batch has more free pages, except if a read keeps the pages.
        if (try? environment.blockingReader()) == nil { PageReclaimer.note(pages, in: self) }
      }
      throw thrown ?? cause.map { self.error($0) } ?? error
    }
  }

  /// Removes the dependents that a write has left, some in each transaction. Without pages, evicts and waits for readers.
  private func removeRemainingOrphans(_ count: UInt64) {
    var left = count
    do {
      // Each transaction removes some dependents after this closure has read their number. So the last transaction reads 0.
      while left > 0 { left = try commitRethrowing(.withoutCleanup) { $0.session.state.orphans } }
    } catch {
      // The write itself is committed, so its caller gets no error. The next writer continues, and reports a lasting error.
    }
  }
}

extension WriteBatch {
  /// A commit does one share of the cleanup for itself and one for each record of the write buffer, but at most this number.
  private static let mostShares = 16

  /// Stores the records of the write buffer, runs `body`, and does a limited share of the cleanup after reads and removals. If
  /// `body` needs an empty buffer but there were records, does not run `body` and returns nil.
  fileprivate mutating func run<Result>(
    _ mode: CommitMode, _ room: PageReclaimer?, _ buffered: inout BufferHold,
    on commit: UInt64, _ body: (inout WriteBatch) throws -> Result
  ) throws -> Result? {
    let engine = session.engine
    let limits = try session.settings().limits
    session.budget = SpaceBudget(limits: limits)
    guard limits.disk == engine.environment.fileLimit
    else { throw RolledBack.fileLimitChanged(to: limits.disk) }
    try session.measureDisk()
    if let room, let disk = session.budget.disk {
      if room.mayAskForCheckpoint, session.wantsCheckpoint { throw RolledBack.checkpointWanted }
      if disk.available < room.wanted { throw RolledBack.roomWanted }
    }
    let count = try buffered.begin(&session, on: commit, keepsAppending: mode.keepsAppending)
    let shares = min(1 + count, Self.mostShares)
    let storesRecords = mode.needsEmptyBuffer && buffered.hasRecords
    try buffered.evictAhead(&session)
    // Near the disk limit only separate commits write access times, so that no batch fails.
    if session.budget.disk == nil { try session.flushAccessTimes(StoreEngine.usesPerWrite) }
    let result = storesRecords ? nil : try body(&self)
    if mode.cleansUp, !storesRecords {
      let limit = min(shares * BatchEffects.expirationsPerWrite, session.removalsWithPages)
      try session.removePendingExpirations(limit: limit)
      if session.removalsWithPages > 0 {
        try session.resumeFirstInvalidation(
          limit: min(shares * TagInvalidation.perWrite, session.removalsWithPages))
      }
    }
    try GarbageCollector.reclaim(
      limit: min(shares * GarbageCollector.perWrite, session.removalsWithPages), &session)
    try session.removeOrphans()
    for index in 0..<OrphanQueue.perBatch {
      guard session.state.orphans > 0, session.orphans.left > 0, session.orphans.waiting.isEmpty,
        session.removalsWithPages > 0 || (index == 0 && !mode.cleansUp)
      else { break }
      try session.loadOrphans()
      try session.removeOrphans()
    }
    try session.mergeReadCounters()
    try session.finish()
    buffered.note(session)
    session.changes?.prepare()
    session.effects.changes = session.changes
    if session.state.watched == 0 { session.effects.hasUnrecordedChanges = false }
    session.effects.entries = session.state.entries
    session.effects.orphans = session.state.orphans
    return result
  }
}

extension Store {
  /// Makes several changes together: all become visible at the same moment, or none does if `body` throws.
  ///
  /// `body` runs once, on the calling thread. The call waits for other writers, of this or another process, but at most for
  /// ``Options/lockTimeout``. `body` must not wait for another thread or task that writes to the store: that thread waits for
  /// the end of `body`, and after the timeout gets ``LarderError/Code/busy``.
  ///
  /// - Throws: the error of `body`. ``LarderError/Code/insideWrite`` inside another write of the store.
  ///   ``LarderError/Code/busy`` if another writer keeps the lock too long. ``LarderError/Code/full`` if the disk limit leaves
  ///   too few pages for the batch. In this case entries were evicted to make room, so the caller can try again.
  public func write<Result>(_ body: (inout WriteBatch) throws -> Result) throws -> Result {
    try checkWritable()
    engine.awaitLoadWrites()
    engine.writes.queue.beginDirectWrite()
    defer { engine.writes.queue.endDirectWrite() }
    return try engine.commitRethrowing(.once, body)
  }

  /// Runs a write that shares its commit with other writes; see ``write(_:)``.
  package func commit<Result: Sendable>(
    size: Int = 0, _ body: @escaping @Sendable (inout WriteBatch) throws -> Result
  ) async throws -> Result {
    try checkWritable()
    return try await engine.commit(SharedWrite(size: size, body: body))
  }
}
