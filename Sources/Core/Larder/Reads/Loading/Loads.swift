import Synchronization

/// The loads of a store in this process; all caches of the store share the loads.
struct Loads: ~Copyable, Sendable {
  let running = SingleFlight<LoadName>()
  let writes = LoadWrites()
  let observer = Mutex<(any LoadObserver)?>(nil)
  /// The leases on loads; nil for a temporary store, which no other process opens.
  let leases: LoadLeases?
}
