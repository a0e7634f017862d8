import LarderSystem
import Synchronization

/// The time source of a store.
///
/// All processes of a store should have the same wall clock. If the wall clock jumps, a comparison with the monotonic clock
/// shows whether that time has really passed or somebody has set the wall clock.
public protocol LarderClock: Sendable {
  /// The wall clock, exact to the millisecond.
  var now: Timestamp { get }
  /// The time since an arbitrary moment; never decreases.
  var monotonic: Duration { get }
  /// Waits until ``monotonic`` reaches `moment`; throws a `CancellationError` if the task is cancelled before `moment`.
  func sleep(until moment: Duration) async throws
}

extension LarderClock {
  /// Waits by the system's clock. A clock that runs at another speed needs its own implementation.
  public func sleep(until moment: Duration) async throws {
    // Sleeps for at most a day at a time, because the system's sleep crashes at durations of about 300,000 million years.
    while monotonic < moment { try await Task.sleep(for: min(moment - monotonic, .days(1))) }
  }

  /// The outcome of `body`. If `body` takes longer than `limit`, cancels `body` and returns the outcome of `otherwise`.
  package func run<Outcome: Sendable>(
    within limit: Duration?, _ body: @escaping @Sendable () async throws -> Outcome,
    else otherwise: @escaping @Sendable () async throws -> Outcome
  ) async throws -> Outcome {
    guard let limit else { return try await body() }
    let end = monotonic + limit.bounded
    return try await withThrowingTaskGroup(of: Outcome.self) { group in
      defer { group.cancelAll() }
      group.addTask { try await body() }
      group.addTask {
        try await sleep(until: end)
        return try await otherwise()
      }
      guard let first = try await group.next() else { throw CancellationError() }
      return first
    }
  }
}

/// The system's own clock.
public struct SystemClock: LarderClock {
  /// Makes the clock, which has no options.
  public init() {}
  /// The system's wall clock.
  public var now: Timestamp { Timestamp(milliseconds: SystemTime.milliseconds) }
  /// The system's monotonic clock.
  public var monotonic: Duration { .milliseconds(SystemTime.monotonicMilliseconds) }
}

/// A clock for tests. Time passes only in ``advance(by:)`` and ``set(to:)``.
public final class ManualClock: LarderClock {
  /// The times of the wall clock and of the monotonic clock. The monotonic time is the sum of all advances.
  private let times: Mutex<(wall: Timestamp, steady: Timestamp)>
  private let sleepers = Waiters<Void>()

  /// - Parameter now: the first time of the wall clock, 2026-01-01 00:00 UTC by default.
  public init(now: Timestamp = Timestamp(milliseconds: 1_767_225_600_000)) {
    times = Mutex((wall: now, steady: Timestamp(milliseconds: 0)))
  }

  /// The time of the wall clock, which only ``set(to:)`` and ``advance(by:)`` change.
  public var now: Timestamp { times.withLock { $0.wall } }
  /// The sum of all advances.
  public var monotonic: Duration { .milliseconds(steady) }

  private var steady: Int64 { times.withLock { $0.steady.milliseconds } }

  /// Advances both clocks and wakes every task whose sleep is over.
  public func advance(by duration: Duration) {
    let steady = times.withLock { times in
      times.wall = times.wall.advanced(by: duration)
      times.steady = times.steady.advanced(by: duration)
      return times.steady.milliseconds
    }
    sleepers.resume(at: steady)
  }

  var isAwaited: Bool { !sleepers.isEmpty }

  /// Waits until ``advance(by:)`` has reached `moment`.
  public func sleep(until moment: Duration) async throws {
    let until = moment.roundedUpMilliseconds
    await sleepers.wait(until: until, unless: { steady >= until })
    try Task.checkCancellation()
  }

  /// Sets the wall clock. Does not change ``monotonic``.
  public func set(to now: Timestamp) { times.withLock { $0.wall = now } }
}

/// A store's clock, with a coarse time that reads get at low cost.
struct StoreClock: LarderClock {
  let source: any LarderClock
  /// Whether ``source`` is the system's clock, which reads use without a call through the protocol.
  let isSystem: Bool

  init(_ source: any LarderClock) {
    self.source = source
    isSystem = source is SystemClock
  }

  var now: Timestamp { source.now }
  var monotonic: Duration { source.monotonic }

  func sleep(until moment: Duration) async throws { try await source.sleep(until: moment) }

  /// Milliseconds since 1970. The system's coarse clock may be up to 10 ms behind the exact time.
  @inline(__always)
  var coarseNow: Int64 { isSystem ? SystemTime.coarseMilliseconds : source.now.milliseconds }
  var coarseMinute: Int64 { coarseNow / 60_000 }

  /// Times of both clocks in milliseconds, cheap enough for every read. Each time is 0 to 10 ms after the exact time.
  var roundedUpTimes: (monotonic: Int64, wall: Int64) {
    guard isSystem else { return (monotonic.roundedUpMilliseconds, now.milliseconds) }
    return (SystemTime.coarseMonotonicMilliseconds + 10, SystemTime.coarseMilliseconds + 10)
  }

  /// The state of the entry at the coarse time `coarse`. If the expiry is past or at most 10 ms away, the exact clock decides.
  @inline(__always)
  func state(of header: EntryHeader, at coarse: Int64) -> Store.Entry.State {
    if header.expires == EntryHeader.never { return .fresh }
    // The exact time is never earlier than the coarse time, so the entry is expired at the exact time, too.
    if coarse >= header.staleUntil { return .expired }
    if isSystem, coarse &+ 10 >= header.expires { return header.state(at: SystemTime.milliseconds) }
    return header.state(at: coarse)
  }
}

extension EntryHeader {
  /// The state at `now`. An entry with an expiry is not fresh if the clock was set back by over a minute since its write.
  @inline(__always)
  func state(at now: Int64) -> Store.Entry.State {
    if expires == Self.never { return .fresh }
    if now >= staleUntil { return .expired }
    if now >= expires || written &- 60_000 > now { return .stale }
    return .fresh
  }
}
