import Dispatch
import LMDB
import LarderSystem
import Synchronization

extension StoreEngine {
  /// Commits the entries of the write buffer. Does nothing inside a write of this thread, which has taken over the entries.
  func settle(_ mode: CommitMode = .withoutCleanup) throws(LarderError) {
    guard let buffer = reader.buffer, buffer.hasRecords, !environment.isWriting else { return }
    guard isWritable.load(ordering: .relaxed) else { return try awaitSettled(buffer) }
    try commit(mode) { _ in }
  }

  private func awaitSettled(_ buffer: WriteBuffer) throws(LarderError) {
    let deadline = SuspendingClock.now + environment.lockTimeout
    let awaited = buffer.state.generation
    while case let logs = try buffer.logs(of: buffer.state, after: reader.beginRead().id),
      !logs.allSatisfy({ $0.generation > awaited })
    {
      if SuspendingClock.now > deadline {
        throw LarderError(
          .busy, "\(environment.path) has written entries that no process commits",
          hint: "open the store once for writing")
      }
      backOff(microseconds: 1000)
    }
  }

  /// Schedules the commit of the records and a checkpoint, within ``checkpointInterval``. Returns true if no thread has made
  /// the commit for twice the interval; then the caller must make the commit.
  func scheduleSettling() -> Bool {
    let now = SystemTime.monotonicMilliseconds
    let (isFirst, since) = settlingSince.compareExchange(
      expected: 0, desired: now, ordering: .relaxed)
    if isFirst {
      timer(checkpointInterval) { [weak self] in self?.settleInTime() }
      return false
    }
    return (now - since) / 2 > checkpointMilliseconds
      && settlingSince.compareExchange(expected: since, desired: now, ordering: .relaxed).exchanged
  }

  func settleInTime() {
    settlingSince.store(0, ordering: .relaxed)
    settleInBackground { () throws(LarderError) in
      if environment.durability == .checkpointed { try typed { try environment.sync() } }
    }
  }

  /// Commits the records on the writer thread, so that the active log has room for further records.
  func settleEarly() {
    if isSettling.load(ordering: .relaxed) || isSettling.exchange(true, ordering: .relaxed) {
      return
    }
    writes.queue.thread.async { [weak self] in
      guard let self else { return }
      // Another process may have begun the commit in the meantime.
      if reader.buffer?.state.hasOlder == false { settleInBackground {} }
      isSettling.store(false, ordering: .relaxed)
    }
  }

  private func settleInBackground(_ sync: () throws(LarderError) -> Void) {
    guard let buffer = reader.buffer, environment.isOpen else { return }
    do throws(LarderError) {
      try settle(.background(lockTimeout: min(checkpointInterval, environment.lockTimeout)))
      try sync()
    } catch {
      // The records stay in the buffer, where every process sees them. After an error other than `busy`, the next write is a
      // transaction and reports the error.
      if error.code != .busy { buffer.isSuspended.store(true, ordering: .relaxed) }
      if environment.isOpen, buffer.hasRecords { _ = scheduleSettling() }
    }
  }
}
