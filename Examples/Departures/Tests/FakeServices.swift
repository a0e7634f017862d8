import ExampleTesting

/// All services in the shapes of the real ones, for any day: boats leave every landing at fixed times.
///
/// It knows time zones by Foundation alone, so that the adapter's own are checked against another's.
final class FakeServices: Sendable {
  /// News of delays at a landing: for a while, and about what leaves within the next hour.
  struct News {
    var station: String
    var span: Range<Timestamp>
    var minutes: Int
  }

  struct State {
    var isDown = false
    var isUnreachable = false
    /// Takes requests and never answers.
    var isHanging = false
    /// The time, for news.
    var now: @Sendable () -> Timestamp = { Timestamp(milliseconds: 0) }
    var news: [News] = []
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
    /// The last two are of 06:00 and 09:00, in UTC.
    var simulated: [Double?] = [18.9, 18.7, nil, 19.6]
    var simulatedTimes = ["00", "03", "06", "09"].map { "2025-07-12T\($0):00:00+00:00" }
    var reportIsDown = false
    var shipsAreDown = false
    var ship = "Limmat"
    /// The ships of some days, in its place.
    var shipsByDay: [String: String] = [:]
    /// Sent along with every answer.
    var fields: [String: String] = [:]
    var asked: [String] = []
    /// With what priority, one for each.
    var priorities: [TaskPriority] = []

    func delay(at station: String, of time: Date) -> Int? {
      if let delay { return delay }
      let (now, time) = (now(), Timestamp(time))
      guard time >= now, time < now.advanced(by: .hours(1)) else { return nil }
      return news.first { $0.station == station && $0.span.contains(now) }?.minutes
    }
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
  var priorities: [TaskPriority] { state.withLock { $0.priorities } }
  func count(of part: String) -> Int { asked.count { $0.contains(part) } }

  func answer(_ path: String) -> LocalServer.Answer {
    let state = state.withLock { state in
      state.asked.append(path)
      state.priorities.append(Task.currentPriority)
      return state
    }
    let query = URLComponents(string: path)?.queryItems ?? []
    let parameters = Dictionary(query.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    if state.isDown { return Self.error(500, "Error from timetable.search.ch: down") }
    switch path.prefix(while: { $0 != "?" }) {
    case "/v1/stationboard": return board(parameters, state)
    case "/boats/ships":
      if state.shipsAreDown { return Self.error(500, "no ships") }
      return .init(200, state.fields, json: ships(state))
    case "/boats/lakes":
      if state.reportIsDown { return Self.error(500, "no report") }
      return .init(200, state.fields, json: lakes(state))
    case "/weather/forecast":
      return .init(200, state.fields, json: Self.weather(asked: state.asked.count))
    case let path where path.hasPrefix("/simulations/"):
      return .init(
        200, state.fields,
        json: [
          "time": state.simulatedTimes,
          "variables": ["T": ["data": state.simulated.map { $0.map { $0 as Any } ?? NSNull() }]],
        ])
    case let path where path.hasPrefix("/tiles/"):
      return .init(200, ["Content-Type": "image/png"], body: Self.tile)
    default: return .init(404)
    }
  }

  /// 20,000 bytes that begin as a picture does.
  static let tile = Data([0x89] + "PNG".utf8) + Data(repeating: 7, count: 19_996)

  static func error(_ status: Int, _ message: String) -> LocalServer.Answer {
    .init(status, json: ["errors": [["message": message]]])
  }

  private func ships(_ state: State) -> [String: Any] {
    // Of every day, since nobody tells here which it is.
    let days = (7...13).map { "2025-07-" + ($0 < 10 ? "0" : "") + "\($0)" }
    return [
      "dailyDeployments": days.map { day in
        [
          "date": day,
          "routes": [["shipName": state.shipsByDay[day] ?? state.ship, "courseNumber": "90"]],
        ]
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
        "dt": 1_752_300_000 + (row + 1) * 10_800, "main": ["temp": 290 + Double(asked % 20)],
        "weather": [["description": "clear sky", "icon": "01d"]], "wind": ["speed": 3],
      ]
    }
    return ["list": rows, "city": ["name": "Zurich"]]
  }
}

extension FakeServices: HTTPTransport {
  func send(
    _ request: HTTPTypes.HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
  ) async throws -> (HTTPTypes.HTTPResponse, HTTPBody) {
    let answer = answer(request.path ?? "/")
    if state.withLock(\.isUnreachable) { throw HTTPCacheError.timedOut(.seconds(15)) }
    try await waitUntil { state.withLock { !$0.isHanging } }
    var response = HTTPTypes.HTTPResponse(status: .init(code: answer.status))
    for (name, value) in answer.fields {
      if let name = HTTPField.Name(name) { response.headerFields[name] = value }
    }
    return (response, HTTPBody(Array(answer.body)))
  }
}
