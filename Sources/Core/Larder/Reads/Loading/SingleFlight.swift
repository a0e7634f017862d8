import Synchronization

/// The loads of this process, at most one for each name. A load stays in the table until its value is committed.
package final class SingleFlight<Name: Hashable & Sendable>: Sendable {
  private let loads = Mutex<[Name: any AnyInFlightLoad]>([:])
  /// By the hash of a name, the time before which no load in the background begins.
  private let pauses = Mutex<[Int: Duration]>([:])

  package init() {}

  /// Prevents loads in the background for a second. Without pauses, each hit of a stale value would ask an origin that fails.
  package func pause(_ name: Name, at now: Duration) {
    pauses.withLock { pauses in
      if pauses.count >= 10_000 { pauses = [:] }
      pauses[name.hashValue] = now + .seconds(1)
    }
  }

  package func isPaused(_ name: Name, at now: Duration) -> Bool {
    pauses.withLock { pauses in pauses[name.hashValue].map { now < $0 } ?? false }
  }

  package var count: Int { loads.withLock { $0.count } }

  /// The number of callers of all loads. Includes callers that are about to wait.
  package func callers() -> Int {
    loads.withLock { loads in loads.values.reduce(0) { $0 + $1.callers } }
  }

  /// Throws ``LoadCycle`` if the load `name` waits for the caller's load. Otherwise both loads would wait for ever.
  func checkCycle(_ name: Name) throws {
    if let caller = LoadDependencies.running, let running = loads.withLock({ $0[name] }),
      !running.isComplete, !LoadDependencies.add(from: caller, to: running, isRecorded: false)
    {
      throw LoadCycle()
    }
  }

  /// Waits for a load that the caller has joined. Throws ``LoadCycle`` if this wait would never end.
  func outcome<Outcome: Sendable>(
    of load: InFlightLoad<Outcome>, _ name: Name
  ) async throws -> Outcome {
    let caller = load.isComplete ? nil : LoadDependencies.running
    if let caller, !LoadDependencies.add(from: caller, to: load) {
      load.leave { remove(load, name) }
      throw LoadCycle()
    }
    defer { if let caller { LoadDependencies.remove(from: caller, to: load) } }
    return try await wait(load, name)
  }

  func wait<Outcome: Sendable>(
    _ load: InFlightLoad<Outcome>, _ name: Name
  ) async throws -> Outcome {
    try await load.wait { self.remove(load, name) }
  }

  /// Joins the load `name`, or starts a load if no load runs or `joins` returns false. The caller must then wait or leave.
  func enter<Outcome: Sendable>(
    _ name: Name, joins: (InFlightLoad<Outcome>) -> Bool, start: (InFlightLoad<Outcome>) -> Void
  ) -> InFlightLoad<Outcome> {
    let (load, isNew) = loads.withLock { loads in
      if let running = loads[name] as? InFlightLoad<Outcome>, joins(running), running.join() {
        return (running, false)
      }
      let load = InFlightLoad<Outcome>(isDetached: false)
      loads[name] = load
      guard load.join() else { preconditionFailure("a new load has no callers yet") }
      return (load, true)
    }
    if isNew { start(load) }
    return load
  }

  /// The load `name`, if the load runs or its value waits for the commit; otherwise nil.
  func load<Outcome: Sendable>(named name: Name) -> InFlightLoad<Outcome>? {
    loads.withLock { $0[name] as? InFlightLoad<Outcome> }
  }

  /// Removes `load` from the table, so that later callers do not join the load.
  func remove(_ load: some AnyObject, _ name: Name) {
    loads.withLock { loads in if loads[name] === load { loads[name] = nil } }
  }

  func remove(_ name: Name) { loads.withLock { $0[name] = nil } }

  func removeAll(where passes: (Name) -> Bool) {
    loads.withLock { loads in loads = loads.filter { !passes($0.key) } }
  }

  /// Joins the load `name`. If the result is nil, the caller must run the load, and call ``complete(_:with:)`` once.
  package func join<Outcome: Sendable>(_ name: Name, for type: Outcome.Type = Outcome.self)
    -> InFlightLoad<Outcome>?
  {
    loads.withLock { loads in
      if let load = loads[name] as? InFlightLoad<Outcome>, load.join() { return load }
      loads[name] = InFlightLoad<Outcome>(isDetached: true)
      return nil
    }
  }

  /// Ends the load `name`, which ``join(_:for:)`` began, and resumes every caller of the load.
  package func complete<Outcome: Sendable>(_ name: Name, with outcome: Outcome) {
    let load = loads.withLock { $0.removeValue(forKey: name) }
    (load as? InFlightLoad<Outcome>)?.complete(.success(outcome))
  }
}
