import LarderSystem

extension StoreClock {
  /// The outcome of `body`. If `body` takes longer than `limit`, it is cancelled, and the outcome is that of `otherwise`.
  func run<Outcome: Sendable>(
    within limit: Duration?, _ body: @escaping @Sendable () async throws -> Outcome,
    else otherwise: @escaping @Sendable () throws -> Outcome
  ) async throws -> Outcome {
    guard let limit else { return try await body() }
    let end = monotonic + limit.bounded
    return try await withThrowingTaskGroup(of: Outcome.self) { group in
      defer { group.cancelAll() }
      group.addTask { try await body() }
      group.addTask {
        try await sleep(until: end)
        return try otherwise()
      }
      guard let first = try await group.next() else { throw CancellationError() }
      return first
    }
  }
}
