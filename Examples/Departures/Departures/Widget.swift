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
    // The subscription begins before the first read, so that no change is missed.
    let changes = next.namespace.changes()
    let (news, pending) = AsyncThrowingStream<Void, any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(1))
    pending.yield()
    let watch = Task {
      for await change in changes {
        if case .ended(let error) = change.kind { pending.finish(throwing: error) }
        pending.yield()
      }
    }
    var (shown, timer): ([Departure]?, Task<Void, any Error>?)
    defer {
      watch.cancel()
      timer?.cancel()
    }
    for try await _ in news {
      let departures = try stations.flatMap { try self.departures(from: $0, limit: limit) }
      // A publication makes many changes.
      if departures == shown { continue }
      guard try show(departures) else { return }
      shown = departures
      timer?.cancel()
      guard let first = departures.map(\.leaves).min() else { continue }
      let clock = next.namespace.store.clock
      timer = Task {
        try await clock.sleep(until: clock.monotonic + clock.now.duration(to: first))
        pending.yield()
      }
    }
  }
}
