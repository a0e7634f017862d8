import HTTPTypes
import Larder
import Service

extension Services {
  func forecast(at place: Place, fields: HTTPFields) async throws -> Forecast {
    let path = "/forecast?lat=\(place.latitude)&lon=\(place.longitude)&appid=\(weatherKey.escaped)"
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
    let path = "/simulations/1d/point/simstrat/\(lake.escaped)/\(digits)0000/\(digits)2359/1"
    return try await simulations.get(SimulationBody.self, from: path, fields: fields).celsius
  }

  /// A picture of the map. The first level does not keep it as well: it is kept for ever in the second.
  func tile(zoom: Int, x: Int, y: Int) async throws -> [UInt8] {
    let reply = try await tiles.send("/\(zoom)/\(x)/\(y).png", fields: [.cacheControl: "no-store"])
    return try tiles.checked(reply).body
  }
}
