import Service

/// The time between two rounds of requests. While a service fails, it doubles with each round.
public struct RefreshPause: Sendable {
  private static let shortest = Duration.seconds(10)
  private static let longest = Duration.seconds(600)
  private var pause = Self.shortest

  public init() {}

  /// Ten seconds after a good round; after faults at most ten minutes, or as long as a service asks to wait.
  ///
  /// - Parameter faults: those of the round. A station that is not in the timetable is none.
  public mutating func next(after faults: [any Error]) -> Duration {
    let waits = faults.map { error in
      if case ServiceError.throttled(let wait) = error { wait } else { Duration.zero }
    }
    pause =
      faults.allSatisfy { $0 is NotFound }
      ? Self.shortest : max(min(pause * 2, Self.longest), waits.max() ?? .zero)
    return pause
  }
}
