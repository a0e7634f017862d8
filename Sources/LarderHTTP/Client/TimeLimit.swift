import Larder

/// Returns the result of `body`, or cancels it after `limit` and throws.
func within<Value: Sendable>(
  _ limit: Duration, by clock: any LarderClock, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  let end = clock.monotonic + limit
  return try await withThrowingTaskGroup(of: Value?.self) { group in
    defer { group.cancelAll() }
    group.addTask { try await body() }
    group.addTask {
      try await clock.sleep(until: end)
      return nil
    }
    guard let first = try await group.next(), let value = first else {
      throw HTTPCacheError.timedOut(limit)
    }
    return value
  }
}
