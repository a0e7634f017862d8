import Larder
import Service

// The answers of the services. Only the fields that this module uses are decoded.

struct BoardBody: Decodable {
  struct Station: Decodable { var id, name: String? }
  struct Prognosis: Decodable { var platform, departure: String? }
  struct Stop: Decodable {
    var departure: String?
    /// The delay in minutes as a number or as text such as `+3`, or `X` for a cancelled run.
    var delay: String?
    var platform: String?
    var cancelled: Bool?
    var prognosis: Prognosis?
  }

  struct Run: Decodable {
    var stop: Stop
    var name, category, number, `operator`, to: String?
    var cancelled: Bool?

    /// The departure of this run. Nil for a run that ends at this station, or that has no time.
    func departure(from station: String) -> Departure? {
      guard let time = SwissTime.moment(stop.departure) else { return nil }
      let (line, category) = (number ?? name ?? "", category ?? "")
      // The expected time gives the delay, or else the field `delay`. A delay of more than a day is wrong, so it counts as
      // unknown.
      let expected = SwissTime.moment(stop.prognosis?.departure)
      let late = expected.map { (time.duration(to: $0) / .minutes(1)).rounded() }
      let delays = [late, stop.delay.flatMap { Double($0) }]
      return Departure(
        station: station, time: time,
        delay: delays.compactMap { $0?.within(-1440...1440) }.first.map { Int($0) },
        isCancelled: stop.cancelled == true || cancelled == true || stop.delay == "X",
        platform: [stop.prognosis?.platform, stop.platform].compactMap(\.self).first { $0 != "" },
        name: line.hasPrefix(category) ? line : "\(category) \(line)", course: name ?? line,
        company: `operator`, destination: to ?? "")
    }
  }

  /// The station. If the station is unknown, this is null and the list is empty.
  var station: Station?
  var stationboard: LenientList<Run>

  /// What is wrong with the board: another station, no run with a time, or only runs of an earlier day. An empty board is valid.
  func fault(asked id: String, on day: CalendarDay) -> String? {
    if let other = station?.id, other.withoutZeros != id { return "it is of the station \(other)" }
    let times = stationboard.elements.compactMap { $0.departure(from: id)?.time }
    if times.isEmpty { return stationboard.elements.isEmpty ? nil : "no run has a time" }
    return times.allSatisfy { $0 < day.start } ? "its runs are of an earlier day" : nil
  }

  /// The board; nil if the station is unknown. If the board has runs, the station exists, even if the field `station` is empty.
  func board(asked id: String, on day: CalendarDay) -> Board? {
    let runs = stationboard.elements
    guard let name = station?.name ?? station?.id ?? (runs.isEmpty ? nil : id) else { return nil }
    let departures = runs.compactMap { $0.departure(from: name) }
      .filter { (day.start..<day.end).contains($0.time) }
    return Board(station: name, day: day, departures: departures.sorted { $0.time < $1.time })
  }
}

struct ShipsBody: Decodable {
  struct Route: Decodable { var shipName, courseNumber: String? }
  struct Deployment: Decodable {
    var date: CalendarDay
    var routes: LenientList<Route>
  }

  var dailyDeployments: LenientList<Deployment>

  var days: [CalendarDay: Ships] {
    dailyDeployments.elements.reduce(into: [:]) { days, deployment in
      for route in deployment.routes.elements {
        guard let course = route.courseNumber?.withoutZeros else { continue }
        days[deployment.date, default: [:]][course] = route.shipName
      }
    }
  }
}

struct ForecastBody: Decodable {
  struct Main: Decodable { var temp: Double }
  struct Weather: Decodable { var description: String? }
  struct Row: Decodable {
    var dt: Double
    var main: Main
    var weather: [Weather]?
  }

  var list: LenientList<Row>

  var forecasts: [Forecast] {
    list.elements.compactMap { row in
      guard let second = row.dt.within(1...253_402_300_799),
        let kelvin = row.main.temp.within(173...373)
      else { return nil }
      let time = Timestamp(milliseconds: Int64(second) * 1000)
      let celsius = ((kelvin - 273.15) * 100).rounded() / 100 + 0  // Not -0.
      return Forecast(time: time, celsius: celsius, words: row.weather?.first?.description ?? "")
    }.sorted { $0.time < $1.time }
  }
}

struct LakeReport: Decodable {
  struct Row: Decodable {
    var name: String
    var temperature: Double?
    /// The level as text, such as `405.96 m.\u{FC}.M.`. The number may have a comma instead of the point.
    var waterLevel: String?

    var celsius: Double? { temperature?.within(-10...60) }
    /// The level in metres above the sea.
    var level: Double? {
      let digits = waterLevel?.replacing(",", with: ".").prefix { $0.isNumber || $0 == "." }
      return digits.flatMap { Double($0) }?.within(0...5000)
    }
  }

  var lakes: LenientList<Row>
}

/// Simulated temperatures in steps of some hours. Some of the times are in the future.
struct SimulationBody: Decodable {
  struct Variable: Decodable { var data: [Lenient<Double>?] }
  struct Variables: Decodable {
    var temperature: Variable
    enum CodingKeys: String, CodingKey { case temperature = "T" }
  }

  var time: [Lenient<String>?]
  var variables: Variables

  /// The newest temperature that is not in the future.
  func celsius(at now: Timestamp) -> Double? {
    let steps = zip(time, variables.temperature.data).compactMap {
      text, celsius -> (moment: Timestamp, celsius: Double)? in
      guard let moment = SwissTime.moment(text?.value), moment <= now,
        let celsius = celsius?.value?.within(-10...60)
      else { return nil }
      return (moment, celsius)
    }
    return steps.max { $0.moment < $1.moment }?.celsius
  }
}

/// In this module, an optional field of a wrong form is nil. For this, the method below replaces that of the standard library.
extension KeyedDecodingContainer {
  func decodeIfPresent<Value: Decodable & Sendable>(
    _ type: Value.Type, forKey key: Key
  ) throws -> Value? {
    try decodeIfPresent(lenient: type, forKey: key)
  }
}

extension Double {
  /// The number. Nil if it is outside the range, because such a number cannot be a measurement.
  func within(_ range: ClosedRange<Double>) -> Double? { range.contains(self) ? self : nil }
}
