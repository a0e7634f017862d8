import ExampleTesting

/// All services in the forms of the real services, for any day: boats leave every landing at fixed times.
///
/// The time zones of these services come from Foundation alone, so the tests compare the adapter's zones with Foundation's.
final class FakeServices: HTTPTransport {
  struct State {
    /// The answer that replaces every other answer.
    var answer: LocalServer.Answer?
    /// Whether the services take requests and never answer.
    var isHanging = false
    /// The part of the paths that fail.
    var down: String?
    var now: @Sendable () -> Timestamp = { Timestamp(milliseconds: 0) }
    /// News of delays at a landing: for a while, about departures within the next hour.
    var news: [(station: String, span: Range<Timestamp>, minutes: Int)] = []
    var unknown: Set<String> = []
    /// The times of day of departures.
    var times = (9...20).map { String(format: "%02d:00", $0) }
    var delay: Int?
    var lakes = [("Z\u{FC}richsee", 22 as Double?, "405.96 m.\u{FC}.M." as String?)]
    /// The temperatures of 12 July, by the hour in UTC.
    var simulated: [(String, Double?)] = [("00", 18.9), ("03", 18.7), ("06", nil), ("09", 19.6)]
    var ship = "Limmat"
    var etag: String?
    var asked: [String] = []
    var priorities: [TaskPriority] = []
  }

  private let state = Mutex(State())
  private static let zurich: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: "Europe/Zurich")!
    return calendar
  }()
  private static let style = Date.ISO8601FormatStyle(timeZone: zurich.timeZone)

  func change(_ body: @Sendable (inout State) -> Void) { state.withLock { body(&$0) } }
  var asked: [String] { state.withLock(\.asked) }
  var count: Int { asked.count }
  var priorities: [TaskPriority] { state.withLock(\.priorities) }

  func send(
    _ request: HTTPTypes.HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
  ) async throws -> (HTTPTypes.HTTPResponse, HTTPBody) {
    var answer = answer(request.path ?? "/")
    try await waitUntil { state.withLock { !$0.isHanging } }
    if let etag = state.withLock(\.etag) {
      if request.headerFields[.ifNoneMatch] == etag { answer = .init(304) }
      answer.fields["ETag"] = etag
    }
    var response = HTTPTypes.HTTPResponse(status: .init(code: answer.status))
    for (name, value) in answer.fields {
      if let name = HTTPField.Name(name) { response.headerFields[name] = value }
    }
    return (response, HTTPBody(Array(answer.body)))
  }

  func answer(_ path: String) -> LocalServer.Answer {
    let state = state.withLock { state in
      state.asked.append(path)
      state.priorities.append(Task.currentPriority)
      return state
    }
    if let answer = state.answer { return answer }
    if let down = state.down, path.contains(down) {
      return .init(500, json: ["errors": [["message": "Error from timetable.search.ch: down"]]])
    }
    let items = URLComponents(string: path)?.queryItems ?? []
    let query = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    switch path.prefix(while: { $0 != "?" }) {
    case "/v1/stationboard": return board(query, state)
    case "/boats/ships":
      let days = (7...14).map { String(format: "2025-07-%02d", $0) }.map {
        ["date": $0, "routes": [["shipName": state.ship, "courseNumber": "90"]]] as [String: Any]
      }
      return .init(json: ["dailyDeployments": days])
    case "/boats/lakes":
      let lakes = state.lakes.map { name, celsius, level -> [String: Any] in
        ["name": name, "temperature": Self.orNull(celsius), "waterLevel": Self.orNull(level)]
      }
      return .init(json: ["lakes": lakes])
    case "/weather/forecast":
      let sky =
        ["main": ["temp": 290.15], "weather": [["description": "clear sky"]]] as [String: Any]
      let rows = (1...40).map { row in sky.merging(["dt": 1_752_300_000 + row * 10_800]) { $1 } }
      return .init(json: ["list": rows])
    case let path where path.hasPrefix("/simulations/"):
      return .init(json: [
        "time": state.simulated.map { "2025-07-12T\($0.0):00:00+00:00" },
        "variables": ["T": ["data": state.simulated.map { Self.orNull($0.1) }]],
      ])
    case let path where path.hasPrefix("/tiles/"):
      return .init(200, body: Data([0x89] + "PNG".utf8) + Data(repeating: 7, count: 19_996))
    default: return .init(404)
    }
  }

  private static func orNull(_ value: (any Sendable)?) -> Any { value ?? NSNull() }

  private func board(_ query: [String: String], _ state: State) -> LocalServer.Answer {
    let id = query["id"] ?? ""
    guard !state.unknown.contains(id) else {
      return .init(json: ["station": NSNull(), "stationboard": [Any]()])
    }
    let day = (query["datetime"] ?? "").prefix(10).split(separator: "-").map { Int($0)! }
    let runs: [[String: Any]] = (0...1).flatMap { days in
      state.times.map { text -> [String: Any] in
        let clock = text.split(separator: ":").map { Int($0)! }
        let moment = DateComponents(
          year: day[0], month: day[1], day: day[2] + days, hour: clock[0], minute: clock[1])
        return run(
          from: id, at: Self.zurich.date(from: moment)!, number: clock[0] * 10, state)
      }
    }
    return .init(json: [
      "station": ["id": id, "name": "Landing \(id) (See)"],
      "stationboard": Array(runs.prefix(Int(query["limit"] ?? "") ?? 0)),
    ])
  }

  private func run(from id: String, at time: Date, number: Int, _ state: State) -> [String: Any] {
    let (now, leaves) = (state.now(), Timestamp(time))
    let isSoon = leaves >= now && leaves < now.advanced(by: .hours(1))
    let news = state.news.first { $0.station == id && $0.span.contains(now) && isSoon }?.minutes
    return [
      "stop": [
        "departure": time.formatted(Self.style),
        "departureTimestamp": Int(time.timeIntervalSince1970),
        "delay": Self.orNull(state.delay ?? news), "platform": "",
        // The time of the server, so that no two answers are equal.
        "prognosis": ["arrival": "2025-07-12T08:00:\(10 + state.asked.count % 50)Z"],
      ] as [String: Any],
      "name": String(format: "%06d", number), "category": "BAT", "number": "\(number)",
      "operator": "ZSG", "to": "Halbinsel Au (See)", "passList": 7,
    ]
  }
}
