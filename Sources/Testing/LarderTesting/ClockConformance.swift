public import Larder

/// Checks the promises of a ``/Larder/LarderClock``.
///
/// - The wall clock is after 1970 and before the year 10889, the last year that a store can index.
/// - The monotonic clock never goes back for a thread, even while several threads use the clock.
/// - Moving time forward moves both clocks.
/// - A sleep until a past moment returns immediately. A sleep until a later moment returns when the clock reaches the moment.
///   If the task of the sleep is cancelled before that moment, the sleep throws a `CancellationError`.
///
/// - Parameters:
///   - clock: the clock.
///   - advance: moves the clock forward by at least the duration. The default only waits for the duration, which is enough for a
///     clock that runs in real time.
/// - Throws: ``ConformanceFailure`` with all broken promises, or the error of `advance`.
public func checkConformance<C: LarderClock>(
  of clock: C,
  advance: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
) async throws {
  var problems: [String] = []
  let latest = Timestamp(milliseconds: 1 << 48)
  if !(Timestamp(milliseconds: 0)..<latest).contains(clock.now) {
    problems.append("the wall clock shows \(clock.now)")
  }

  let goesBack = await withTaskGroup(of: Bool.self) { group in
    for _ in 0..<4 {
      group.addTask {
        var last = clock.monotonic
        for _ in 0..<10_000 {
          let next = clock.monotonic
          if next < last { return true }
          last = next
        }
        return false
      }
    }
    return await group.reduce(false) { $0 || $1 }
  }
  if goesBack { problems.append("the monotonic clock goes back") }

  // A clock needs only a precision of one millisecond, so the step has several milliseconds.
  let step = Duration.milliseconds(5)
  let (wall, steady) = (clock.now, clock.monotonic)
  try await advance(step)
  if clock.monotonic - steady < step - .milliseconds(1) {
    problems.append("the monotonic clock does not follow when time moves forward")
  }
  if clock.now <= wall { problems.append("the wall clock does not follow when time moves forward") }

  do {
    try await clock.sleep(until: clock.monotonic)
    try await clock.sleep(until: clock.monotonic - .seconds(1))
  } catch { problems.append("a sleep until now throws \(error)") }
  problems += try await sleepProblems(of: clock, step: step, advance: advance)
  try ConformanceFailure.throwing(problems, of: clock)
}

private func sleepProblems(
  of clock: some LarderClock, step: Duration,
  advance: @escaping @Sendable (Duration) async throws -> Void
) async throws -> [String] {
  var problems: [String] = []
  let moment = clock.monotonic + step
  let sleeper = Task {
    try await clock.sleep(until: moment)
    return clock.monotonic
  }
  // A sleep that is too short ends during this wait, so that the check can find the fault.
  try await Task.sleep(for: .milliseconds(100))
  try await advance(step)
  do {
    if try await sleeper.value < moment { problems.append("a sleep ends before its moment") }
  } catch { problems.append("a sleep throws \(error)") }

  let cancelled = Task { try await clock.sleep(until: clock.monotonic + .seconds(60)) }
  cancelled.cancel()
  // Time advances here, so that even a clock that ignores the cancellation does not wait forever.
  let mover = Task { try await advance(.seconds(60)) }
  do {
    try await cancelled.value
    problems.append("a cancelled sleep does not throw")
  } catch is CancellationError {
    // A cancelled sleep must throw this error.
  } catch { problems.append("a cancelled sleep throws \(error) and no CancellationError") }
  mover.cancel()
  _ = await mover.result
  return problems
}
