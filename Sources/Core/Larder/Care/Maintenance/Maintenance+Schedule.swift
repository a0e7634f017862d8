import Dispatch
import LMDB
import Synchronization

extension Maintenance {
  func begin(_ era: Int, first: Duration) -> Task<Void, Never> {
    Task.detached(priority: .utility) { [weak self, clock = store.engine.clock] in
      var isRetry: Bool?
      var next: Duration? = first
      while let due = next {
        guard (try? await clock.sleep(until: due)) != nil else { return }
        // A run may block its thread for minutes, so the run does not use one of the few threads that all tasks share.
        isRetry = await withCheckedContinuation { (ended: CheckedContinuation<Bool?, Never>) in
          DispatchQueue.global(qos: .utility).async { [weak self, isRetry] in
            ended.resume(returning: self?.runIfDue(in: era, isRetry: isRetry == true))
          }
        }
        next = self?.due(in: era, isRetry: isRetry)
      }
    }
  }

  private func isCurrent(_ era: Int) -> Bool { state.withLock { $0.era == era } }

  /// The time of the next run by the monotonic clock. Nil after a stop, or after an error that every later run would get. If
  /// `isRetry` is nil, the last run has failed, so the next run is due after an interval.
  func due(in era: Int, isRetry: Bool?) -> Duration? {
    guard isCurrent(era) else { return nil }
    let now = store.engine.clock.monotonic
    // If the clock seemed to jump, the purge removed nothing. A purge after a minute may remove entries, so a run is due then.
    if isRetry == true { return now + .seconds(61) }
    let random = interval * Double.random(in: 0...1) * jitter
    if isRetry == nil { return now + interval + random }
    do throws(LarderError) {
      let engine = store.engine
      let state = try engine.typed { try engine.environment.beginRead().state(engine.seal) }
      // If the record is damaged, maintenance is due immediately: a write of the maintenance rebuilds the record.
      return now + (state.map { remaining(of: $0, at: store.now) } ?? .zero) + random
    } catch { return tell(.failure(error), in: era) ? now + interval + random : nil }
  }

  private func remaining(of state: StoreState, at now: Timestamp) -> Duration {
    let last = Timestamp(milliseconds: Int64(clamping: state.maintained))
    // A last run in the future means that the clock was set back after the run, so a run is due.
    guard state.maintained != 0, last <= now else { return .zero }
    return max(.zero, interval - last.duration(to: now))
  }

  /// Makes a run if no other process has made the run. Returns whether the run must be repeated soon; nil if the run failed.
  private func runIfDue(in era: Int, isRetry: Bool) -> Bool? {
    guard isCurrent(era) else { return false }
    do throws(LarderError) {
      try store.checkWritable()
      let report: Report? = try running.withLock { _ throws(LarderError) in
        guard isCurrent(era) else { return nil }
        if !isRetry, try !claim(ifDue: true) { return nil }
        return try store.engine.maintain(while: { isCurrent(era) })
      }
      guard let report else { return false }
      tell(.success(report), in: era)
      return report.removed.skippedAfterClockJump && !isRetry
    } catch {
      tell(.failure(error), in: era)
      return nil
    }
  }

  /// Tells other processes that a run begins. Returns false if `ifDue` is set, and another process has made the due run.
  func claim(ifDue: Bool) throws(LarderError) -> Bool {
    try store.engine.commit(.withoutCleanup) { batch in
      let now = batch.session.now
      if ifDue, remaining(of: batch.session.state, at: now) != .zero { return false }
      batch.session.ledger.updateStore { $0.maintained = UInt64(clamping: now.milliseconds) }
      return true
    }
  }

  /// Passes a run's outcome to `onRun` or `onError`. After an error that every later run would get, stops and returns false.
  @discardableResult
  private func tell(_ outcome: Result<Report, LarderError>, in era: Int) -> Bool {
    // After a stop the program may close the store, so a later error is no failure of the maintenance.
    if case .failure = outcome, !isCurrent(era) { return false }
    state.withLock { $0.latest = outcome }
    switch outcome {
    case .success(let report): onRun?(report)
    case .failure(let error):
      onError?(error)
      guard [.closed, .forked, .readOnly].contains(error.code) else { return true }
      state.withLock { if $0.era == era { $0.end() } }
      return false
    }
    return true
  }
}

extension StoreEngine {
  func maintain(while shouldContinue: () -> Bool) throws(LarderError) -> Maintenance.Report {
    var report = Maintenance.Report()
    // The rest of the run may need pages whose reuse dead readers prevent, so the slots of dead readers are freed first.
    report.deadReaders = try typed { try environment.readerTable.clearDead() }
    report.repaired = try RepairJob(engine: self).run(while: shouldContinue)
    // Comes before every commit with cleanup, because the report also counts the expired entries that reads have found.
    let purge = Purge(engine: self)
    if shouldContinue() { report.removed = try purge.removeExpired { _ in shouldContinue() } }
    if shouldContinue() { report.reclaimed = try purge.reclaim(while: shouldContinue) }
    if shouldContinue() {
      try flush()
      try sampleReads()
    }
    return report
  }
}
