import Larder

/// The next departures. An app writes them, and its widget, another process, reads them from the same store. A departure
/// expires when it leaves.
public struct Widget: Sendable {
  public static let most = 20

  private let next: Cache<Departure>

  public init(_ cache: DeparturesCache) {
    next = cache.cache(of: Departure.self, in: .next)
  }

  /// Replaces the departures of a station in one transaction.
  public func publish(_ departures: [Departure], for station: String) throws {
    let prefix = station.withoutZeros + "/"
    let old = try next.keys(prefix: prefix)
    try next.namespace.store.write { batch in
      for key in old { try batch.remove(key, from: next) }
      for departure in departures.prefix(Self.most) {
        let run = "\(departure.time.milliseconds)/\(departure.course)/\(departure.destination)"
        try batch.set(departure, for: prefix + run, in: next, expires: .at(departure.leaves))
      }
    }
  }

  /// The next departures of a station, in the order in which they leave.
  public func departures(from station: String, limit: Int = 3) throws -> [Departure] {
    var found: [Departure] = []
    try next.entries(prefix: station.withoutZeros + "/").visit { found.append($1) }
    return Array(found.sorted { $0.leaves < $1.leaves }.prefix(max(limit, 0)))
  }

  /// Calls `show` with the next departures of some stations: at once, after each publication by any process, and whenever a
  /// departure has left. Ends when `show` returns false.
  public func watch(
    _ stations: [String], limit: Int = 3, _ show: ([Departure]) throws -> Bool
  ) async throws {
    let clock = next.namespace.store.clock
    var shown: [Departure]?
    while !Task.isCancelled {
      // The subscription begins before the read, so that no change is missed.
      let changes = next.namespace.changes()
      let departures = try stations.flatMap { try self.departures(from: $0, limit: limit) }
      // A publication makes many changes.
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
            try? await clock.sleep(until: clock.monotonic + clock.now.duration(to: first))
          }
        }
        _ = try await group.next()
        group.cancelAll()
      }
    }
  }
}
