public import Larder
import Service

// The answers of the services. Only the fields that this module uses are decoded.

struct BoardBody: Decodable {
  struct Station: Decodable { var id, name: String? }
  struct Stop: Decodable {
    var departure: String?
    /// The delay in minutes as a number or as text such as `+3`, or `X` for a cancelled run.
    var delay: String?
  }

  struct Run: Decodable {
    var stop: Stop
    var name, category, number, `operator`, to: String?

    /// The departure of this run. Nil for a run that ends at this station, or that has no time.
    func departure(from station: String) -> Departure? {
      guard let time = SwissTime.moment(stop.departure) else { return nil }
      let (line, category) = (number ?? name ?? "", category ?? "")
      return Departure(
        station: station, time: time,
        delay: stop.delay.flatMap { Int($0) }.flatMap { (-1440...1440).contains($0) ? $0 : nil },
        isCancelled: stop.delay == "X",
        name: line.hasPrefix(category) ? line : "\(category) \(line)", course: name ?? line,
        company: `operator`, destination: to ?? "")
    }
  }

  /// The station. If the station is unknown, this field is null and the list is empty.
  var station: Station?
  var stationboard: LenientList<Run>

  /// Why the answer is no board of the day; nil if nothing is wrong. An empty list is a board without departures.
  func fault(on day: CalendarDay) -> String? {
    let runs = stationboard.elements
    let isUsable = runs.contains { run in
      SwissTime.moment(run.stop.departure).map { $0 >= day.start } ?? false
    }
    return runs.isEmpty || isUsable ? nil : "no run is of this day or later"
  }

  /// The board; nil if the station is unknown.
  func board(on day: CalendarDay) -> Board? {
    guard let name = station?.name ?? station?.id else { return nil }
    let departures = stationboard.elements.compactMap { $0.departure(from: name) }
      .filter { CalendarDay(of: $0.time) == day }
    return Board(station: name, day: day, departures: departures.sorted { $0.time < $1.time })
  }
}

struct ShipsBody: Decodable {
  struct Route: Decodable { var shipName, courseNumber: String? }
  struct Deployment: Decodable {
    var date: String
    var routes: LenientList<Route>
  }

  var dailyDeployments: LenientList<Deployment>

  var days: [String: [String: String]] {
    dailyDeployments.elements.reduce(into: [:]) { days, deployment in
      for route in deployment.routes.elements {
        guard let course = route.courseNumber?.withoutZeros else { continue }
        days[deployment.date, default: [:]][course] = route.shipName
      }
    }
  }
}

struct ForecastBody: Decodable { var list: LenientList<Forecast> }

/// A step of the weather forecast, in the form of the service.
public struct Forecast: Codable, Hashable, Sendable {
  struct Main: Codable, Hashable { var temp: Double }
  struct Weather: Codable, Hashable { var description: String? }
  private var dt: Int
  private var main: Main
  private var weather: [Weather]?

  public var time: Timestamp { Timestamp(milliseconds: 0).advanced(by: .seconds(dt)) }
  public var celsius: Double { ((main.temp - 273.15) * 100).rounded() / 100 }
  public var words: String { weather?.first?.description ?? "" }
}

struct LakeReport: Decodable {
  struct Row: Decodable {
    var name: String
    var temperature: Double?
    /// The level in metres above the sea, as text such as `405.96 m.\u{FC}.M.`.
    var waterLevel: String?

    var level: Double? {
      let digits = waterLevel?.replacing(",", with: ".").prefix { $0.isNumber || $0 == "." }
      return digits.flatMap { Double($0) }.flatMap { $0 < 10_000 ? $0 : nil }
    }
  }

  var lakes: LenientList<Row>
}

/// Simulated temperatures in steps of some hours. Some of the times are in the future.
struct SimulationBody: Decodable {
  struct Variable: Decodable { var data: [Double?] }
  struct Variables: Decodable {
    var temperature: Variable
    enum CodingKeys: String, CodingKey { case temperature = "T" }
  }

  var time: [String]
  var variables: Variables

  /// The last temperature that is not in the future. The times ascend.
  func celsius(at now: Timestamp) -> Double? {
    let known = zip(time, variables.temperature.data).filter { text, _ in
      SwissTime.moment(text).map { $0 <= now } ?? false
    }
    return known.compactMap { $0.1 }.last
  }
}
