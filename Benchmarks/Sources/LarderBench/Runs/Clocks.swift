import Foundation

/// The clocks by which a workload can be measured.
enum RunClock: String, Codable {
  /// Elapsed time.
  case wall
  /// The processor time of the calling thread. On a busy machine, this time is more exact than the elapsed time. The processor
  /// time does not include work in another process, so peers with a server are always timed by the wall clock.
  case processor

  /// The nanoseconds of `body`.
  func time(_ body: () throws -> Void) rethrows -> Double {
    switch self {
    case .wall: return try nanoseconds(body)
    case .processor:
      let start = Self.processorTime
      try body()
      return Self.processorTime - start
    }
  }

  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}

func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
  let time = try ContinuousClock().measure(body)
  return Double(time.components.seconds) * 1e9 + Double(time.components.attoseconds) / 1e9
}
