import Foundation

/// The processor time that the calling thread spends in `body`.
///
/// Other work of the machine changes elapsed time, but hardly changes this time. So a test can distinguish linear from
/// quadratic cost.
package func processorTime(_ body: () throws -> Void) rethrows -> Duration {
  let start = processorTime
  try body()
  return processorTime - start
}

private var processorTime: Duration {
  var time = timespec()
  let result = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  precondition(result == 0, "every system has a clock for each thread")
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
