public import Larder
import Service

/// Five days of weather in steps of three hours.
public struct Forecast: Codable, Hashable, Sendable {
  public struct Step: Codable, Hashable, Sendable {
    public var time: Timestamp
    public var celsius: Double
    public var words: String
    public var icon: String
    /// In metres a second; nil if the service sends none.
    public var wind: Double?
    public var gusts: Double?
    /// In millimetres within three hours; 0 if the service sends none.
    public var rain: Double
    public var snow: Double
  }

  public var place: String
  public var steps: [Step]

  /// The step nearest to a time: the first one for an earlier time, since the service's forecast begins up to three hours
  /// from now; nil more than three hours after the last.
  public func step(at time: Timestamp) -> Step? {
    guard let last = steps.last, time <= last.time.advanced(by: .hours(3)) else { return nil }
    return steps.min {
      abs($0.time.milliseconds - time.milliseconds) < abs($1.time.milliseconds - time.milliseconds)
    }
  }
}

extension Double {
  /// Nil for nonsense: a measurement outside of what there is.
  func within(_ range: ClosedRange<Double>) -> Double? { range.contains(self) ? self : nil }
}

/// OpenWeather's answer. Rain, snow and gusts are absent, not null, if there are none.
struct ForecastBody: Decodable {
  struct Row: Decodable {
    struct Main: Decodable { var temp: Double }
    struct Weather: Decodable {
      @Lenient var description: String?
      @Lenient var icon: String?
    }
    struct Wind: Decodable {
      @Lenient var speed: Double?
      @Lenient var gust: Double?
    }
    struct Fall: Decodable {
      var amount: Double?
      enum CodingKeys: String, CodingKey { case amount = "3h" }
    }

    var dt: Int64
    var main: Main
    @Lenient var weather: [Weather]?
    @Lenient var wind: Wind?
    @Lenient var rain: Fall?
    @Lenient var snow: Fall?
  }
  struct City: Decodable { @Lenient var name: String? }

  var list: LenientList<Row>
  @Lenient var city: City?

  var forecast: Forecast {
    Forecast(
      place: city?.name ?? "",
      steps: list.elements.compactMap { row in
        guard let time = Timestamp(second: row.dt),
          let celsius = (row.main.temp - 273.15).within(-100...100)
        else { return nil }
        return Forecast.Step(
          time: time, celsius: (celsius * 100).rounded() / 100 + 0,  // Not -0.
          words: row.weather?.first?.description ?? "", icon: row.weather?.first?.icon ?? "",
          wind: row.wind?.speed?.within(0...200), gusts: row.wind?.gust?.within(0...200),
          rain: row.rain?.amount?.within(0...2000) ?? 0,
          snow: row.snow?.amount?.within(0...2000) ?? 0)
      }.sorted { $0.time < $1.time })
  }
}
