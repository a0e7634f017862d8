import Synchronization

/// Runs the calls of the origin, each for one load or for the keys that share a call. It sees no read that needs no load.
package protocol LoadObserver: Sendable {
  /// Runs `call`, whose result or error it returns or throws.
  func run<Result>(_ load: ObservedLoad, _ call: () async throws -> Result) async throws -> Result
}

/// The facts of a load that an observer is told; neither its keys nor its values.
package struct ObservedLoad: Sendable {
  /// The name of the namespace.
  package var namespace: String
  /// How many keys one call loads; nil for the load of one key.
  package var keys: Int?
  /// Whether the load runs in the background, while its callers have a stored value.
  package var isRefresh = false
}

extension Store {
  /// Sets the observer of all loads of this store in this process, in place of an earlier one.
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
