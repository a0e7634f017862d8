import LMDB
import LarderSystem
import Synchronization

extension StoreEngine {
  /// Commits the access times, removals of expired entries and counts that reads of this process have left. In a full file
  /// several commits make the queued removals. Removals that another write took from the queue are committed earlier.
  func flush(lockTimeout: Duration? = nil) throws(LarderError) {
    try flushAccessTimes(lockTimeout: lockTimeout)
    if !leftovers.expirations.queue.isEmpty || allHandles.contains(where: \.hasUnmerged) {
      var (left, taken) = (leftovers.expirations.queue.count, 0)
      repeat {
        taken = try commit(CommitMode(lockTimeout: lockTimeout)) { batch in
          try batch.session.removePendingExpirations(limit: batch.session.removalsInOwnBatch)
        }
        left -= taken
      } while taken > 0 && left > 0
    }
    try settle(CommitMode(lockTimeout: lockTimeout))
  }

  func flushLast() {
    guard isWritable.load(ordering: .relaxed), environment.isOpen, !environment.isWriting else {
      return
    }
    // A deinitializer cannot report errors. Ignoring the error loses only access times, removals and counts.
    try? flush(lockTimeout: .milliseconds(100))
  }

  /// Finishes stores that are still open at the end of the process, because Swift runs no deinitializer for stores in globals.
  /// Closes nothing, because other threads may still use the stores.
  static let endsWithProcess: Void = atProcessExit {
    for environment in Environment.all where !environment.isWriting {
      let object = environment.attachment.withLock { $0.object }
      guard let engine = object as? StoreEngine else { continue }
      let isTemporary = engine.isTemporary.load(ordering: .relaxed)
      if isTemporary { engine.removeFiles() } else { engine.flushLast() }
    }
  }

  func close() throws(LarderError) {
    try checkNotWriting("closing")
    // In a forked child, the store belongs to the parent, and a lock may be locked for ever.
    if environment.isForked { return }
    // Commits the accepted writes before anything is released.
    let isDrained = writes.queue.close(self)
    reader.buffer?.stop()
    // If the store were opened again during an append of this process, that append would write over later records.
    reader.buffer?.awaitAppend(atMost: environment.lockTimeout)
    changes.close()
    var isReleased = false
    do {
      defer {
        // If LMDB, the disk, a read or a write prevented the release of the locks at the first close, this call tries again.
        isReleased = environment.close()
        memory.removeAll()
      }
      if environment.isOpen, isWritable.load(ordering: .relaxed) { try flush() }
    }
    guard isReleased, isDrained else {
      throw LarderError(
        .busy, "\(environment.path) is closed, but a read or a write of it does not end",
        hint: "end it, and close the store again")
    }
    if isTemporary.load(ordering: .relaxed) { removeFiles() }
    // Throws once if a power failure would lose the last writes.
    guard let failure = environment.takeClosingFailure() else { return }
    let cause = error(failure)
    throw LarderError(
      .failed, "\(cause.message); it is closed, and its last writes are not safe on the disk",
      hint: cause.hint)
  }

  func checkNotWriting(_ what: String) throws(LarderError) {
    guard environment.isWriting else { return }
    throw LarderError(
      .insideWrite, "\(environment.path): \(what) the store inside one of its own writes",
      hint: "do it when the write has returned")
  }

  /// Makes counts and statistics exact. Waits for the commits of loaded values. A handle for writing also commits the removals
  /// that reads of this process have queued. Inside a write, that write commits the removals.
  func flushPending(of store: Store) throws(LarderError) {
    if environment.isForked { throw error(.forked) }
    awaitLoadWrites()
    if !store.isReadOnly, !leftovers.expirations.queue.isEmpty, !environment.isWriting {
      try flush()
    }
  }
}
