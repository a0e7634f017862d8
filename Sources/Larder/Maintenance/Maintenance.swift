import Synchronization

/// Looks after a store at intervals: removes what has expired, reclaims what clearing has left, writes the counts of this
/// process's reads, and frees the reader slots of processes that are gone.
///
///     let upkeep = Maintenance(of: store, every: .hours(1))
///     upkeep.start()
///
/// Any number of processes may do so for one store: when each is due it looks when somebody last did it, and leaves it
/// at that if its own interval has not passed since. So the first run comes soon after ``start()`` if the store is overdue
/// or was never looked after, and an interval after the last one otherwise, whoever made that. Each run comes later by a
/// random part of up to a tenth of the interval.
///
/// Time is the store's clock, for the waiting too: a test that advances a ``ManualClock`` by an interval sees a run.
/// Letting go of the object stops it.
public final class Maintenance: Sendable {
  /// What a run has done.
  public struct Report: Sendable, Hashable {
    /// Expired entries.
    public var removed = RemovalResult()
    /// Entries of cleared namespaces that are gone for good.
    public var reclaimed = 0
    /// Slots that readers of processes that are gone had left.
    public var deadReaders = 0
  }

  public let store: Store
  public let interval: Duration
  let jitter: Double
  let onRun: (@Sendable (Report) -> Void)?
  let onError: (@Sendable (LarderError) -> Void)?
  let state = Mutex(State())
  /// Held while a run is under way.
  let running = Mutex<Void>(())

  struct State {
    var isOn = false
    var task: Task<Void, Never>?
    /// Another one for each start and stop: a run that belongs to an old one does not begin, or ends early.
    var era = 0
    var latest: Result<Report, LarderError>?

    mutating func end() {
      task?.cancel()
      task = nil
      isOn = false
      era += 1
    }
  }

  /// - Parameters:
  ///   - jitter: by which part of the interval, at most, a run may come later.
  ///   - onRun: told what each run has done.
  ///   - onError: told why a run failed; the next one comes all the same, unless the store was closed. Without it the
  ///     error is in ``latest``.
  public init(
    of store: Store, every interval: Duration = .hours(1), jitter: Double = 0.1,
    onRun: (@Sendable (Report) -> Void)? = nil,
    onError: (@Sendable (LarderError) -> Void)? = nil
  ) {
    precondition(interval > .zero, "an interval of \(interval) is not possible")
    precondition((0...1).contains(jitter), "a jitter of \(jitter) is not a part of the interval")
    self.store = store
    self.interval = interval
    self.jitter = jitter
    self.onRun = onRun
    self.onError = onError
  }

  deinit { state.withLock { $0.task?.cancel() } }

  /// How the last run of this object went; nil before the first.
  public var latest: Result<Report, LarderError>? { state.withLock { $0.latest } }

  /// Whether it was started, and neither stopped nor ended by the store being closed.
  public var isRunning: Bool { state.withLock { $0.isOn } }

  /// Begins to look after the store; does nothing if it does already.
  public func start() {
    let era = state.withLock { state -> Int? in
      if state.isOn { return nil }
      state.isOn = true
      state.era += 1
      return state.era
    }
    // The time of the first run counts from now, and not from when the task gets its turn.
    guard let era, let due = due(in: era, isRetry: false) else { return }
    state.withLock { state in
      if state.era == era { state.task = begin(era, first: due) }
    }
  }

  /// Ends it, and waits for a run under way, which stops after the batch it is at. It can be started again.
  public func stop() {
    state.withLock { $0.end() }
    running.withLock { _ in }
  }

  /// Does everything once, now, whoever did it when, and returns what that was.
  @discardableResult
  public func runOnce() throws(LarderError) -> Report {
    try store.checkWritable()
    try store.engine.write { batch in batch.stampMaintenance() }
    guard let outcome = run(while: { true }) else { return Report() }
    state.withLock { $0.latest = outcome }
    return try outcome.get()
  }
}
