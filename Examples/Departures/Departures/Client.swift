import HTTPTypes
public import Larder
public import LarderHTTP
import Service

/// The services behind one HTTP cache, the first level. The second level stores decoded values.
public struct BoatClient: Sendable {
  let timetable: Service
  private let weather, simulations, tiles: Service
  /// The service of ship names and of the report of the lakes; nil without an address, because there is no public address.
  private let boats: Service?
  private let weatherKey: String
  /// A realm that keeps the data of other services apart from the data of the usual services; nil for the usual services.
  let realm: Realm?
  let log: (@Sendable (String) -> Void)?

  /// - Parameters:
  ///   - base: one address for all services, for a test or a recording.
  ///   - weatherKey: the credential of the weather service; keys of the store have a digest of it.
  ///   - log: called for every lookup and request: `boat.boards 8503651_2025-07-12: memory, 12 s old`.
  public init(
    base: String? = nil, boats: String? = nil, over transport: any HTTPTransport, in store: Store,
    weatherKey: String, log: (@Sendable (String) -> Void)? = nil
  ) {
    // The second level serves stale values, and reports them.
    var policy = HTTPCachePolicy(
      whenDisconnected: .zero,
      rules: [
        HTTPCacheRule("*/tiles/*"), HTTPCacheRule("tile.*"),
        HTTPCacheRule("*", expectedTypes: ["application/json"]),
      ])
    policy.secretParameters.insert("appid")
    let cache = HTTPCache(
      in: store.namespace(BoatNamespace.http.name), over: transport, policy: policy)
    // The second level decides what is fresh. So the first level only spares transfers of unchanged bodies, and stores no tile.
    func service(_ address: String, _ control: String = "no-cache") -> Service {
      var service = Service(at: address, over: cache)
      service.message = { error in
        // `{"errors": [{"message": ...}]}`, or `{"message": ...}` from the weather service.
        guard case .array(let errors)? = error["errors"] else { return error["message"]?.text }
        return errors.compactMap { $0["message"]?.text?.trimmingBlanks }.joined(separator: "; ")
      }
      service.log = log
      service.fields[.cacheControl] = control
      return service
    }
    func address(_ path: String, _ usual: String) -> String {
      base.map { Service.base($0) + path } ?? usual
    }
    timetable = service(address("/v1", "https://transport.opendata.ch/v1"))
    weather = service(address("/weather", "https://api.openweathermap.org/data/2.5"))
    simulations = service(address("/simulations", "https://alplakes-api.eawag.ch"))
    tiles = service(address("/tiles", "https://tile.openstreetmap.org"), "no-store")
    self.boats = (boats ?? base.map { Service.base($0) + "/boats" }).map { service($0) }
    (self.weatherKey, self.log) = (weatherKey, log)
    realm = base == nil && boats == nil ? nil : store.realm(of: "\(base ?? "") \(boats ?? "")")
  }

  /// The departures of a station on a day, in one request: no landing has 200 departures in a day.
  func board(of station: String, on day: CalendarDay) async throws -> Board {
    let question = "id=\(station.percentEscaped)&limit=200"
    let path = "/stationboard?\(question)&datetime=\("\(day) 00:00".percentEscaped)"
    let body = try await timetable.get(BoardBody.self, from: path) {
      $0.fault(asked: station, on: day)
    }
    if let board = body.board(asked: station, on: day) { return board }
    throw NotFound(description: "the station \(station) is not in the timetable")
  }

  func forecasts(for lake: Lake) async throws -> [Forecast] {
    let place = "lat=\(lake.latitude)&lon=\(lake.longitude)"
    let path = "/forecast?\(place)&appid=\(weatherKey.percentEscaped)"
    return try await weather.get(ForecastBody.self, from: path) {
      $0.forecasts.isEmpty ? "it has no step" : nil
    }.forecasts
  }

  /// The ships of several days; empty without an address of the service.
  func ships() async throws -> [CalendarDay: Ships] {
    try await boats?.get(ShipsBody.self, from: "/ships").days ?? [:]
  }

  /// The row of a lake in the report of all lakes; nil without an address of the service.
  func measured(_ lake: Lake) async throws -> LakeReport.Row? {
    try await boats?.get(LakeReport.self, from: "/lakes").lakes.elements
      .first { $0.name == lake.name }
  }

  /// The simulated temperature of now, a metre below the surface; nil if there is none.
  ///
  /// The request covers this day and the day before: shortly after midnight this day has no data yet.
  func simulated(_ lake: Lake, at now: Timestamp) async throws -> Double? {
    guard let name = lake.simulation else { return nil }
    let day = CalendarDay(of: now)
    let span = [day.advanced(by: -1).start, day.end.advanced(by: .minutes(-1))]
      .map { $0.description.filter(\.isNumber).prefix(12) }.joined(separator: "/")
    let path = "/simulations/1d/point/simstrat/\(name.percentEscaped)/\(span)/1"
    return try await simulations.get(SimulationBody.self, from: path).celsius(at: now)
  }

  func tile(zoom: Int, x: Int, y: Int) async throws -> [UInt8] {
    try tiles.checked(await tiles.send("/\(zoom)/\(x)/\(y).png")).image()
  }
}
