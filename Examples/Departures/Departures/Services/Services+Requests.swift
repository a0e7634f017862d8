import Larder
import Service

extension Services {
  /// The number of departures in a request, and the service's maximum.
  static let boardLimit = 200
  private static let mostDepartures = 420
  /// The most requests for one board.
  private static let mostAnswers = 8

  /// The departures of a station on a day, from several requests if necessary; a landing needs one.
  ///
  /// - Parameter now: what leaves from then on comes first, if there is more than the requests can get.
  func board(of station: String, on day: CalendarDay, now: Timestamp) async throws -> Board {
    var builder = try BoardBuilder(day, limit: Self.boardLimit, now: now)
    var from: Timestamp? = builder.span.lowerBound
    for number in 0..<Self.mostAnswers {
      guard let moment = from else { break }
      var time = try SwissTime.clock(moment)
      builder.limit = number == 0 ? Self.boardLimit : Self.mostDepartures
      // Where clocks go back, a time comes twice, and the service takes it for either. So a request for the first begins before
      // that hour, and one for the second has room for the hour in between.
      let isFirst = try SwissTime.isSecond(moment.advanced(by: .hours(1)))
      if try isFirst || SwissTime.isSecond(moment) {
        builder.limit = Self.mostDepartures
        let minutes = moment.milliseconds / 60_000 % 60 + 1
        if isFirst { time = try SwissTime.clock(moment.advanced(by: .minutes(-minutes))) }
      }
      let path =
        "/stationboard?id=\(station.percentEscaped)&limit=\(builder.limit)&datetime=\("\(day) \(time)".percentEscaped)"
      let body = try await timetable.get(BoardBody.self, from: path) {
        $0.fault(asked: station, on: builder.span)
      }
      from = try builder.take(body, asked: station)
    }
    guard let board = builder.board else {
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
