public import Larder
import Service

extension DeparturesCache {
  /// `8503651_2025-07-12`
  public static func boardKey(_ station: String, on day: CalendarDay) -> String {
    "\(station)_\(day)"
  }

  /// Today, in Zurich.
  public var today: CalendarDay { get throws { try CalendarDay(of: store.now) } }

  /// The departures of a station on a day, by default today.
  ///
  /// A stale board is returned at once while a newer one is fetched, and also if the service cannot be reached; its source and
  /// error say so. A board with delays of coming departures is fresh for a minute, an incomplete board until its last
  /// departure.
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

  /// Stations and addresses whose names begin with the text.
  public func stations(
    named query: String, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<[Station]> {
    try await value(query, in: locations, LoadOptions(policy: policy)) { [services] in
      .value(try await services.locations(named: query, fields: policy.fields))
    }
  }

  /// The ways from one station to another that leave at a time or later, by default now.
  ///
  /// Requests use slots of five minutes, so that they can be shared; ways that have left are filtered out. If all have left,
  /// another request begins at the next full minute. Without a network the ways of the nearest stored slot are returned as
  /// stale.
  public func connections(
    from: String, to: String, at moment: Timestamp? = nil, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<[Connection]> {
    let moment = moment ?? store.now
    let slot = moment.cut(to: Self.connectionSlot)
    var ways = try await connections(from, to, at: slot, policy)
    let all = ways.value.count
    ways.value.removeAll { $0.departure < moment }
    if ways.source == .stale { return ways }
    // Departures are on full minutes; the first minute of the slot was requested already.
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
    let (day, time) = (try CalendarDay(of: moment), try SwissTime.clock(moment))
    let query =
      "from=\(from.percentEscaped)&to=\(to.percentEscaped)&date=\(day)&time=\(time.percentEscaped)"
    do {
      return try await value(query, in: connections, LoadOptions(policy: policy)) { [services] in
        .value(try await services.connections(query, fields: policy.fields))
      }
    } catch let error as ServiceError where error.isOffline && policy != .reload {
      let pair = "from=\(from.percentEscaped)&to=\(to.percentEscaped)&"
      guard let stored = try nearest(pair, at: moment, error) else { throw error }
      return stored
    }
  }

  /// Of the stored answers for other slots, the latest with a way that has not left; nil if there is none.
  private func nearest(
    _ prefix: String, at moment: Timestamp, _ error: any Error
  ) throws -> CacheResult<[Connection]>? {
    var found: CacheResult<[Connection]>?
    try connections.namespace.scan(prefix: prefix) { entry, bytes in
      let ways = try JSONCodec<[Connection]>().decode(bytes)
      guard ways.contains(where: { $0.departure >= moment }) else { return true }
      let age = entry.written.duration(to: store.now)
      if found.map({ age < $0.age }) ?? true {
        found = CacheResult(value: ways, source: .stale, age: age)
        found?.error = error
      }
      return true
    }
    return found
  }
}

extension Timestamp {
  /// Rounded down to a multiple of `step` milliseconds since 1970.
  fileprivate func cut(to step: Int64) -> Timestamp {
    Timestamp(milliseconds: milliseconds - milliseconds % step)
  }
}
