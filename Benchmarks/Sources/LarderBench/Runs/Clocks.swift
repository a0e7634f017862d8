import Foundation

/// What time is counted.
enum RunClock: String, Codable {
  /// Time that passes.
  case wall
  /// Time the calling thread has a processor: the better one where others use the machine too. It says nothing of peers
  /// that do their work in another process, which are timed by the wall all the same.
  case processor

  /// Nanoseconds that `body` takes.
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
