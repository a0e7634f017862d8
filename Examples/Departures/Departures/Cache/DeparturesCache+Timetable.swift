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
    try await value(Self.boardKey(station, on: day), in: boards, options) { [services, store] in
      let board = try await services.board(of: station, on: day, fields: options.policy.fields)
      return .stored(board, EntryAttributes(expires: board.expiration(at: store.now)))
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

  /// Ways from one station to another that begin at a moment or later, now unless another is said.
  ///
  /// All who ask within the same five minutes ask the same; each is shown what has not left yet.
  public func connections(
    from: String, to: String, at moment: Timestamp? = nil, policy: RequestPolicy = .standard
  ) async throws -> Loaded<[Connection]> {
    let moment = moment ?? store.now
    let begun = moment.milliseconds % Self.connectionSlot
    let slot = Timestamp(milliseconds: moment.milliseconds - begun)
    var ways = try await connections(from, to, at: slot, policy)
    let all = ways.value.count
    ways.value.removeAll { $0.departure < moment }
    guard ways.value.isEmpty, all > 0 else { return ways }
    // Of a line that runs every minute all that were told of may have left.
    return try await connections(from, to, at: moment, policy)
  }

  /// In milliseconds.
  private static let connectionSlot: Int64 = 300_000

  private func connections(
    _ from: String, _ to: String, at moment: Timestamp, _ policy: RequestPolicy
  ) async throws -> Loaded<[Connection]> {
    let (day, time) = (try SwissTime.day(of: moment), try SwissTime.clock(moment))
    let query =
      "from=\(from.percentEscaped)&to=\(to.percentEscaped)&date=\(day)&time=\(time.percentEscaped)"
    return try await value(query, in: connections, LoadOptions(policy: policy)) { [services] in
      .value(try await services.connections(query, fields: policy.fields))
    }
  }
}
