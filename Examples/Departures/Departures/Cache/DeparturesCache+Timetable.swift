public import Larder
import Service

extension DeparturesCache {
  /// `8503651_2025-07-12`
  public static func boardKey(_ station: String, on day: CalendarDay) -> String {
    "\(station)_\(day)"
  }

  /// Today, in Zurich.
  public var today: CalendarDay { get throws { try SwissTime.day(of: store.now) } }

  /// All that leaves a station on a day, today unless another is said.
  ///
  /// Within the rule it comes from the store; for a day after that at once from there, while a newer one is fetched, and so it
  /// does when the service is down: then it says so, by its source and its error. A board with news about delays is fresh for a
  /// minute, one that does not have the whole day until its last departure.
  public func board(
    at station: String, on day: CalendarDay? = nil, policy: RequestPolicy = .standard
  ) async throws -> Loaded<Board> {
    try await board(at: station, on: day ?? today, LoadOptions(policy: policy))
  }

  func board(
    at station: String, on day: CalendarDay, _ options: LoadOptions
  ) async throws -> Loaded<Board> {
    try await value(Self.boardKey(station, on: day), in: boards, options) { [services] in
      let board = try await services.board(of: station, on: day, fields: options.policy.fields)
      return .stored(board, EntryAttributes(expires: board.expiration))
    }
  }

  /// Stations whose names begin so; addresses, too.
  public func stations(
    named query: String, policy: RequestPolicy = .standard
  ) async throws -> Loaded<[Station]> {
    try await stations("query=" + query.percentEscaped, policy)
  }

  /// Stations near a place.
  public func stations(
    near place: Place, policy: RequestPolicy = .standard
  ) async throws -> Loaded<[Station]> {
    // Of the service's coordinates x is the latitude.
    try await stations("x=\(place.latitude)&y=\(place.longitude)", policy)
  }

  private func stations(
    _ query: String, _ policy: RequestPolicy
  ) async throws -> Loaded<[Station]> {
    try await value(query, in: locations, LoadOptions(policy: policy)) { [services] in
      .value(try await services.locations(query, fields: policy.fields))
    }
  }

  /// Ways from one station to another that begin at a moment or later.
  public func connections(
    from: String, to: String, at moment: Timestamp? = nil, policy: RequestPolicy = .standard
  ) async throws -> Loaded<[Connection]> {
    let moment = moment ?? store.now
    let (day, time) = (try SwissTime.day(of: moment), try SwissTime.clock(moment))
    return try await value(
      "\(from)_\(to)_\(day)T\(time)", in: connections, LoadOptions(policy: policy)
    ) { [services] in
      .value(
        try await services.connections(
          from: from, to: to, day: day, time: time, fields: policy.fields))
    }
  }
}
