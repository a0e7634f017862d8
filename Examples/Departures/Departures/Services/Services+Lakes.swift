import HTTPTypes
import Larder
import Service

extension Services {
  func forecast(at place: Place, fields: HTTPFields) async throws -> Forecast {
    let path =
      "/forecast?lat=\(place.latitude)&lon=\(place.longitude)&appid=\(weatherKey.percentEscaped)"
    return try await weather.get(ForecastBody.self, from: path, fields: fields) { body in
      body.forecast.steps.isEmpty ? "it has no step" : nil
    }.forecast
  }

  func ships(fields: HTTPFields) async throws -> [CalendarDay: ShipDay] {
    guard let boats else { throw NoAddress(service: "ships") }
    return try await boats.get(DeploymentsBody.self, from: "/ships", fields: fields).days
  }

  func report(fields: HTTPFields) async throws -> LakeReport {
    guard let boats else { throw NoAddress(service: "the report of the lakes") }
    return try await boats.get(LakeReport.self, from: "/lakes", fields: fields)
  }

  /// The simulated temperature of now, a metre below the surface; nil if there is none.
  ///
  /// The request has this day and the one before in Zurich: shortly after midnight this day has no data yet.
  func simulated(
    _ lake: String, at now: Timestamp, fields: HTTPFields
  ) async throws -> Double? {
    let day = try SwissTime.day(of: now)
    let start = try SwissTime.span(of: day.advanced(by: -1)).lowerBound
    let end = try SwissTime.span(of: day).upperBound.advanced(by: .minutes(-1))
    let path =
      "/simulations/1d/point/simstrat/\(lake.percentEscaped)/\(Self.digits(start))/\(Self.digits(end))/1"
    return try await simulations.get(SimulationBody.self, from: path, fields: fields)
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
