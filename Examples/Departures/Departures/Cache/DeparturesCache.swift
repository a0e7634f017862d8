public import Larder
import Service

/// The data of an app for boats: boards, weather, lakes, ships and maps, each with the rules of its namespace.
///
/// A stored value is returned at once, a stale one too while a newer one is fetched, or if the service cannot be
/// reached. Every result has its source.
public struct DeparturesCache: Sendable {
  /// The use of stale values.
  public enum Manner: Sendable {
    /// Return it at once and fetch a newer one in the background: for an app.
    case atOnce
    /// Wait for a newer one, and return it only if that fails: for a command.
    case afterAsking
  }

  public var manner = Manner.atOnce
  public let store: Store
  public let services: Services
  public let lakes: [Lake]
  /// Called for every lookup: `boards 8503651_2025-07-12: memory, 12 s old`.
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

  /// Every lookup: a result from the store or the service, and a line in the log.
  func answer<Value: Sendable>(
    _ key: String, in cache: Cache<Value>, _ options: LoadOptions,
    load: @escaping @Sendable () async throws -> LoadOutcome<Value>
  ) async throws -> CacheResult<Value>? {
    var options = options
    options.waitsForCommit = true
    // As long as the namespace keeps it.
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
      log?(Service.line(key, in: cache.name, loaded))
      return loaded
    } catch {
      log?("\(cache.name) \(key): no answer: \(error)")
      throw error
    }
  }

  /// Stores what an answer has beside the requested value. Without room only that value is returned.
  func keepBeside(_ body: (inout WriteBatch) throws -> Void) throws {
    do {
      try store.write(body)
    } catch let error as LarderError where error.code == .full {}
  }

  /// A lookup of a value that always exists.
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
  /// All types survive JSON unchanged, so a written value need not be decoded.
  func cache<Value: Codable & Sendable>(of type: Value.Type, on shelf: Shelf) -> Cache<Value> {
    cache(JSONCodec<Value>(isLossless: true), in: shelf.name, rules: shelf.rules)
  }
}
