public import Larder
import Service

extension DeparturesCache {
  /// `8503651_2025-07-12`
  public static func boardKey(_ station: String, on day: CalendarDay) -> String {
    "\(station.withoutZeros)_\(day)"
  }

  /// Today, in Zurich.
  public var today: CalendarDay { get throws { try CalendarDay(of: store.now) } }

  /// The departures of a station on a day, by default today.
  ///
  /// A stale board is returned at once while a newer one is fetched, and also if the service cannot be reached; its source and
  /// error say so. A board with delays of coming departures is fresh for a minute, one with a departure within a quarter of an
  /// hour for ten minutes.
  public func board(
    at station: String, on day: CalendarDay? = nil, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<Board> {
    try await board(at: station, on: day ?? today, LoadOptions(policy: policy))
  }

  /// The boards of several stations, such as the landings of a lake, one after the other. An error of one does not end it.
  ///
  /// Once the service cannot be reached, limits requests or refuses them all, it is not asked again: the other boards are those
  /// that are stored.
  ///
  /// - Parameter body: called with each station, and its board or the reason why there is none.
  public func boards(
    at stations: [String], on day: CalendarDay? = nil, policy: RequestPolicy = .standard,
    _ body: (String, Result<CacheResult<Board>, any Error>) async throws -> Void
  ) async throws {
    var policy = policy
    var outage: ServiceError?
    for station in stations {
      let result: Result<CacheResult<Board>, any Error>
      do {
        let board = try await board(at: station, on: day, policy: policy)
        result = .success(board)
        outage = outage ?? (board.error as? ServiceError)
      } catch {
        try Task.checkCancellation()
        result = .failure(outage ?? error)
        outage = outage ?? (error as? ServiceError)
      }
      if outage?.isOutage == true { policy = .cacheOnly } else { outage = nil }
      try await body(station, result)
    }
  }

  /// The departures of a board that have not left, and those of yesterday if it is today's, in the order in which they leave.
  public func upcoming(
    of board: Board, policy: RequestPolicy = .standard
  ) async throws -> [Departure] {
    var coming = board.upcoming(at: store.now)
    if try board.day == today, let station = board.station.id {
      coming = try await late(from: station, policy: policy) + coming
    }
    return coming.sorted { $0.leaves < $1.leaves }
  }

  /// Yesterday's departures that have not left.
  ///
  /// Yesterday's board is requested only if the stored one has some.
  private func late(from station: String, policy: RequestPolicy) async throws -> [Departure] {
    let day = try today.advanced(by: -1)
    var late: [Departure] = []
    for policy in [.cacheOnly, policy] {
      do {
        late = try await board(at: station, on: day, policy: policy).value.upcoming(at: store.now)
      } catch {
        // What is stored is the best that is known.
        try Task.checkCancellation()
      }
      if late.isEmpty { break }
    }
    return late
  }

  func board(
    at station: String, on day: CalendarDay, _ options: LoadOptions
  ) async throws -> CacheResult<Board> {
    func board(_ options: LoadOptions) async throws -> CacheResult<Board> {
      try await value(Self.boardKey(station, on: day), in: boards, options) { [services, store] in
        let board = try await services.board(of: station.withoutZeros, on: day)
        return .stored(board, EntryAttributes(expires: board.expiration(at: store.now)))
      }
    }
    // Only work ahead of use has a staleness of its own.
    let isAhead = options.stale != nil
    let known = try await board(options)
    guard options.policy == .standard, known.source == .memory || known.source == .disk,
      !isAhead, known.value.isDue(at: store.now, age: known.age)
    else { return known }
    var options = options
    if waitsForNewer {
      options.policy = .revalidate
      return try await board(options)
    }
    // Its lifetime has not ended, but a newer one is fetched in the background.
    let end = try boards.entry(for: Self.boardKey(station, on: day))?.expires
    options.refreshAhead = end.map { store.now.duration(to: $0) }
    var shown = try await board(options)
    if shown.source != .loaded { shown.source = .stale }
    return shown
  }

  /// Stations and addresses whose names begin with the text. An answer without any is kept for five minutes only.
  public func stations(
    named query: String, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<[Station]> {
    try await value(query, in: locations, LoadOptions(policy: policy)) { [services] in
      let found = try await services.locations(named: query)
      if !found.isEmpty { return .value(found) }
      var attributes = EntryAttributes(expires: .after(.minutes(5)))
      attributes.stale = .zero
      return .stored(found, attributes)
    }
  }
}

extension ServiceError {
  /// Whether requests for other stations would end in the same way.
  fileprivate var isOutage: Bool {
    switch self {
    case .unreachable, .interrupted, .throttled, .wrongContent: true
    case .refused(let status, _): [401, 403, 502, 503, 504].contains(status)
    default: false
    }
  }
}
