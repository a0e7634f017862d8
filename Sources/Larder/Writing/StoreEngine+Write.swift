import LMDB

extension StoreEngine {
  /// How many removals that reads asked for, and how many cleared entries, a write takes along.
  static let removalsPerWrite = 64
  static let reclaimedPerWrite = 32

  /// One write transaction: what `body` does, the counts, and a bounded share of what waits to be removed.
  ///
  /// `body` may run several times, where the disk limit makes room in between.
  ///
  /// - Parameter bound: how long to wait for other writers instead, those of this process included.
  func write<Result>(
    waitingAtMost bound: Duration? = nil, _ body: (inout WriteBatch) throws -> Result
  ) throws(LarderError) -> Result {
    do {
      return try writeWithinLimit(repeats: true, waitingAtMost: bound, body)
    } catch let error as LarderError {
      throw error
    } catch let error as LMDBError {
      throw self.error(error)
    } catch {
      throw LarderError(.failed, "\(environment.path): \(error)")
    }
  }

  /// One transaction, once; the body's own errors come back as they are.
  ///
  /// - Parameter asksForCheckpoint: throw ``CheckpointWanted`` instead of beginning where one would give back pages.
  func writeOnce<Result>(
    waitingAtMost bound: Duration? = nil, asksForCheckpoint: Bool = false,
    _ body: (inout WriteBatch) throws -> Result
  ) throws -> Result {
    var merged: [(handle: NamespaceHandle, counts: ReadCounters)] = []
    var removing: [[UInt8]] = []
    var entries: UInt64 = 0
    var using: [PendingAccesses.Use] = []
    var notes: PendingChanges?
    var isPassedOver = false
    var thrown: (any Error)?
    do {
      let result = try environment.write(waitingAtMost: bound) { transaction in
        let state = try transaction.state()
        var batch = WriteBatch(transaction, state: state, engine: self)
        do {
          guard try batch.openDisk() else {
            throw FileLimitChanged(limit: try batch.limits.disk)
          }
          if asksForCheckpoint, batch.wantsCheckpoint { throw CheckpointWanted() }
          try batch.flushSomeAccessTimes()
          let result = try body(&batch)
          if !batch.leavesQueue {
            try batch.removeQueued(limit: Self.removalsPerWrite)
            try batch.buryFirst(limit: WriteBatch.invalidatedPerWrite)
          }
          try batch.reclaim(limit: Self.reclaimedPerWrite)
          try batch.mergeReads()
          try batch.finish()
          batch.notes?.prepare()
          notes = batch.notes
          isPassedOver = batch.hasUnnoted && batch.state.watched != 0
          merged = batch.merged
          removing = batch.removing
          entries = batch.state.entries
          using = batch.using
          transaction = batch.release()
          return result
        } catch {
          merged = batch.merged
          removing = batch.removing
          using = batch.using
          let cause = batch.failure?.cause
          thrown = batch.pagesShort.map(OutOfPages.init) ?? noPages(cause) ?? error
          transaction = batch.release()
          // The layer below learns from its own errors, such as that the map is full.
          throw cause ?? error
        }
      }
      notes?.publish()
      if isPassedOver { changes.recordGap() }
      removals.finish(removing, done: true)
      fitAccess(to: entries)
      uses.finish(using, done: true)
      return result
    } catch {
      for (handle, counts) in merged { handle.note(counts, rolledBack: true) }
      notes?.takeBack()
      removals.finish(removing, done: false)
      uses.finish(using, done: false)
      if let thrown { throw thrown }
      guard let error = error as? LMDBError else { throw error }
      throw noPages(error) ?? self.error(error)
    }
  }

  /// LMDB found no room within the limit, though the estimate was that there is enough.
  private func noPages(_ error: LMDBError?) -> OutOfPages? {
    error == .mapFull && environment.fileLimit != nil ? OutOfPages(needed: DiskRoom.kept) : nil
  }
}

extension WriteTransaction {
  func state() throws(LMDBError) -> StoreState {
    guard let bytes = try value(for: MetadataKey.state, in: .main) else { return StoreState() }
    return StoreState(bytes)
  }
}

extension Store {
  /// Makes several changes at once: all become visible together, or, if `body` throws, none does.
  ///
  /// Runs on the calling thread and waits for other writers, those of other processes for at most
  /// ``Options/lockTimeout``. A write inside `body` other than through the batch is a programming error and traps.
  public func write<Result>(_ body: (inout WriteBatch) throws -> Result) throws -> Result {
    try checkWritable()
    engine.queue.beginDirectWrite()
    defer { engine.queue.endDirectWrite() }
    return try engine.writeWithinLimit(repeats: false, body)
  }
}
