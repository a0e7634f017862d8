public import Larder
import Synchronization

extension Cache {
  /// Calls `body` in one process of the machine, and in one of its tasks, at a time for this key: requests keep their order,
  /// and the next one finds in the store what the one before has stored.
  ///
  /// The turn is the lease of a load that never has a value. It saves requests only: among processes it ends after a minute.
  public func inTurn<Result: Sendable>(
    _ key: String, _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    let result = Box<Result>()
    while true {
      _ = try await self.result(for: key) { _ in
        let value = try await body()
        result.value.withLock { $0 = value }
        return .absent
      }
      // Nil if another task of this process had the turn.
      if let value = result.value.withLock({ $0 }) { return value }
    }
  }
}

private final class Box<Value: Sendable>: Sendable { let value = Mutex<Value?>(nil) }
