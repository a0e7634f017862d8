import LMDB
import LarderSystem
import Synchronization

/// The time source of a store.
///
/// All processes of a store should agree on the wall clock. The monotonic clock shows whether time has passed or the wall
/// clock was set.
public protocol LarderClock: Sendable {
  /// The wall clock, exact to the millisecond.
  var now: Timestamp { get }
  /// Time since an arbitrary moment; never goes back.
  var monotonic: Duration { get }
  /// Waits until ``monotonic`` has reached `moment`; throws a `CancellationError` if the task is cancelled before.
  func sleep(until moment: Duration) async throws
}

extension LarderClock {
  /// Waits by the system's clock. A clock that runs at another speed implements it itself.
  public func sleep(until moment: Duration) async throws {
    // The system's sleep traps at durations of some 300,000 million years.
    while monotonic < moment { try await Task.sleep(for: min(moment - monotonic, .days(1))) }
  }
}

/// The system's own clock.
public struct SystemClock: LarderClock {
  /// The clock has no options.
  public init() {}
  /// The system's wall clock.
  public var now: Timestamp { Timestamp(milliseconds: SystemTime.milliseconds) }
  /// The system's monotonic clock.
  public var monotonic: Duration { .milliseconds(SystemTime.monotonicMilliseconds) }
}

/// A clock for tests that moves only when it is told to.
public final class ManualClock: LarderClock {
  private let wall: Atomic<Int64>
  private let steady = Atomic<Int64>(0)
  private let sleepers = Waiters<Void>()

  /// - Parameter now: the first time it shows, 2026-01-01 00:00 UTC by default.
  public init(now: Timestamp = Timestamp(milliseconds: 1_767_225_600_000)) {
    wall = Atomic(now.milliseconds)
  }

  /// The wall clock as it was set or has advanced.
  public var now: Timestamp {
    Timestamp(milliseconds: wall.load(ordering: .sequentiallyConsistent))
  }
  /// The sum of all advances.
  public var monotonic: Duration { .milliseconds(steady.load(ordering: .sequentiallyConsistent)) }

  /// Advances both clocks and wakes every task that sleeps until then.
  public func advance(by duration: Duration) {
    wall.advance(by: duration)
    sleepers.resume(at: steady.advance(by: duration))
  }

  /// Whether a task sleeps until the clock has advanced.
  var isAwaited: Bool { !sleepers.isEmpty }

  /// Waits until ``advance(by:)`` has reached `moment`.
  public func sleep(until moment: Duration) async throws {
    let until = moment.roundedUpMilliseconds
    await sleepers.wait(
      until: until, unless: { steady.load(ordering: .sequentiallyConsistent) >= until })
    try Task.checkCancellation()
  }

  /// Sets the wall clock; ``monotonic`` stays.
  public func set(to now: Timestamp) {
    wall.store(now.milliseconds, ordering: .sequentiallyConsistent)
  }
}

extension Atomic<Int64> {
  /// Adds whole milliseconds, and stops at the limits of 64 bits.
  @discardableResult
  fileprivate func advance(by duration: Duration) -> Int64 {
    var known = load(ordering: .sequentiallyConsistent)
    while true {
      let next = Timestamp(milliseconds: known).advanced(by: duration).milliseconds
      let (isDone, present) = compareExchange(
        expected: known, desired: next, ordering: .sequentiallyConsistent)
      if isDone { return next }
      known = present
    }
  }
}

/// A store's clock, with the cheap time that reads use.
struct StoreClock: LarderClock {
  let source: any LarderClock
  /// Whether ``source`` is the system's, which reads get without the protocol.
  let isSystem: Bool

  init(_ source: any LarderClock) {
    self.source = source
    isSystem = source is SystemClock
  }

  var now: Timestamp { source.now }
  var monotonic: Duration { source.monotonic }

  func sleep(until moment: Duration) async throws { try await source.sleep(until: moment) }

  /// Milliseconds since 1970; the system's may be up to 10 behind.
  @inline(__always)
  var coarseNow: Int64 {
    isSystem ? SystemTime.coarseMilliseconds : source.now.milliseconds
  }

  /// Minutes since 1970.
  var coarseMinute: Int64 { coarseNow / 60_000 }

  /// Milliseconds of the monotonic and the wall clock for a check with each read: never behind the exact times, and at most
  /// 10 ms ahead of them.
  var roundedUpTimes: (monotonic: Int64, wall: Int64) {
    guard isSystem else { return (monotonic.roundedUpMilliseconds, now.milliseconds) }
    return (
      SystemTime.coarseMonotonicMilliseconds + 10, SystemTime.coarseMilliseconds + 10
    )
  }

  /// The state of an entry at ``coarseNow``. The exact clock decides only if the deadline is near enough for the coarse clock
  /// to be wrong.
  @inline(__always)
  func state(of header: EntryHeader, at coarse: Int64) -> Store.Entry.State {
    if header.expires == EntryHeader.never { return .fresh }
    // The exact time is not earlier.
    if coarse >= header.staleUntil { return .expired }
    if isSystem, coarse &+ 10 >= header.expires {
      return header.state(at: SystemTime.milliseconds)
    }
    return header.state(at: coarse)
  }
}

extension EntryHeader {
  /// The state of the entry at `now`. An entry with an end that was written more than a minute in the future counts as stale:
  /// the clock was set back, and the entry would live too long.
  @inline(__always)
  func state(at now: Int64) -> Store.Entry.State {
    if expires == Self.never { return .fresh }
    if now >= staleUntil { return .expired }
    if now >= expires || written &- 60_000 > now { return .stale }
    return .fresh
  }
}
