public import Larder

/// A request ahead of use.
public enum PrefetchRequest: Hashable, Sendable, CustomStringConvertible {
  /// Fetches a station's board: today's, or that of a later day.
  case board(String, inDays: Int = 0)
  /// Fetches today's board, and writes the next departures for the widget.
  case next(String)
  /// Fetches the ship names of today.
  case ships

  public var description: String {
    switch self {
    case .board(let station, 0), .next(let station): station
    case .board(let station, let days): "\(station) in \(days) d"
    case .ships: "ships"
    }
  }
}

/// Requests ahead of use, one after the other at low priority. Each has an outcome of its own.
///
/// Iterate for the progress; cancel with ``Prefetch/cancel()``.
extension DeparturesCache {
  /// Fetches today's boards of the favourites, unless they are fresh.
  public func prefetch(_ favourites: [String]) throws -> Prefetch<PrefetchRequest> {
    try run(favourites.map { .board($0) })
  }

  /// For the start of an app: the boards of the favourites, then the names of the ships; nothing for the widget.
  public func start(_ favourites: [String]) throws -> Prefetch<PrefetchRequest> {
    try run(favourites.map { .board($0) } + [.ships])
  }

  /// For an app that goes to the background: updates the widget, and fetches the boards of tomorrow for a morning without a
  /// network; for the stations of the widget's settings.
  public func enterBackground() throws -> Prefetch<PrefetchRequest> {
    let stations = try widget.settings.stations
    if stations.isEmpty { return try run([]) }
    return try run([.ships] + stations.map { .next($0) } + stations.map { .board($0, inDays: 1) })
  }

  /// The pause after a number of loaded favourites: none between the first two, then 0.5 s, then 0.2 s each.
  static func pause(after done: Int) -> Duration {
    switch done {
    case ...1: .zero
    case 2: .milliseconds(500)
    default: .milliseconds(200)
    }
  }

  private func run(_ requests: [PrefetchRequest]) throws -> Prefetch<PrefetchRequest> {
    let before = requests.first == .ships ? 1 : 0
    return try Prefetch(
      requests, concurrency: 1, clock: store.clock, priority: .low,
      pause: { Self.pause(after: $0 - before) },
      load: { try await perform($0) })
  }

  private func perform(_ request: PrefetchRequest) async throws
    -> Prefetch<PrefetchRequest>.Step.Outcome
  {
    switch request {
    case .board(let station, let days):
      let day = try today.advanced(by: days)
      let board = try await board(at: station, on: day, Self.waiting(for: .boards))
      if days > 0 {
        do {
          try await publish(station, policy: .cacheOnly)
        } catch {
          // Without today's board the widget stays as it is.
          try Task.checkCancellation()
        }
      }
      return outcome(board)
    case .next(let station):
      let board = try await board(at: station, on: today, Self.waiting(for: .boards))
      // The names were fetched before, or are not available.
      try await publish(station, policy: .cacheOnly)
      return outcome(board)
    case .ships:
      if services.boats == nil { return .present }
      return outcome(try await ships(on: today, Self.waiting(for: .ships)))
    }
  }

  private func outcome<Value>(_ loaded: CacheResult<Value>)
    -> Prefetch<PrefetchRequest>.Step.Outcome
  {
    if let error = loaded.error { return .failed(error) }
    return loaded.source == .loaded ? .loaded : .present
  }

  /// A prefetch waits for a newer value in place of a stale one.
  private static func waiting(
    for namespace: BoatNamespace, policy: RequestPolicy = .standard
  ) -> LoadOptions {
    LoadOptions(policy: policy, stale: Staleness(onError: namespace.rules.stale))
  }
}

extension DeparturesCache {
  /// Writes the next departures of a station for the widget, and returns them. Late in the day these include tomorrow's first.
  ///
  /// It waits for a newer board in place of a stale one, because later news would not reach the widget.
  @discardableResult
  public func publish(
    _ station: String, policy: RequestPolicy = .standard
  ) async throws -> [NextDeparture] {
    let board = try await board(at: station, on: today, Self.waiting(for: .boards, policy: policy))
    let next = try await next(after: board.value, rows: widget.settings.rows, policy: policy)
    try widget.publish(next, for: station)
    return next
  }

  /// The next departures of a board, with those of yesterday that are late, and tomorrow's first ones if it is today's and has
  /// fewer than ``Widget/most``.
  ///
  /// - Parameter rows: those that will be shown. Tomorrow's board is worth a request only if there are fewer.
  public func next(
    after board: Board, rows: Int, policy: RequestPolicy = .standard
  ) async throws -> [NextDeparture] {
    var next = try await next(
      upcoming(of: board, policy: policy), from: board.station, policy: policy)
    // After a board that does not reach the end of its day come others of today.
    if next.count < Widget.most, board.reaches == nil, let station = board.station.id {
      next += try await tomorrow(of: station, policy: next.count < rows ? policy : .cacheOnly)
    }
    return Array(next.prefix(Widget.most))
  }

  /// Some departures with the names of their ships, at most ``Widget/most``.
  private func next(
    _ departures: [Departure], from station: Station, policy: RequestPolicy
  ) async throws -> [NextDeparture] {
    var (next, ships): ([NextDeparture], [CalendarDay: ShipDay]) = ([], [:])
    for departure in departures.prefix(Widget.most) {
      let day = try departure.day
      if ships[day] == nil { ships[day] = try await shipNames(on: day, policy: policy).day }
      next.append(NextDeparture(departure, from: station, ship: ships[day]?.ship(of: departure)))
    }
    return next
  }

  /// Tomorrow's first departures; none if the board is not available.
  private func tomorrow(of station: String, policy: RequestPolicy) async throws -> [NextDeparture] {
    let day = try today.advanced(by: 1)
    do {
      let board = try await board(at: station, on: day, Self.waiting(for: .boards, policy: policy))
        .value
      return try await next(board.upcoming(at: store.now), from: board.station, policy: .cacheOnly)
    } catch {
      try Task.checkCancellation()
      return []
    }
  }
}
