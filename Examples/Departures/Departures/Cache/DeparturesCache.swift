public import Larder
import Service

/// The data of an app for boats: boards, weather, lakes, ships and maps, each with the rules of its namespace.
///
/// A stored value is returned at once, a stale one too while a newer one is fetched, or if the service cannot be
/// reached. Every result has its source.
public struct DeparturesCache: Sendable {
  /// Whether a lookup waits for a newer value in place of a stale one, as in a command. An app shows the stale one at once.
  public var waitsForNewer = false
  public let store: Store
  public let services: Services
  public let lakes: [Lake]

  var boards: Cache<Board> { cache(.boards) }
  var locations: Cache<[Station]> { cache(.locations) }
  var forecasts: Cache<Forecast> { cache(.weather) }
  var ships: Cache<ShipDay> { cache(.ships) }
  var temperatures: Cache<WaterTemperature> { cache(.temperatures) }
  var levels: Cache<WaterLevel> { cache(.levels) }
  var sun: Cache<SunTimes> { cache(.sun) }
  var tiles: Cache<[UInt8]> {
    store.cache(
      of: [UInt8].self, in: services.realm.name(BoatNamespace.tiles.name, in: store),
      rules: BoatNamespace.tiles.rules)
  }

  /// - Parameter services: those over the same store.
  public init(
    _ store: Store, services: Services, lakes: [Lake] = Lake.known
  ) throws(LarderError) {
    (self.store, self.services, self.lakes) = (store, services, lakes)
    try store.declare(.departures)
    try store.declare(BoatNamespace.http.rules, for: BoatNamespace.http.name)
  }

  /// The widget of these services.
  public var widget: Widget {
    Widget(store, realm: services.realm, ships: services.realm(of: .ships))
  }

  private func cache<Value: Codable & Sendable>(_ namespace: BoatNamespace) -> Cache<Value> {
    store.cache(in: namespace, services.realm(of: namespace))
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
    if waitsForNewer, options.stale == nil {
      options.stale = Staleness(onError: cache.rules?.stale ?? .zero)
    }
    let log = services.log
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

  /// A lookup of a value that always exists.
  func value<Value: Sendable>(
    _ key: String, in cache: Cache<Value>, _ options: LoadOptions,
    load: @escaping @Sendable () async throws -> LoadOutcome<Value>
  ) async throws -> CacheResult<Value> {
    guard let loaded = try await answer(key, in: cache, options, load: load) else {
      throw NotFound(key: key, place: cache.name)
    }
    return loaded
  }
}

extension Store {
  /// All types survive JSON unchanged, so a written value need not be decoded.
  func cache<Value: Codable & Sendable>(
    in namespace: BoatNamespace, _ realm: Realm
  ) -> Cache<Value> {
    cache(
      JSONCodec<Value>(isLossless: true), in: realm.name(namespace.name, in: self),
      rules: namespace.rules)
  }
}
