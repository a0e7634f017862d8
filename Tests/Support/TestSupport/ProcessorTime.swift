import Foundation

/// How long the calling thread has a processor while it runs `body`.
///
/// Unlike time that passes, it does not grow with what else the machine does, so that a test can tell a cost that is linear from
/// one that is quadratic.
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
