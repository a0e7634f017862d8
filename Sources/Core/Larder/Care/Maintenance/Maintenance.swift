import LMDB
import Synchronization

/// Maintains a store at intervals. A run removes expired entries, reclaims the space of cleared namespaces, repairs damaged
/// namespaces, writes this process's read counts, samples hit rates for the shell's `report`, and frees slots of dead readers.
///
///     let maintenance = try Maintenance(of: store, every: .hours(1))
///     maintenance.start()
///
/// Any number of processes may maintain one store. An object skips a due run if another process has made a run within the
/// object's interval. So the first run is due one interval after the last run of any process. If that time is past, or no
/// process has made a run, the first run is due at ``start()``. Each run is delayed by a random part of the interval.
///
/// Times follow the store's clock, so without jitter a test that advances a ``ManualClock`` by an interval gets a run. The
/// maintenance stops when the last reference to this object is released.
public final class Maintenance: Sendable {
  /// The results of a run.
  public struct Report: Sendable, Hashable {
    /// The expired entries that were removed.
    public var removed = RemovalResult()
    /// The number of namespaces with damage that were repaired and counted again.
    public var repaired = 0
    /// The number of entries of cleared namespaces whose space was reclaimed, without the few that any commit reclaims.
    public var reclaimed = 0
    /// The number of reader slots that were freed because their processes were dead.
    public var deadReaders = 0
  }

  let store: Store
  /// The time from one run to the next.
  public let interval: Duration
  let jitter: Double
  let onRun: (@Sendable (Report) -> Void)?
  let onError: (@Sendable (LarderError) -> Void)?
  let state = Mutex(State())
  let running = Mutex<Void>(())

  struct State {
    var isOn = false
    var task: Task<Void, Never>?
    /// A number that changes with each start and stop. A run with an earlier number does not begin, or stops early.
    var era = 0
    var latest: Result<Report, LarderError>?

    mutating func end() {
      task?.cancel()
      task = nil
      isOn = false
      era += 1
    }
  }

  /// Makes the object. Before ``start()`` or ``runOnce()`` the object does nothing.
  ///
  /// - Parameters:
  ///   - interval: the time between runs, longer than 0.
  ///   - jitter: the largest part of the interval, 0 to 1, by which a run is delayed at random.
  ///   - onRun: called after each successful run that ``start()`` has scheduled, on the thread of the run.
  ///   - onError: called if a scheduled run fails. The error is also in ``latest``. The next run still follows, except if the
  ///     store was closed, is read-only, or was opened before a fork.
  /// - Throws: ``LarderError/Code/invalidArgument`` for an invalid interval or jitter.
  public init(
    of store: Store, every interval: Duration = .hours(1), jitter: Double = 0.1,
    onRun: (@Sendable (Report) -> Void)? = nil, onError: (@Sendable (LarderError) -> Void)? = nil
  ) throws(LarderError) {
    guard interval > .zero else {
      throw .impossible(
        "a maintenance interval of \(interval)", hint: "use an interval longer than 0")
    }
    guard (0...1).contains(jitter) else {
      throw .impossible(
        "a maintenance jitter of \(jitter)", hint: "use a part of the interval, 0 to 1")
    }
    self.store = store
    // Limits the interval, because a sum of longer intervals could exceed the longest duration.
    self.interval = min(interval, .days(1_000_000))
    self.jitter = jitter
    self.onRun = onRun
    self.onError = onError
  }

  // In a forked child, the lock may be locked for ever.
  deinit { if !store.engine.environment.isForked { state.withLock { $0.task?.cancel() } } }

  /// The outcome of this object's last run; nil before the first run.
  public var latest: Result<Report, LarderError>? { state.withLock { $0.latest } }

  /// Whether the maintenance is started, and neither ``stop()`` nor an error that every run would get has stopped it.
  public var isRunning: Bool { state.withLock { $0.isOn } }

  /// Starts the maintenance. Does nothing if the maintenance is running.
  public func start() {
    let era = state.withLock { state -> Int? in
      if state.isOn { return nil }
      state.isOn = true
      state.era += 1
      return state.era
    }
    // Computes the time of the first run here, so the time does not depend on when the task begins.
    guard let era, let due = due(in: era, isRetry: false) else { return }
    state.withLock { if $0.era == era { $0.task = begin(era, first: due) } }
  }

  /// Stops the maintenance until ``start()``. Waits for a run to end its transaction: do not call this function in a write.
  public func stop() {
    state.withLock { $0.end() }
    running.withLock { _ in }
  }

  /// Makes a run now, even if the last run was a short time ago. Blocks until the run is complete.
  ///
  /// - Throws: ``LarderError/Code/readOnly``, ``LarderError/Code/closed``, ``LarderError/Code/insideWrite``, or a run's error.
  @discardableResult
  public func runOnce() throws(LarderError) -> Report {
    try store.checkWritable()
    _ = try claim(ifDue: false)
    let outcome = Result<Report, LarderError> { () throws(LarderError) -> Report in
      try running.withLock { _ throws(LarderError) in try store.engine.maintain(while: { true }) }
    }
    state.withLock { $0.latest = outcome }
    return try outcome.get()
  }
}

#if ServiceLifecycle
  public import ServiceLifecycle

  extension Maintenance: Service {
    /// Maintains the store until the service is shut down or its task is cancelled. Waits for the current transaction of a run.
    public func run() async throws {
      start()
      defer { stop() }
      try await gracefulShutdown()
    }
  }
#endif
