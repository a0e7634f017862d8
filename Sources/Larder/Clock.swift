import LMDB
import LarderSystem
import Synchronization

/// Where a store takes the time from.
///
/// All processes of a store should agree on the wall clock. The monotonic one only tells a clock that was set from time
/// that passed.
public protocol LarderClock: Sendable {
  /// The wall clock, exact to the millisecond.
  var now: Timestamp { get }
  /// Time since an arbitrary moment; never goes back.
  var monotonic: Duration { get }
  /// Waits until ``monotonic`` has reached `moment`; throws a `CancellationError` if the task is cancelled before.
  func sleep(until moment: Duration) async throws
}

extension LarderClock {
  /// Waits by the system's clock, for one that runs as fast.
  public func sleep(until moment: Duration) async throws {
    while monotonic < moment { try await Task.sleep(for: moment - monotonic) }
  }
}

/// The system's own clock.
public struct SystemClock: LarderClock {
  public init() {}
  public var now: Timestamp { Timestamp(milliseconds: SystemTime.milliseconds) }
  public var monotonic: Duration { .milliseconds(SystemTime.monotonicMilliseconds) }
}

/// A clock that moves when it is told to, for tests.
public final class ManualClock: LarderClock {
  private let wall: Atomic<Int64>
  private let steady = Atomic<Int64>(0)
  private let sleepers = Sleepers()

  /// Begins at 2026-01-01 00:00 UTC unless told otherwise.
  public init(now: Timestamp = Timestamp(milliseconds: 1_767_225_600_000)) {
    wall = Atomic(now.milliseconds)
  }

  public var now: Timestamp {
    Timestamp(milliseconds: wall.load(ordering: .sequentiallyConsistent))
  }
  public var monotonic: Duration { .milliseconds(steady.load(ordering: .sequentiallyConsistent)) }

  /// Time passes: both clocks advance, and whoever sleeps until then wakes up.
  public func advance(by duration: Duration) {
    wall.add(duration.milliseconds, ordering: .sequentiallyConsistent)
    let now = steady.add(duration.milliseconds, ordering: .sequentiallyConsistent).newValue
    sleepers.wake(at: now)
  }

  /// Whether anybody sleeps until the clock has advanced.
  var isAwaited: Bool { !sleepers.isEmpty }

  public func sleep(until moment: Duration) async throws {
    let until = moment.milliseconds
    await sleepers.sleep(
      until: until, unless: { steady.load(ordering: .sequentiallyConsistent) >= until })
    try Task.checkCancellation()
  }

  /// Somebody sets the wall clock: no time passes.
  public func set(to now: Timestamp) {
    wall.store(now.milliseconds, ordering: .sequentiallyConsistent)
  }
}
