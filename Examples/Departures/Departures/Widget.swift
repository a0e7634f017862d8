import Larder
import Service

/// The next departures, which the app publishes and a widget reads in another process. A departure expires when the boat leaves.
extension DeparturesCache {
  private var nextDepartures: Cache<Departure> { cache(of: Departure.self, in: .next) }

  /// Replaces the published departures of a station in one transaction. The departures come from stored boards and ships: late
  /// departures of yesterday, and departures of today and tomorrow. At most 20 are published.
  public func publish(_ station: String) async throws {
    var stored = self
    stored.policy = .cacheOnly
    let ships = try await unless(.notStored) { try await stored.ships() }?.value ?? [:]
    var departures: [Departure] = []
    for day in (-1...1).map({ today.advanced(by: $0) }) {
      let found = try await unless(.notStored) { try await stored.board(at: station, on: day) }
      guard let board = found?.value else { continue }
      departures += board.upcoming(at: store.now).map { $0.named(by: ships["\(day)"] ?? [:]) }
    }
    departures.sort { $0.leaves < $1.leaves }
    let (next, prefix) = (nextDepartures, station + "/")
    try store.write { batch in
      // Another process may have published meanwhile, so the keys are read inside the write.
      for key in try next.keys(prefix: prefix) { try batch.remove(key, from: next) }
      for departure in departures.prefix(20) {
        let run = "\(departure.time.milliseconds)/\(departure.course)/\(departure.destination)"
        try batch.set(departure, for: prefix + run, in: next, expires: .at(departure.leaves))
      }
    }
  }

  /// The published departures of a station that have not left, sorted by the time at which they leave.
  public func published(from station: String, limit: Int = 3) throws -> [Departure] {
    var found: [Departure] = []
    try nextDepartures.entries(prefix: station + "/").visit { found.append($1) }
    return Array(found.sorted { $0.leaves < $1.leaves }.prefix(max(limit, 0)))
  }

  /// Calls `show` with the published departures of some stations: immediately, after each publication by any process, and each
  /// time that a departure has left. Returns when `show` returns false.
  public func watch(
    _ stations: [String], limit: Int = 3, _ show: ([Departure]) throws -> Bool
  ) async throws {
    let clock = store.clock
    var shown: [Departure]?
    while !Task.isCancelled {
      // Subscribes before the read, so that no change between the subscription and the read is missed.
      let changes = nextDepartures.namespace.changes()
      let departures = try stations.flatMap { try published(from: $0, limit: limit) }
      // One publication makes many changes, so the departures may be equal to those already shown.
      if departures != shown, try !show(departures) { return }
      shown = departures
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for await change in changes {
            if case .ended(let error) = change.kind { throw error }
            return
          }
        }
        if let first = departures.map(\.leaves).min() {
          group.addTask {
            // Only the wall clock runs while the machine is suspended, so the wait is at most a minute.
            let (begin, left) = (clock.monotonic, min(clock.now.duration(to: first), .minutes(1)))
            try? await clock.sleep(until: begin + left)
          }
        }
        _ = try await group.next()
        group.cancelAll()
      }
    }
  }
}
