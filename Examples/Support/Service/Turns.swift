public import Larder
import Synchronization

extension Cache {
  /// Calls `body` in one task of one process of the machine at a time for this key: requests keep their order, and each caller
  /// finds in the store what the caller before it has stored.
  ///
  /// The turn is the lease of a load that never has a value. It only saves requests: between processes it ends after a minute.
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
      // The value is nil if another task of this process had the turn.
      if let value = result.value.withLock({ $0 }) { return value }
    }
  }
}

private final class Box<Value: Sendable>: Sendable { let value = Mutex<Value?>(nil) }
