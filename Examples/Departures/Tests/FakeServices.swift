import ExampleTesting

/// All services in the forms of the real services. Boats leave every landing on every day at fixed times; the recording
/// answers the requests about lakes, ships and the weather.
///
/// The time zones of these services come from Foundation alone, so the tests compare the adapter's zones with Foundation's.
final class FakeServices: HTTPTransport {
  struct State {
    /// Answers that replace all others, by a part of the path.
    var answers: [String: LocalServer.Answer] = [:]
    var now: @Sendable () -> Timestamp = { Timestamp(milliseconds: 0) }
    /// News of delays at a landing: for a while, about departures within the next hour.
    var news: [(station: String, span: Range<Timestamp>, minutes: Int)] = []
    var unknown: Set<String> = []
    var times = (9...20).map { String(format: "%02d:00", $0) }
    var delay: Int?
    var etag: String?
    var asked: [String] = []
    var priorities: [TaskPriority] = []
  }

  static let down = LocalServer.Answer(
    500, json: ["errors": [["message": "Error from timetable.search.ch: down"]]])
  /// The recorded files, by the beginnings of paths.
  private static let recorded = [
    "/boats/ships": "ships", "/boats/lakes": "lakes", "/weather/forecast": "weather",
    "/simulations/": "simulation",
  ]
  private static let zurich: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: "Europe/Zurich")!
    return calendar
  }()
  private static let style = Date.ISO8601FormatStyle(timeZone: zurich.timeZone)
  private let state = Mutex(State())

  func change(_ body: @Sendable (inout State) -> Void) { state.withLock { body(&$0) } }
  var asked: [String] { state.withLock(\.asked) }
  var count: Int { asked.count }
  var priorities: [TaskPriority] { state.withLock(\.priorities) }

  func send(
    _ request: HTTPTypes.HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
  ) async throws -> (HTTPTypes.HTTPResponse, HTTPBody) {
    var answer = try answer(request.path ?? "/")
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

  func answer(_ path: String) throws -> LocalServer.Answer {
    let state = state.withLock { state in
      state.asked.append(path)
      state.priorities.append(Task.currentPriority)
      return state
    }
    if let answer = state.answers.first(where: { path.contains($0.key) }) { return answer.value }
    if let file = Self.recorded.first(where: { path.hasPrefix($0.key) })?.value {
      return .init(json: try Repository.text("Examples/Departures/Sample/\(file).json"))
    }
    if path.hasPrefix("/tiles/") {
      return .init(200, body: Data([0x89] + "PNG".utf8) + Data(repeating: 7, count: 19_996))
    }
    guard path.hasPrefix("/v1/stationboard") else { return .init(404) }
    let items = URLComponents(string: path)?.queryItems ?? []
    return board(Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }, state)
  }

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
        return run(from: id, at: Self.zurich.date(from: moment)!, number: clock[0] * 10 + 1, state)
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
        "delay": (state.delay ?? news).map { $0 as Any } ?? NSNull(), "platform": "",
        // The time of the server, so that no two answers are equal.
        "prognosis": ["arrival": "2025-07-12T08:00:\(10 + state.asked.count % 50)Z"],
      ] as [String: Any],
      "name": String(format: "%06d", number), "category": "BAT", "number": "\(number)",
      "operator": "ZSG", "to": "Halbinsel Au (See)", "passList": 7,
    ]
  }
}
