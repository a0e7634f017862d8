public import Larder

/// Five days of weather in steps of three hours.
public struct Forecast: Codable, Hashable, Sendable {
  public struct Step: Codable, Hashable, Sendable {
    public var time: Timestamp
    public var celsius: Double
    public var words: String
    public var icon: String
    /// In metres a second; gusts only where there are any.
    public var wind: Double
    public var gusts: Double?
    /// In millimetres within three hours; 0 where the service says nothing of rain or snow.
    public var rain: Double
    public var snow: Double
  }

  public var place: String
  public var steps: [Step]

  /// The step that a moment falls into; nil before the first and after the last.
  public func step(at moment: Timestamp) -> Step? {
    steps.last { $0.time <= moment && moment < $0.time.advanced(by: .hours(3)) }
  }
}

/// As OpenWeather says it. What there is none of is absent, not null.
struct ForecastBody: Decodable {
  struct Row: Decodable {
    struct Main: Decodable { var temp: Double }
    struct Weather: Decodable {
      var description: String
      var icon: String
    }
    struct Wind: Decodable {
      var speed: Double
      var gust: Double?
    }
    struct Fall: Decodable {
      var amount: Double?
      enum CodingKeys: String, CodingKey { case amount = "3h" }
    }

    var dt: Int64
    var main: Main
    var weather: [Weather]
    var wind: Wind
    var rain: Fall?
    var snow: Fall?
  }
  struct City: Decodable { var name: String }

  var list: [Row]
  var city: City

  var forecast: Forecast {
    Forecast(
      place: city.name,
      steps: list.map { row in
        Forecast.Step(
          time: Timestamp(milliseconds: row.dt * 1000),
          celsius: ((row.main.temp - 273.15) * 100).rounded() / 100,
          words: row.weather.first?.description ?? "", icon: row.weather.first?.icon ?? "",
          wind: row.wind.speed, gusts: row.wind.gust, rain: row.rain?.amount ?? 0,
          snow: row.snow?.amount ?? 0)
      })
  }
}
