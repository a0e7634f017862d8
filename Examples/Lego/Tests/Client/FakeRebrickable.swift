import ExampleTesting

@testable import LegoCache

/// A server that answers as Rebrickable does: the same paths, bodies, pages and errors.
final class FakeRebrickable: TestFixture {
  static let credential = "4f5e6d7c"

  struct State {
    /// By path: what is there, as JSON.
    var things: [String: String] = [:]
    /// By path: what is in the list, one JSON object each.
    var lists: [String: [String]] = [:]
    /// Instead of everything else, in this order.
    var refusals: [LocalServer.Answer] = []
    /// Goes with each good answer.
    var fields: [String: String] = [:]
  }

  let server: LocalServer
  private let state = Mutex(State())

  private init(_ server: LocalServer) { self.server = server }

  static func run<Result: Sendable>(
    _ body: (FakeRebrickable) async throws -> Result
  ) async throws -> Result {
    try await LocalServer.run { server in
      let fake = FakeRebrickable(server)
      server.become { fake.answer($0) }
      return try await body(fake)
    }
  }

  var base: String { server.base + "/api/v3" }
  /// The requested addresses without the base.
  var asked: [String] { server.received.map { String($0.path.dropFirst("/api/v3".count)) } }
  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
  func put(_ json: String, at path: String) { change { $0.things[path] = json } }

  func refuse(_ status: Int, _ text: String, _ fields: [String: String] = [:], times: Int = 1) {
    change { $0.refusals += Array(repeating: .init(status, fields, text: text), count: times) }
  }

  func answer(_ request: LocalServer.Received) -> LocalServer.Answer {
    state.withLock { state in
      if !state.refusals.isEmpty { return state.refusals.removeFirst() }
      guard request.fields["authorization"]?.hasPrefix("key ") == true else {
        return .init(401, text: #"{"detail": "Authentication credentials were not provided."}"#)
      }
      guard request.bare.hasPrefix("/api/v3") else { return .init(404, text: "<html>") }
      let path = String(request.bare.dropFirst("/api/v3".count))
      if let thing = state.things[path] {
        if let tag = state.fields["ETag"], request.fields["if-none-match"] == tag {
          return .init(304, state.fields)
        }
        return .init(200, state.fields, text: thing)
      }
      guard let all = state.lists[path] else {
        return .init(404, text: #"{"detail": "Not found."}"#)
      }
      return page(of: all, path, request, state.fields)
    }
  }

  private func page(
    of all: [String], _ path: String, _ request: LocalServer.Received, _ fields: [String: String]
  ) -> LocalServer.Answer {
    let size = request.parameter("page_size").flatMap { Int($0) } ?? 100
    let number = request.parameter("page").flatMap { Int($0) } ?? 1
    let start = (number - 1) * size
    guard start < max(all.count, 1) else {
      return .init(404, text: #"{"detail": "Invalid page."}"#)
    }
    let address = "\"\(base)\(path)?page=\(number + 1)&page_size=\(size)\""
    let next = start + size < all.count ? address : "null"
    let results = all[start..<min(start + size, all.count)].joined(separator: ", ")
    return .init(
      200, fields, text: #"{"count": \#(all.count), "next": \#(next), "results": [\#(results)]}"#)
  }
}

extension LegoClient {
  /// A client of that server; without a store of its own it gets one that is gone when the test is.
  static func tested(
    of fake: FakeRebrickable, in store: Store? = nil, plan: CachePlan = .default,
    clock: ManualClock = ManualClock(), credential: String? = FakeRebrickable.credential,
    slept: Lines<Duration> = Lines<Duration>()
  ) throws -> LegoClient {
    let realm = realm(base: fake.base, credential: credential)
    var service = service(base: fake.base, credential: credential, over: URLSessionTransport())
    service.sleep = { slept.add($0) }
    return LegoClient(
      LegoCache(try store ?? .tested(clock: clock), plan: plan, realm: realm), service: service)
  }

  func color(_ id: Int, _ policy: RequestPolicy = .standard) async throws -> CacheResult<Color>? {
    try await entity(Color.self, "\(id)", policy: policy)
  }

  func part(_ key: String, _ policy: RequestPolicy = .standard) async throws -> CacheResult<Part>? {
    try await entity(Part.self, key, policy: policy)
  }

  func set(
    _ key: String, _ policy: RequestPolicy = .standard
  ) async throws -> CacheResult<ModelSet>? {
    try await entity(ModelSet.self, key, policy: policy)
  }
}

/// Bodies in the API's exact shape.
enum Body {
  /// An answer of the recording.
  static func recorded(_ name: String) throws -> String {
    let file = Folders.examples.appending(path: "Lego/Recording/\(name).json")
    return try String(contentsOf: file, encoding: .utf8)
  }

  static func color(_ id: Int, _ name: String = "Red") -> String {
    """
    {"id": \(id), "name": "\(name)", "rgb": "C91A09", "is_trans": null, "external_ids":
     {"Peeron": {"ext_ids": [null], "ext_descrs": [["red"]]}}}
    """
  }

  static func colors(_ ids: some Sequence<Int>) -> [String] {
    ids.map { color($0, "Colour \($0)") }
  }

  static func part(_ number: String, _ name: String = "Brick 2 x 4", detail: Bool = false) -> String
  {
    let more = detail ? #", "prints": ["3001pr0001"], "molds": [], "alternates": ["3001old"]"# : ""
    return """
      {"part_num": "\(number)", "name": "\(name)", "part_cat_id": 11, "year_from": 1979,
       "year_to": 2025, "part_url": "https://rebrickable.com/parts/\(number)/", "part_img_url": null,
       "external_ids": {"LEGO": ["3001", null]}, "print_of": null\(more)}
      """
  }

  static func set(_ number: String) -> String {
    """
    {"set_num": "\(number)", "name": "Titanic", "year": 2021, "theme_id": 721, "num_parts": 9092,
     "set_img_url": null, "set_url": "https://rebrickable.com/sets/\(number)/",
     "last_modified_dt": "2021-10-08T06:44:38.312853Z"}
    """
  }
}
