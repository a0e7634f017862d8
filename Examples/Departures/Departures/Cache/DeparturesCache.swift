public import Larder

/// What an app for boats shows: boards, weather, lakes, ships and maps, each kept as its shelf says.
///
/// Whatever is asked for is answered at once if it is there, be it past its freshness while a newer one is fetched; and from
/// the store if the service is down. Each answer says where it comes from.
public struct DeparturesCache: Sendable {
  /// What is done about an answer that is past its freshness.
  public enum Manner: Sendable {
    /// It is shown, and a newer one fetched meanwhile: for who goes on running.
    case atOnce
    /// A newer one is waited for, and it is shown only if that cannot be had: for who ends with the answer.
    case afterAsking
  }

  public var manner = Manner.atOnce
  public let store: Store
  public let services: Services
  public let lakes: [Lake]
  /// Told of every answer, `boards 8503651_2025-07-12: memory, 12 s old`, and of what there was none for.
  let log: (@Sendable (String) -> Void)?

  let boards: Cache<Board>
  let connections: Cache<[Connection]>
  let locations: Cache<[Station]>
  let forecasts: Cache<Forecast>
  let ships: Cache<ShipDay>
  let temperatures: Cache<WaterTemperature>
  let levels: Cache<WaterLevel>
  let sun: Cache<SunTimes>
  let tiles: Cache<[UInt8]>

  /// - Parameter services: those over the same store.
  public init(
    _ store: Store, services: Services, lakes: [Lake] = Lake.known,
    log: (@Sendable (String) -> Void)? = nil
  ) throws(LarderError) {
    self.store = store
    self.services = services
    self.lakes = lakes
    self.log = log
    boards = store.cache(of: Board.self, on: .boards)
    connections = store.cache(of: [Connection].self, on: .connections)
    locations = store.cache(of: [Station].self, on: .locations)
    forecasts = store.cache(of: Forecast.self, on: .weather)
    ships = store.cache(of: ShipDay.self, on: .ships)
    temperatures = store.cache(of: WaterTemperature.self, on: .temperatures)
    levels = store.cache(of: WaterLevel.self, on: .levels)
    sun = store.cache(of: SunTimes.self, on: .sun)
    tiles = store.cache(BytesCodec(), in: Shelf.tiles.name, rules: Shelf.tiles.rules)
    try store.declare(.departures)
    try store.declare(Shelf.http.rules, for: Shelf.http.name)
  }

  public func lake(_ id: String) -> Lake? { lakes.first { $0.id == id } }

  /// What every question comes to: an answer from the store or the service, and a line in the log.
  func answer<Value: Sendable>(
    _ key: String, in cache: Cache<Value>, _ options: LoadOptions,
    load: @escaping @Sendable () async throws -> LoadOutcome<Value>
  ) async throws -> CacheResult<Value>? {
    var options = options
    // As long as the shelf keeps it.
    if manner == .afterAsking, options.stale == nil {
      options.stale = .onError(cache.rules?.stale ?? .zero)
    }
    if let log {
      options.onBackgroundError = { log("\(cache.name) \(key): could not be refreshed: \($0)") }
    }
    do {
      let loaded = try await cache.revalidatedResult(for: key, options: options) { _ in
        try await load()
      }
      let words = loaded.map { "\($0.source.rawValue), \($0.age / .seconds(1)) s old" }
      log?("\(cache.name) \(key): \(words ?? "nothing")")
      return loaded
    } catch {
      log?("\(cache.name) \(key): no answer: \(error)")
      throw error
    }
  }

  /// The same where there always is something.
  func value<Value: Sendable>(
    _ key: String, in cache: Cache<Value>, _ options: LoadOptions,
    load: @escaping @Sendable () async throws -> LoadOutcome<Value>
  ) async throws -> CacheResult<Value> {
    guard let loaded = try await answer(key, in: cache, options, load: load) else {
      throw Missing(key: key, place: cache.name)
    }
    return loaded
  }
}

extension Store {
  /// Everything here comes back from JSON as it was, so that what was just written need not be decoded to be read.
  func cache<Value: Codable & Sendable>(of type: Value.Type, on shelf: Shelf) -> Cache<Value> {
    cache(JSONCodec<Value>(isLossless: true), in: shelf.name, rules: shelf.rules)
  }
}
