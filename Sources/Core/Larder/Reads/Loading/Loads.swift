import Synchronization

/// The loads of a store in this process. All caches of the store share this table of loads.
struct Loads: ~Copyable, Sendable {
  let running = SingleFlight<LoadName>()
  let writes = LoadWrites()
  let observer = Mutex<(any LoadObserver)?>(nil)
  /// The leases on loads. Nil for a temporary store, because no other process opens such a store.
  let leases: LoadLeases?
}
