import Larder
import Service

extension Services {
  /// The number of departures in a request: more than leave any landing in a day.
  private static let boardLimit = 200

  /// The departures of a station on a day.
  func board(of station: String, on day: CalendarDay) async throws -> Board {
    let span = try day.span
    let path =
      "/stationboard?id=\(station.percentEscaped)&limit=\(Self.boardLimit)&datetime=\("\(day) 00:00".percentEscaped)"
    let body = try await timetable.get(BoardBody.self, from: path) {
      $0.fault(asked: station, on: span)
    }
    guard let board = try body.board(asked: station, on: day, limit: Self.boardLimit) else {
      throw NotFound(key: "the station \(station)", place: "the timetable")
    }
    return board
  }

  func locations(named name: String) async throws -> [Station] {
    let path = "/locations?query=" + name.percentEscaped
    return try await timetable.get(LocationsBody.self, from: path)
      .stations.elements.compactMap(\.station)
  }

  func forecast(at place: Coordinates) async throws -> Forecast {
    let path =
      "/forecast?lat=\(place.latitude)&lon=\(place.longitude)&appid=\(weatherKey.percentEscaped)"
    return try await weather.get(ForecastBody.self, from: path) { body in
      body.forecast.steps.isEmpty ? "it has no step" : nil
    }.forecast
  }

  func ships() async throws -> [CalendarDay: ShipDay] {
    guard let boats else { throw NoAddress(service: "ships") }
    return try await boats.get(DeploymentsBody.self, from: "/ships").days
  }

  func report() async throws -> LakeReport {
    guard let boats else { throw NoAddress(service: "the report of the lakes") }
    return try await boats.get(LakeReport.self, from: "/lakes")
  }

  /// The simulated temperature of now, a metre below the surface; nil if there is none.
  ///
  /// The request has this day and the one before in Zurich: shortly after midnight this day has no data yet.
  func simulated(_ lake: String, at now: Timestamp) async throws -> Double? {
    let day = try CalendarDay(of: now)
    let start = try day.advanced(by: -1).span.lowerBound
    let end = try day.span.upperBound.advanced(by: .minutes(-1))
    let path =
      "/simulations/1d/point/simstrat/\(lake.percentEscaped)/\(Self.digits(start))/\(Self.digits(end))/1"
    return try await simulations.get(SimulationBody.self, from: path, fault: \.fault)
      .celsius(at: now)
  }

  /// `202507112200`, in UTC: the time format of the simulations.
  private static func digits(_ moment: Timestamp) -> String {
    String(moment.description.filter(\.isNumber).prefix(12))
  }

  /// A picture of the map.
  func tile(zoom: Int, x: Int, y: Int) async throws -> [UInt8] {
    try tiles.checked(await tiles.send("/\(zoom)/\(x)/\(y).png")).image().body
  }
}
