import Departures
import ExampleTesting

/// Services for tests, with answers in the form of the real services. Boats leave each landing at fixed times on every day.
/// Requests about lakes, ships and the weather get recorded answers.
final class FakeServices: HTTPTransport {
  struct State {
    /// Answers that replace all other answers. The key is a part of the path.
    var answers: [String: LocalServer.Answer] = [:]
    var times = (9...20).map { String(format: "%02d:00:00+0200", $0) }
    /// The delay in minutes of a departure from a landing; nil if the delay is unknown.
    var delay: @Sendable (_ station: String, _ time: Timestamp) -> Int? = { _, _ in nil }
    var etag: String?
    var asked: [(path: String, priority: TaskPriority)] = []
  }

  static let down = LocalServer.Answer(
    500, json: ["message": "Error from timetable.search.ch: down"])
  /// The recorded files. The key is the beginning of the path.
  private static let recorded = [
    "/boats/ships": "ships", "/boats/lakes": "lakes", "/weather/forecast": "weather",
    "/simulations/": "simulation",
  ]
  private let state = Mutex(State())

  func change(_ body: @Sendable (inout State) -> Void) { state.withLock { body(&$0) } }
  var asked: [String] { state.withLock { $0.asked.map { $0.path } } }
  var count: Int { asked.count }
  var priorities: [TaskPriority] { state.withLock { $0.asked.map { $0.priority } } }

  func send(
    _ request: HTTPTypes.HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPTypes.HTTPResponse) async -> Void
  ) async throws -> (HTTPTypes.HTTPResponse, HTTPBody) {
    let answer = try answer(request.path ?? "/")
    var response = HTTPTypes.HTTPResponse(status: .init(code: answer.status))
    response.headerFields[.contentType] = answer.fields["Content-Type"]
    response.headerFields[.eTag] = state.withLock(\.etag)
    if let tag = response.headerFields[.eTag], request.headerFields[.ifNoneMatch] == tag {
      response.status = .notModified
      return (response, HTTPBody())
    }
    return (response, HTTPBody(Array(answer.body)))
  }

  func answer(_ path: String) throws -> LocalServer.Answer {
    let state = state.withLock { state in
      state.asked.append((path, Task.currentPriority))
      return state
    }
    if let answer = state.answers.first(where: { path.contains($0.key) }) { return answer.value }
    if let file = Self.recorded.first(where: { path.hasPrefix($0.key) })?.value {
      return .init(json: try Repository.text("Examples/Departures/Sample/\(file).json"))
    }
    if path.hasPrefix("/tiles/") {
      return .init(200, body: Data([0x89] + "PNG".utf8) + Data(repeating: 7, count: 19_996))
    }
    return try path.hasPrefix("/v1/stationboard") ? board(path, state) : .init(404)
  }

  private func board(_ path: String, _ state: State) throws -> LocalServer.Answer {
    let query = URLComponents(string: path)?.queryItems ?? []
    let id = query.first { $0.name == "id" }?.value ?? ""
    let first = try day(String((query.first { $0.name == "datetime" }?.value ?? "").prefix(10)))
    var runs: [[String: Any]] = []
    for day in [first, first.advanced(by: 1)] {
      for time in state.times.map({ "\(day)T\($0)" }) {
        let number = Int(time.dropFirst("2025-07-12T".count).prefix(2))! * 10 + 1
        let stop: [String: Any] = [
          "departure": time,
          "delay": try state.delay(id, moment(time)).map { $0 as Any } ?? NSNull(),
          // The number of the request makes each answer different from the others.
          "prognosis": ["arrival": "2025-07-12T08:00:\(10 + state.asked.count % 50)Z"],
        ]
        runs.append([
          "stop": stop, "name": "000\(number)", "category": "BAT", "number": "\(number)",
          "operator": "ZSG", "to": "Halbinsel Au (See)", "passList": 7,
        ])
      }
    }
    return .init(json: [
      "station": ["id": id, "name": "Landing \(id) (See)"], "stationboard": runs,
    ])
  }
}
