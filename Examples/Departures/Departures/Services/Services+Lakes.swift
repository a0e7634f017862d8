import HTTPTypes
import Larder
import Service

extension Services {
  func forecast(at place: Place, fields: HTTPFields) async throws -> Forecast {
    let path =
      "/forecast?lat=\(place.latitude)&lon=\(place.longitude)&appid=\(weatherKey.percentEscaped)"
    return try await weather.get(ForecastBody.self, from: path, fields: fields).forecast
  }

  func ships(fields: HTTPFields) async throws -> [CalendarDay: ShipDay] {
    try await boats.get(DeploymentsBody.self, from: "/ships", fields: fields).days
  }

  func report(fields: HTTPFields) async throws -> LakeReport {
    try await boats.get(LakeReport.self, from: "/lakes", fields: fields)
  }

  /// What a simulation says of the day so far, a metre below the surface; nil if it says nothing.
  func simulated(
    _ lake: String, at now: Timestamp, fields: HTTPFields
  ) async throws -> Double? {
    let day = try SwissTime.day(of: now)
    let digits = day.description.filter(\.isNumber)
    let path = "/simulations/1d/point/simstrat/\(lake.percentEscaped)/\(digits)0000/\(digits)2359/1"
    return try await simulations.get(SimulationBody.self, from: path, fields: fields).celsius
  }

  /// A picture of the map.
  func tile(zoom: Int, x: Int, y: Int) async throws -> [UInt8] {
    try tiles.checked(await tiles.send("/\(zoom)/\(x)/\(y).png")).body
  }
}
