import LMDB
import LarderSystem

/// The way in which a write transaction runs.
struct CommitMode {
  /// Whether the body may run again. A caller's closure runs only once.
  var mayRepeat = true
  /// Whether the transaction also removes invalidated and expired entries. Off for purge and invalidation, which count such
  /// entries themselves, and for commits that the store makes by itself.
  var cleansUp = true
  /// The wait for other writers, including those of this process; nil for the store's lock timeout.
  var lockTimeout: Duration?
  /// Whether the body may take long or read many keys. Then an own commit first stores the records of the write buffer, and no
  /// process appends before the end of the body.
  var needsEmptyBuffer = false

  static let standard = CommitMode()
  static let once = CommitMode(mayRepeat: false, needsEmptyBuffer: true)
  static let readingMany = CommitMode(needsEmptyBuffer: true)
  static let withoutCleanup = CommitMode(cleansUp: false)
  static func standard(lockTimeout: Duration?) -> CommitMode {
    CommitMode(lockTimeout: lockTimeout)
  }
}

/// Why a transaction was rolled back without an error of its body.
enum RetryReason {
  case fileLimitChanged(to: Int?)
  /// A checkpoint of this process would free scarce pages.
  case checkpointWanted
  /// Fewer pages are free than earlier batches needed.
  case roomWanted
  /// The data file had too few pages, after the batch had taken `taken` pages.
  case outOfPages(taken: Int)
  case memberFailed(index: Int)
  case memberCancelled
  case recordUnstorable(offset: Int, generation: UInt64)
}

struct RolledBack: Error {
  var reason: RetryReason
}

enum CommitOutcome<Result> {
  case committed(Result)
  case rolledBack(RetryReason)
}

extension StoreEngine {
  /// Runs `body` on the calling thread. Throws ``LarderError/Code/insideWrite`` if the thread is inside another write of the
  /// store.
  func commit<Result>(
    _ mode: CommitMode = .standard, _ body: (inout WriteBatch) throws -> Result
  ) throws(LarderError) -> Result {
    // A write with a time limit comes from closing or from a timer, which must not wait for other writes.
    if mode.lockTimeout == nil { awaitLoadWrites() }
    return try typed { try commitRethrowing(mode, body) }
  }

  /// Like ``commit(_:_:)`` for a body that runs a user's code; the errors of that code are thrown as they are.
  func commitRethrowing<Result>(
    _ mode: CommitMode, _ body: (inout WriteBatch) throws -> Result
  ) throws -> Result {
    switch try commitOrRollBack(mode, body) {
    case .committed(let result): return result
    case .rolledBack(let reason):
      throw LarderError(.failed, "\(environment.path): a write was rolled back (\(reason))")
    }
  }

  /// Makes room within the disk limit and repeats the transaction if necessary. Returns rollbacks that only the caller can
  /// handle.
  func commitOrRollBack<Result>(
    _ mode: CommitMode, _ body: (inout WriteBatch) throws -> Result
  ) throws -> CommitOutcome<Result> {
    try checkNotWriting("writing to")
    var room = PageReclaimer(engine: self, mayRepeat: mode.mayRepeat)
    var lost = LostRecords()
    // A transaction that failed before the body can be repeated, even if the body may run only once.
    var hasRun = false
    while true {
      let outcome = try attempt(mode, with: room, without: lost) { batch in
        hasRun = true
        return try body(&batch)
      }
      switch outcome {
      case .committed(let result): return .committed(result)
      case .rolledBack(.fileLimitChanged(let limit)): environment.setFileLimit(limit)
      case .rolledBack(.checkpointWanted): try room.checkpoint()
      case .rolledBack(.roomWanted): try room.prepare()
      case .rolledBack(.outOfPages(let pages)):
        try room.make(after: pages, mayRepeat: mode.mayRepeat || !hasRun)
      case .rolledBack(.recordUnstorable(let offset, let generation)):
        lost.insert(offset, of: generation)
      case .rolledBack(let reason): return .rolledBack(reason)
      }
    }
  }

