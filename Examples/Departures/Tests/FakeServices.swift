import ExampleTesting
import Foundation
import HTTPTypes
import LarderHTTP
import Synchronization

/// All services in the shapes of the real ones, for any day: boats leave every landing at fixed times.
///
/// It knows time zones by Foundation alone, so that the adapter's own are checked against another's.
final class FakeServices: Sendable {
  struct State {
    var isDown = false
    /// Stations that nothing leaves, and those that are not known.
    var empty: Set<String> = []
    var unknown: Set<String> = []
    /// Times of day at which something leaves, `09:05`.
    var times = (9...20).map { String(format: "%02d:00", $0) }
    /// Several leave at each of them.
    var atOnce = 1
    var delay: Int?
    var temperatures: [String: Double?] = ["Z\u{FC}richsee": 22, "Thunersee": nil]
    var levels: [String: String?] = ["Z\u{FC}richsee": "405.96 m.\u{FC}.M.", "Thunersee": nil]
    var simulated: [Double?] = [18.9, 18.7, nil]
    var reportIsDown = false
    var ship = "Limmat"
    /// Sent along with every answer.
    var fields: [String: String] = [:]
    var asked: [String] = []
  }

  private let state = Mutex(State())
  static let zurich: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: "Europe/Zurich")!
    return calendar
  }()

  func change(_ body: @Sendable (inout State) -> Void) { state.withLock { body(&$0) } }
  /// Paths without the query, in the order in which they were asked for.
  var asked: [String] { state.withLock { $0.asked } }
  var count: Int { asked.count }
  func count(of part: String) -> Int { asked.count { $0.contains(part) } }

  func answer(_ path: String) -> LocalServer.Answer {
    let state = state.withLock { state in
      state.asked.append(path)
      return state
    }
    let query = URLComponents(string: path)?.queryItems ?? []
    let parameters = Dictionary(query.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    if state.isDown { return Self.error(500, "Error from timetable.search.ch: down") }
    switch path.prefix(while: { $0 != "?" }) {
    case "/v1/stationboard": return board(parameters, state)
    case "/boats/ships": return json(ships(state), state)
    case "/boats/lakes":
      if state.reportIsDown { return Self.error(500, "no report") }
      return json(lakes(state), state)
    case "/weather/forecast": return json(Self.weather(asked: state.asked.count), state)
    case let path where path.hasPrefix("/simulations/"):
      return json(
        ["variables": ["T": ["data": state.simulated.map { $0.map { $0 as Any } ?? NSNull() }]]],
        state)
    case let path where path.hasPrefix("/tiles/"):
      return .init(200, ["Content-Type": "image/png"], body: Data(repeating: 7, count: 20_000))
    default: return .init(404)
    }
  }

  static func error(_ status: Int, _ message: String) -> LocalServer.Answer {
    .init(
      status, ["Content-Type": "application/json"], text: #"{"errors":[{"message":"\#(message)"}]}"#
    )
  }

  private func json(_ value: Any, _ state: State) -> LocalServer.Answer {
    // Escapes everything beyond ASCII, as the service does.
    let data = (try? JSONSerialization.data(withJSONObject: value)) ?? Data()
    if data.allSatisfy({ $0 < 0x80 }) { return .init(200, state.fields, body: data) }
    let text = String(decoding: data, as: UTF8.self).unicodeScalars.map { scalar in
      scalar.isASCII ? String(scalar) : "\\u" + String(format: "%04x", scalar.value)
    }
    return .init(200, state.fields, text: text.joined())
  }

  // MARK: Boards

  private func board(_ parameters: [String: String], _ state: State) -> LocalServer.Answer {
    let id = parameters["id"] ?? ""
    guard let limit = Int(parameters["limit"] ?? ""), limit <= 420 else {
      return .init(400, ["Content-Type": "text/html"], text: "Invalid value for Parameter `limit`.")
    }
    guard !state.unknown.contains(id), let from = Self.moment(parameters["datetime"] ?? "") else {
      return json(["station": NSNull(), "stationboard": [Any]()], state)
    }
    var journeys: [[String: Any]] = []
    var day = Self.zurich.startOfDay(for: from)
    while journeys.count < limit, !state.empty.contains(id), day < from.addingTimeInterval(100_000)
    {
      for text in state.times {
        guard let time = Self.time(text, on: day), time >= from, journeys.count < limit else {
          continue
        }
        // Those that leave together come together, be there more than the limit.
        for number in 0..<state.atOnce {
          journeys.append(journey(from: id, at: time, number: number, state))
        }
      }
      guard let next = Self.zurich.date(byAdding: .day, value: 1, to: day) else { break }
      day = next
    }
    return json(
      ["station": Self.station(id, "Landing \(id) (See)"), "stationboard": journeys], state)
  }

  /// A time of day; the calendar's own search takes milliseconds, and is needed on the days of a change alone.
  private static func time(_ text: String, on day: Date) -> Date? {
    let parts = text.split(separator: ":").compactMap { Int($0) }
    let next = day.addingTimeInterval(86_400)
    if zurich.startOfDay(for: next) == next {
      return day.addingTimeInterval(Double(parts[0] * 3600 + parts[1] * 60))
    }
    return zurich.date(
      bySettingHour: parts[0], minute: parts[1], second: 0, of: day, matchingPolicy: .nextTime,
      repeatedTimePolicy: .first)
  }

  private func journey(from id: String, at time: Date, number: Int, _ state: State) -> [String: Any]
  {
    let course = Self.zurich.component(.hour, from: time) * 10 + number
    var first = Self.stop(Self.station("8503671", nil), departure: time)
    first["delay"] = state.delay.map { $0 as Any } ?? NSNull()
    // The clock of the server, so that no two answers are the same.
    first["prognosis"] = [
      "platform": NSNull(), "departure": NSNull(),
      "arrival": Self.text(Date(timeIntervalSince1970: 1_752_300_000 + Double(state.asked.count))),
    ]
    let last = Self.stop(
      Self.station("8503671", "Halbinsel Au (See)"), arrival: time.addingTimeInterval(3600))
    var own = first
    own["station"] = Self.station(id, "Landing \(id) (See)")
    return [
      "stop": own, "name": String(format: "%06d", course), "category": "BAT",
      "number": String(course), "operator": "ZSG", "to": "Halbinsel Au (See)",
      "passList": [first, last], "subcategory": NSNull(),
    ]
  }

  static func stop(
    _ station: [String: Any], arrival: Date? = nil, departure: Date? = nil
  ) -> [String: Any] {
    [
      "station": station, "location": Self.station("8503671", nil), "delay": NSNull(),
      "platform": NSNull(), "arrival": arrival.map { text($0) } ?? NSNull(),
      "arrivalTimestamp": arrival.map { Int($0.timeIntervalSince1970) } ?? NSNull(),
      "departure": departure.map { text($0) } ?? NSNull(),
      "departureTimestamp": departure.map { Int($0.timeIntervalSince1970) } ?? NSNull(),
    ]
  }

  static func station(_ id: String, _ name: String?) -> [String: Any] {
    [
      "id": id, "name": name ?? NSNull(), "score": NSNull(), "distance": NSNull(),
      "coordinate": ["type": "WGS84", "x": name == nil ? NSNull() : 47 as Any, "y": 8.5],
    ]
  }

  /// `2025-07-12T09:00:00+0200`
  static func text(_ date: Date) -> String {
    let parts = zurich.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
    let offset = zurich.timeZone.secondsFromGMT(for: date) / 3600
    return String(
      format: "%04d-%02d-%02dT%02d:%02d:%02d+%02d00", parts.year!, parts.month!, parts.day!,
      parts.hour!, parts.minute!, parts.second!, offset)
  }

  /// `2025-07-12 00:00`
  private static func moment(_ text: String) -> Date? {
    let numbers = text.split { "- :".contains($0) }.compactMap { Int($0) }
    guard numbers.count == 5 else { return nil }
    return zurich.date(
      from: DateComponents(
        year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4]))
  }

  // MARK: The others

  private func ships(_ state: State) -> [String: Any] {
    // Of every day, since nobody tells here which it is.
    let days = ["2025-07-07", "2025-07-08", "2025-07-09", "2025-07-10", "2025-07-11", "2025-07-12"]
    return [
      "dailyDeployments": days.map { day in
        ["date": day, "routes": [["shipName": state.ship, "courseNumber": "90"]]]
      }
    ]
  }

  private func lakes(_ state: State) -> [String: Any] {
    [
      "lakes": state.temperatures.map { name, celsius in
        [
          "name": name, "temperature": celsius.map { $0 as Any } ?? NSNull(),
          "waterLevel": (state.levels[name] ?? nil).map { $0 as Any } ?? NSNull(),
        ]
      }
    ]
  }

  private static func weather(asked: Int) -> [String: Any] {
    let rows = (0..<40).map { row -> [String: Any] in
      [
        "dt": 1_752_300_000 + row * 10_800, "main": ["temp": 290 + Double(asked)],
        "weather": [["description": "clear sky", "icon": "01d"]], "wind": ["speed": 3],
      ]
    }
    return ["list": rows, "city": ["name": "Zurich"]]
  }
}

extension FakeServices: HTTPTransport {
  struct Unplugged: Error {}

  func send(
    _ request: HTTPTypes.HTTPRequest, body: [UInt8],
    interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
  ) async throws -> (HTTPTypes.HTTPResponse, HTTPBody) {
    let answer = answer(request.path ?? "/")
    var response = HTTPTypes.HTTPResponse(status: .init(code: answer.status))
    for (name, value) in answer.fields {
      if let name = HTTPField.Name(name) { response.headerFields[name] = value }
    }
    return (response, HTTPBody(Array(answer.body)))
  }
}
