import HTTPTypes
public import Larder
public import LarderHTTP
import Service

/// The data of an app for boats. Each kind of data has a namespace with its own rules.
///
/// A lookup immediately returns a stored value. A stale value means that a newer value is being fetched or that the service
/// cannot be reached. Every result says where it comes from.
public struct DeparturesCache: Sendable {
  public let store: Store
  /// Whether lookups use the store, the service, or both.
  public var policy = RequestPolicy.standard
  /// Whether a lookup waits for a newer value. A command waits, but an app shows the stale value first.
  public var waitsForNewer = false
  private let timetable, weather, simulations, tiles: Service
  /// The service with the names of ships and the report of the lakes; nil without a base: the service has no public address.
  private let boats: Service?
  private let weatherKey: String
  /// A realm for the data of services at another base, so that these data do not mix with the usual data; otherwise nil.
  private let realm: Realm?

  /// - Parameters:
  ///   - base: One address for all services, for a test or a recording.
  ///   - weatherKey: The credential of the weather service. Keys in the store contain only its digest.
  ///   - log: Called for every lookup and request, with a line such as `boat.boards 8503651_2025-07-12: memory, 12 s old`.
  public init(
    in store: Store, base: String? = nil, over transport: any HTTPTransport, weatherKey: String,
    log: (@Sendable (String) -> Void)? = nil
  ) throws(LarderError) {
    // The first level of caching only avoids transfers of unchanged bodies. The second level, decoded values, decides what is
    // fresh and serves stale values, so the first level serves no stale bodies without a network, and stores no tiles.
    var http = HTTPCachePolicy(whenDisconnected: .zero)
    http.secretParameters.insert("appid")
    let responses = HTTPCache(
      in: store.namespace(BoatNamespace.http.name), over: transport, policy: http)
    func service(_ path: String, at address: String, _ control: String = "no-cache") -> Service {
      var service = Service(at: base.map { Service.base($0) + path } ?? address, over: responses)
      service.message = { $0["message"]?.text }
      service.log = log
      service.fields[.cacheControl] = control
      return service
    }
    timetable = service("/v1", at: "https://transport.opendata.ch/v1")
    weather = service("/weather", at: "https://api.openweathermap.org/data/2.5")
    simulations = service("/simulations", at: "https://alplakes-api.eawag.ch")
    tiles = service("/tiles", at: "https://tile.openstreetmap.org", "no-store")
    boats = base.map { service("/boats", at: $0) }
    realm = base.map { store.realm(of: $0) }
    (self.store, self.weatherKey) = (store, weatherKey)
    try store.declare(StoreLimits(disk: .megabytes(100), memory: .megabytes(50)))
    try store.declare(BoatNamespace.http.rules, for: BoatNamespace.http.name)
  }

  /// The departures of a station on a day, by default today. The store has them under a key such as `8503651_2025-07-12`.
  public func board(at station: String, on day: CalendarDay? = nil) async throws
    -> CacheResult<Board>
  {
    let day = day ?? today
    return try await value("\(station)_\(day)", in: .boards) {
      // A single request is enough, because no landing has 200 departures in a day.
      let question = "id=\(station.percentEscaped)&limit=200"
      let path = "/stationboard?\(question)&datetime=\("\(day) 00:00".percentEscaped)"
      let body = try await timetable.get(BoardBody.self, from: path) { $0.fault(on: day) }
      guard let board = body.board(on: day) else {
        throw NotFound(description: "the station \(station) is not in the timetable")
      }
      // Delays change quickly, so a board with a known delay of a coming departure is fresh for only a minute.
      let isDelayed = board.upcoming(at: store.now).contains { $0.delay != nil }
      return Loaded(board, expires: isDelayed ? .after(.minutes(1)) : nil)
    }
  }

  /// All lookups use this function. Returns a value of the store or the service, and logs a line. Absence is stored for an hour.
  private func value<Value: Codable & Sendable>(
    _ key: String, in namespace: BoatNamespace,
    load: @escaping @Sendable () async throws -> Loaded<Value>
  ) async throws -> CacheResult<Value> {
    let (cache, log) = (cache(of: Value.self, in: namespace), timetable.log)
    var options = LoadOptions(policy: policy, absent: .after(.hours(1)), waitsForCommit: true)
    if waitsForNewer { options.stale = Staleness(onError: namespace.rules.stale) }
    options.onBackgroundError = { log?("\(cache.name) \(key): could not be refreshed: \($0)") }
    let found = try await cache.result(for: key, options: options) { _ in try await load() }
    timetable.note(key, in: cache.name, found)
    if let found { return found }
    throw NotFound(description: "\(key) is not in \(namespace.name)")
  }