  /// Runs one transaction, with the items of this process's queues. `room` is nil if no preparation is left; `lost` has the
  /// records of the write buffer that cannot be stored.
  func attempt<Result>(
    _ mode: CommitMode, with room: PageReclaimer? = nil, without lost: LostRecords = LostRecords(),
    _ body: (inout WriteBatch) throws -> Result
  ) throws -> CommitOutcome<Result> {
    var effects = BatchEffects()
    var thrown: (any Error)?
    var (isOverdrawn, pages) = (false, 0)
    var buffered = BufferHold(reader.buffer, without: lost)
    // The number of a transaction that only stores the records; the next transaction runs the body.
    var recordsID: UInt64?
    func end(_ newest: UInt64) -> Bool {
      buffered.end(newest: newest, in: environment, keepsFrozen: recordsID != nil)
      guard recordsID == newest else { return false }
      effects.confirm(in: self)
      effects = BatchEffects()
      recordsID = nil
      KillPoint.pass(15)
      return true
    }
    do {
      let result = try environment.write(waitingAtMost: mode.lockTimeout, ended: end) {
        transaction -> Result? in
        let balance = try writes.committed.begin(transaction, seal)
        let id = transaction.id
        recordsID = nil
        var batch = WriteBatch(transaction, balance, engine: self)
        do {
          let result = try batch.run(mode, room, &buffered, on: id - 1, body)
          if case nil = result { recordsID = id }
          effects = batch.finalEffects
          pages = batch.budget.pagesTaken(batch.session)
          writes.committed.keep(
            batch.session.ledger.balance, ofWrite: batch.session.transaction.serial)
          transaction = batch.end()
          return result
        } catch {
          effects = batch.effects
          effects.removal = batch.session.removals.number
          thrown = (error as? LMDBError).map { self.error($0) } ?? error
          isOverdrawn = batch.budget.isOverdrawn
          pages = batch.budget.pagesTaken(batch.session)
          let cause = batch.session.transaction.failure?.cause
          transaction = batch.end()
          // LMDB's own error goes back to its layer, which then knows that the map is full or the environment is broken.
          throw cause ?? error
        }
      }
      effects.confirm(in: self)
      if effects.orphans > 0, mode.cleansUp { removeRemainingOrphans(effects.orphans) }
      return .committed(result!)
    } catch {
      effects.rollBack(in: self)
      if let rolledBack = thrown as? RolledBack { return .rolledBack(rolledBack.reason) }
      let cause = error as? LMDBError
      if isOverdrawn || (cause == .mapFull && environment.fileLimit != nil) {
        return .rolledBack(.outOfPages(taken: pages))
      }
      throw thrown ?? cause.map { self.error($0) } ?? error
    }
  }

  /// Removes further entries whose owner was removed, in bounded transactions.
  private func removeRemainingOrphans(_ count: UInt64) {
    var left = count
    do {
      while left > 0,
        case .committed(let now) = try attempt(.withoutCleanup, { $0.session.state.orphans })
      {
        // The count was taken before the transaction's own share.
        left = now
      }
    } catch {
      // The write itself is committed. The next writer continues with the rest, and may get the same error.
    }
  }
}

extension WriteBatch {
  /// A commit does one share of the cleanup for each record of the write buffer, and one for itself, but at most this many.
  private static let mostShares = 16

  /// Stores the records of the write buffer, runs `body`, and a bounded share of the work that reads and removals have left.
  /// Nil, without a run of `body`, if there were records and `body` needs an empty buffer.
  fileprivate mutating func run<Result>(
    _ mode: CommitMode, _ room: PageReclaimer?, _ buffered: inout BufferHold,
    on commit: UInt64, _ body: (inout WriteBatch) throws -> Result
  ) throws -> Result? {
    let engine = session.engine
    budget = SpaceBudget(try session.settings().limits)
    guard budget.limits.disk == engine.environment.fileLimit else {
      throw RolledBack(reason: .fileLimitChanged(to: budget.limits.disk))
    }
    try budget.measureDisk(&session)
    if let room, let disk = budget.disk {
      if room.mayAskForCheckpoint, budget.wantsCheckpoint(engine) {
        throw RolledBack(reason: .checkpointWanted)
      }
      if disk.available < room.wanted { throw RolledBack(reason: .roomWanted) }
    }
    let count = try buffered.begin(&self, on: commit, lockTimeout: engine.environment.lockTimeout)
    let shares = min(1 + count, Self.mostShares)
    let storesRecords = mode.needsEmptyBuffer && buffered.hasRecords
    try buffered.evictAhead(&self)
    try flushSomeAccessTimes()
    let result = storesRecords ? nil : try body(&self)
    // The last pages are reserved for the caller's changes.
    if budget.hasPages(for: BatchPages.forCleanup, session) {
      if mode.cleansUp, !storesRecords {
        try removePendingExpirations(limit: shares * BatchEffects.expirationsPerWrite)
        try TagInvalidation.resumeFirst(limit: shares * TagInvalidation.perWrite, &session)
      }
      try GarbageCollector.reclaim(limit: shares * GarbageCollector.perWrite, &session)
    }
    try session.resumeOrphans()
    try mergeReadCounters()
    try session.finish()
    buffered.note(self)
    session.changes.prepare()
    return result
  }

  fileprivate var finalEffects: BatchEffects {
    var effects = effects
    effects.removal = session.removals.number
    effects.changes = session.changes.pending
    effects.hasUnrecordedChanges = session.changes.hasUnrecorded && session.state.watched != 0
    effects.entries = session.state.entries
    effects.orphans = session.state.orphans
    return effects
  }
}

extension Store {
  /// Makes several changes at once: all become visible together, or none does if `body` throws.
  ///
  /// `body` runs once, on the calling thread. The call waits for writers of other processes, and for a write of this process
  /// that does not end, at most for ``Options/lockTimeout``. `body` must not wait for another thread or task that writes to the
  /// store: that thread waits for `body`, and gets ``LarderError/Code/busy`` after that time.
  ///
  /// - Throws: the error of `body`. ``LarderError/Code/insideWrite`` inside another write of the store.
  ///   ``LarderError/Code/busy`` if another writer keeps the lock too long. ``LarderError/Code/full`` if the limit on disk
  ///   leaves too few pages for the batch; then entries were evicted for the batch, and the call can be repeated.
  public func write<Result>(_ body: (inout WriteBatch) throws -> Result) throws -> Result {
    try checkWritable()
    engine.awaitLoadWrites()
    engine.writes.queue.beginDirectWrite()
    defer { engine.writes.queue.endDirectWrite() }
    return try engine.commitRethrowing(.once, body)
  }
}
