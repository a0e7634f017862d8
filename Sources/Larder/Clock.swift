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
  private let sleepers = Sleepers()

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
    sleepers.wake(at: steady.advance(by: duration))
  }

  /// Whether a task sleeps until the clock has advanced.
  var isAwaited: Bool { !sleepers.isEmpty }

  /// Waits until ``advance(by:)`` has reached `moment`.
  public func sleep(until moment: Duration) async throws {
    let until = moment.milliseconds
    await sleepers.sleep(
      until: until, unless: { steady.load(ordering: .sequentiallyConsistent) >= until })
    try Task.checkCancellation()
  }

  /// Sets the wall clock; ``monotonic`` stays.
  public func set(to now: Timestamp) {
    wall.store(now.milliseconds, ordering: .sequentiallyConsistent)
  }
}

extension Atomic<Int64> {
  /// Adds whole milliseconds, and stops at the ends of what 64 bits hold.
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
