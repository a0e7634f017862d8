import Synchronization

/// Runs the calls of the origin. Each call loads one key or several keys. The observer sees no read without a load.
package protocol LoadObserver: Sendable {
  func run<Result>(_ load: ObservedLoad, _ call: () async throws -> Result) async throws -> Result
}

/// The facts of a load for an observer, without its keys and values.
package struct ObservedLoad: Sendable {
  package var namespace: String
  /// The number of keys that one call loads; nil for the load of one key.
  package var keys: Int?
  /// Whether the load runs in the background, while its callers have a stored value.
  package var isRefresh = false
}

extension Store {
  /// Sets the observer of all loads of this store in this process; it replaces the earlier observer.
  package func observeLoads(by observer: any LoadObserver) {
    engine.loads.observer.withLock { $0 = observer }
  }
}

extension StoreEngine {
  func observed<Result>(
    _ load: ObservedLoad, _ call: () async throws -> Result
  ) async throws -> Result {
    guard let observer = loads.observer.withLock({ $0 }) else { return try await call() }
    return try await observer.run(load, call)
  }
}
