import LMDB
import Synchronization

extension Maintenance {
  func begin(_ era: Int, first: Duration) -> Task<Void, Never> {
    Task.detached(priority: .utility) { [weak self, clock = store.engine.clock] in
      var isRetry = false
      var next: Duration? = first
      while let due = next {
        do {
          try await clock.sleep(until: due)
        } catch {
          return
        }
        isRetry = self?.runIfDue(in: era, isRetry: isRetry) ?? false
        next = self?.due(in: era, isRetry: isRetry)
      }
    }
  }

  private func isCurrent(_ era: Int) -> Bool { state.withLock { $0.era == era } }

  /// When to look next, on the monotonic clock; nil if that is not to be.
  func due(in era: Int, isRetry: Bool) -> Duration? {
    guard isCurrent(era) else { return nil }
    let now = store.engine.clock.monotonic
    // A purge that did not trust the clock asks to be repeated when a minute has passed.
    if isRetry { return now + .seconds(61) }
    let random = interval * Double.random(in: 0...1) * jitter
    do throws(LarderError) {
      return now + (try remaining()) + random
    } catch {
      tell(.failure(error))
      return end(after: error, in: era) ? nil : now + interval + random
    }
  }

  /// How long until the store is due by its own stamp.
  private func remaining() throws(LarderError) -> Duration {
    let state: StoreState
    do throws(LMDBError) {
      state = try store.engine.environment.beginRead().state()
    } catch {
      throw store.engine.error(error)
    }
    return remaining(of: state, at: store.now)
  }

  private func remaining(of state: StoreState, at now: Timestamp) -> Duration {
    let last = Timestamp(milliseconds: Int64(clamping: state.maintained))
    // One from the future was made by a clock that was set back since.
    guard state.maintained != 0, last <= now else { return .zero }
    return max(.zero, interval - last.duration(to: now))
  }

  /// - Returns: whether it is to be repeated soon.
  private func runIfDue(in era: Int, isRetry: Bool) -> Bool {
    let outcome: Result<Report, LarderError>?
    do throws(LarderError) {
      outcome = try runIfMine(in: era, isRetry: isRetry)
    } catch {
      outcome = .failure(error)
    }
    guard let outcome else { return false }
    tell(outcome)
    switch outcome {
    case .success(let report):
      return report.removed.skippedAfterClockJump && !isRetry
    case .failure(let error):
      _ = end(after: error, in: era)
      return false
    }
  }

  /// Nil if another process was faster, or it was stopped.
  private func runIfMine(
    in era: Int, isRetry: Bool
  ) throws(LarderError) -> Result<Report, LarderError>? {
    guard isCurrent(era) else { return nil }
    try store.checkWritable()
    if !isRetry {
      let isMine = try store.engine.write { batch in
        guard remaining(of: batch.state, at: batch.now) == .zero else { return false }
        batch.stampMaintenance()
        return true
      }
      if !isMine { return nil }
    }
    return run(while: { isCurrent(era) })
  }

  func run(while shouldContinue: () -> Bool) -> Result<Report, LarderError>? {
    running.withLock { _ in
      guard shouldContinue() else { return nil }
      do throws(LarderError) {
        return .success(try store.engine.maintain(while: shouldContinue))
      } catch {
        return .failure(error)
      }
    }
  }

  private func tell(_ outcome: Result<Report, LarderError>) {
    state.withLock { $0.latest = outcome }
    switch outcome {
    case .success(let report): onRun?(report)
    case .failure(let error): onError?(error)
    }
  }

  /// Whether there is no use in going on.
  private func end(after error: LarderError, in era: Int) -> Bool {
    guard [.closed, .forked, .readOnly].contains(error.code) else { return false }
    state.withLock { state in
      if state.era == era { state.end() }
    }
    return true
  }
}

extension WriteBatch {
  /// Lets the other processes know that this one looks after the store now.
  mutating func stampMaintenance() {
    state.maintained = UInt64(clamping: now.milliseconds)
  }
}

extension StoreEngine {
  func maintain(while shouldContinue: () -> Bool) throws(LarderError) -> Maintenance.Report {
    var report = Maintenance.Report()
    do throws(LMDBError) {
      // First, because what dead readers hold is room that the rest may need.
      report.deadReaders = try environment.clearDeadReaders()
    } catch {
      throw self.error(error)
    }
    try flush()
    report.reclaimed = try reclaim(while: shouldContinue)
    if shouldContinue() { report.removed = try purge(only: nil, while: { _ in shouldContinue() }) }
    return report
  }
}
