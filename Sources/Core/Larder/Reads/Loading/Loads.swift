import LarderSystem
import Synchronization

/// The loads of a store in this process. All caches of the store share this table of loads.
struct Loads: ~Copyable, Sendable {
  let running = SingleFlight<LoadName>()
  let writes = LoadWrites()
  let observer = Mutex<(any LoadObserver)?>(nil)
  /// The leases on loads. Nil for a temporary store, because no other process opens such a store.
  let leases: LoadLeases?
}

/// Runs the closures that call the origin. A call loads one or several keys. A read without a load does not use the observer.
package protocol LoadObserver: Sendable {
  func run<Result>(_ load: ObservedLoad, _ call: () async throws -> Result) async throws -> Result
}

/// Facts about a load for an observer, without keys and values.
package struct ObservedLoad: Sendable {
  package var namespace: String
  /// The number of keys that one call loads; nil for the load of one key.
  package var keys: Int?
  /// Whether the load runs in the background because its callers already have a stored value.
  package var isRefresh = false
}

extension Store {
  /// Sets the observer of all loads of this store in this process, in place of the present observer.
  package func observeLoads(by observer: any LoadObserver) {
    engine.loads.observer.withLock { $0 = observer }
  }

  /// Removes the running loads of a namespace from the table, so that later callers start new loads. O(loads).
  package func leaveLoads(in namespace: String) {
    engine.loads.running.removeAll { $0.namespace == ExactString(namespace) }
  }

  /// The moment of a load that has not looked up its key yet; ``WriteBatch/isNewest(_:_:in:_:)`` needs this moment later.
  package var momentOfLoad: RemovalTable.Mark {
    if !isReadOnly { engine.removalTable.open() }
    return engine.removalTable.now
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