  public func cache<Value: Codable & Sendable>(
    of type: Value.Type, in namespace: BoatNamespace
  ) -> Cache<Value> {
    let name = realm?.name(of: namespace.name) ?? namespace.name
    return store.cache(of: type, in: name, rules: namespace.rules)
  }

  public var today: CalendarDay { CalendarDay(of: store.now) }

  /// For each day that the service knows, the name of the ship of each course. The numbers of courses have no zeros at the
  /// beginning. Empty if the service has no address.
  public func ships() async throws -> CacheResult<[String: [String: String]]> {
    try await value("days", in: .ships) {
      .value(try await boats?.get(ShipsBody.self, from: "/ships").days ?? [:])
    }
  }

  /// The weather for five days.
  public func forecasts(for lake: Lake) async throws -> CacheResult<[Forecast]> {
    try await value(lake.id, in: .weather) {
      let place = "lat=\(lake.latitude)&lon=\(lake.longitude)"
      let path = "/forecast?\(place)&appid=\(weatherKey.percentEscaped)"
      return .value(try await weather.get(ForecastBody.self, from: path).list.elements)
    }
  }

  /// The water temperature from the report of the lakes. If the report has no temperature, a simulation gives it. Throws
  /// ``NotFound`` if neither has a temperature. Also stores the water level from the report.
  public func temperature(of lake: Lake) async throws -> CacheResult<WaterTemperature> {
    try await value(lake.id, in: .temperatures) {
      var (row, failure): (LakeReport.Row?, (any Error)?)
      do { row = try await measured(lake) } catch { failure = error }
      if let level = row?.level {
        let levels = cache(of: Double.self, in: .levels)
        _ = try await unless(.full) { try await levels.set(level, for: lake.id) }
      }
      if let celsius = row?.temperature {
        return .value(WaterTemperature(celsius: celsius, origin: .report))
      }
      if let celsius = try await simulated(lake) {
        return .value(WaterTemperature(celsius: celsius, origin: .simulation))
      }
      // Without the report it is unknown whether the report has the temperature, so nothing is stored.
      if let failure { throw failure }
      return .absent
    }
  }

  /// The row of a lake in the report of all lakes. Nil if the service has no address.
  private func measured(_ lake: Lake) async throws -> LakeReport.Row? {
    try await boats?.get(LakeReport.self, from: "/lakes").lakes.elements
      .first { $0.name == lake.name }
  }

  /// The last temperature in a simulation of the last 24 hours, one metre below the surface; nil if there is none.
  private func simulated(_ lake: Lake) async throws -> Double? {
    guard let name = lake.simulation else { return nil }
    let span = [store.now.advanced(by: .days(-1)), store.now]
      .map { $0.description.filter(\.isNumber).prefix(12) }.joined(separator: "/")
    let path = "/simulations/1d/point/simstrat/\(name.percentEscaped)/\(span)/1"
    return try await simulations.get(SimulationBody.self, from: path).celsius(at: store.now)
  }

  /// The water level in metres above the sea. Throws ``NotFound`` if the level is not measured.
  public func level(of lake: Lake) async throws -> CacheResult<Double> {
    try await value(lake.id, in: .levels) {
      try await measured(lake)?.level.map { .value($0) } ?? .absent
    }
  }

  /// Sunrise and sunset of today, which are computed once for each day.
  public func sun(at lake: Lake) async throws -> CacheResult<SunTimes> {
    let day = today
    return try await value("\(lake.id)_\(day)", in: .sun) {
      .value(SunTimes(on: day, latitude: lake.latitude, longitude: lake.longitude))
    }
  }

  /// A picture of the map, which stays in the store until the store evicts the picture.
  public func tile(zoom: Int, x: Int, y: Int) async throws -> CacheResult<[UInt8]> {
    let name = "\(zoom)/\(x)/\(y)"
    return try await value(name, in: .tiles) {
      .value(try tiles.checked(await tiles.send("/\(name).png")).image())
    }
  }
}
