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
  ) async throws -> CacheResult<Board> {
    try await board(at: station, on: day ?? today, LoadOptions(policy: policy))
  }

  func board(
    at station: String, on day: CalendarDay, _ options: LoadOptions
  ) async throws -> CacheResult<Board> {
    try await value(Self.boardKey(station, on: day), in: boards, options) { [services, store] in
      let board = try await services.board(of: station, on: day, fields: options.policy.fields)
      return .stored(board, EntryAttributes(expires: board.expiration(at: store.now)))
    }
  }

  /// Stations whose names begin so; addresses, too.
  public func stations(
    named query: String, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<[Station]> {
    try await stations("query=" + query.percentEscaped, policy)
  }

  /// Stations near a place.
  public func stations(
    near place: Place, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<[Station]> {
    // Of the service's coordinates x is the latitude.
    try await stations("x=\(place.latitude)&y=\(place.longitude)", policy)
  }

  private func stations(
    _ query: String, _ policy: RequestPolicy
  ) async throws -> CacheResult<[Station]> {
    try await value(query, in: locations, LoadOptions(policy: policy)) { [services] in
      .value(try await services.locations(query, fields: policy.fields))
    }
  }

  /// Ways from one station to another that begin at a moment or later, now unless another is said.
  ///
  /// All who ask within the same five minutes ask the same; each is shown what has not left yet. Where all of that has, those
  /// are asked for that leave from the next full minute on.
  public func connections(
    from: String, to: String, at moment: Timestamp? = nil, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<[Connection]> {
    let moment = moment ?? store.now
    let slot = moment.cut(to: Self.connectionSlot)
    var ways = try await connections(from, to, at: slot, policy)
    let all = ways.value.count
    ways.value.removeAll { $0.departure < moment }
    // Of a line that runs every minute all that were told of may have left. All leave on full minutes, and that with which
    // the slot begins has been asked from.
    let next = moment.advanced(by: .milliseconds(Self.minute - 1)).cut(to: Self.minute)
    guard ways.value.isEmpty, all > 0, next > slot else { return ways }
    ways = try await connections(from, to, at: next, policy)
    ways.value.removeAll { $0.departure < moment }
    return ways
  }

  /// In milliseconds.
  private static let minute: Int64 = 60_000
  private static let connectionSlot = 5 * minute

  private func connections(
    _ from: String, _ to: String, at moment: Timestamp, _ policy: RequestPolicy
  ) async throws -> CacheResult<[Connection]> {
    let (day, time) = (try SwissTime.day(of: moment), try SwissTime.clock(moment))
    let query =
      "from=\(from.percentEscaped)&to=\(to.percentEscaped)&date=\(day)&time=\(time.percentEscaped)"
    return try await value(query, in: connections, LoadOptions(policy: policy)) { [services] in
      .value(try await services.connections(query, fields: policy.fields))
    }
  }
}

extension Timestamp {
  /// The last moment until this one that is a multiple of so many milliseconds after 1970.
  fileprivate func cut(to step: Int64) -> Timestamp {
    Timestamp(milliseconds: milliseconds - milliseconds % step)
  }
}
