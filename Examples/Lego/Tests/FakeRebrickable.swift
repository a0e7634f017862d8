import ExampleTesting

@testable import LegoCache

/// A server with Rebrickable's paths, bodies, pages and errors.
final class FakeRebrickable: Sendable {
  static let credential = "4f5e6d7c"

  struct State {
    /// The JSON of each entity by its path.
    var things: [String: String] = [:]
    /// The JSON objects of each list by its path.
    var lists: [String: [String]] = [:]
    /// The answers that come before all others, in this order.
    var refusals: [LocalServer.Answer] = []
    /// The fields of each good answer.
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
      let path = String(request.bare.dropFirst("/api/v3".count))
      if let thing = state.things[path] {
        let tag = state.fields["ETag"]
        let isKnown = tag != nil && request.fields["if-none-match"] == tag
        return isKnown ? .init(304, state.fields) : .init(200, state.fields, text: thing)
      }
      guard let all = state.lists[path] else { return .init(404, text: #"{"detail": "No."}"#) }
      let rows = all.prefix(request.parameter("page_size").flatMap { Int($0) } ?? 100)
      return .init(
        200, state.fields,
        text: #"{"count": \#(all.count), "results": [\#(rows.joined(separator: ", "))]}"#)
    }
  }
}

/// A fake service, a clock, and clients over stores in a folder of the test. The stores are checked after the test.
struct Fixture: TestFixture {
  let fake: FakeRebrickable
  let clock = ManualClock()
  let folder: TemporaryDirectory
  private let stores = Lines<Store>()

  static func run(_ body: (Fixture) async throws -> Void) async throws {
    try await FakeRebrickable.run { fake in
      let fixture = Fixture(fake: fake, folder: try TemporaryDirectory())
      try await body(fixture)
      for store in fixture.stores.all {
        do { try store.finish() } catch let error as LarderError where error.code == .closed {}
      }
    }
  }

  func client(_ plan: CachePlan = .default, at name: String = "store") throws -> LegoClient {
    let client = try LegoClient(
      at: folder.path + "/" + name, plan: plan, base: fake.base,
      credential: FakeRebrickable.credential, over: URLSessionTransport(),
      options: Store.Options(clock: clock))
    stores.add(client.cache.store)
    return client
  }
}

extension LegoCache {
  /// Stores entities of one kind in one transaction.
  func keep<Entity: LegoEntity>(_ all: [Entity]) throws {
    guard let cache = entities(Entity.self) else { return }
    try store.write { batch in
      for entity in all { try batch.set(entity, for: entity.key, in: cache) }
    }
  }
}

extension LegoClient {
  func color(_ id: Int, _ policy: RequestPolicy = .standard) async throws -> CacheResult<Color>? {
    try await entity(Color.self, "\(id)", policy: policy)
  }
}

/// Bodies in the form of the API.
enum Body {
  static func recorded(_ name: String) throws -> String {
    try Repository.text("Examples/Lego/Recording/\(name).json")
  }

  static func color(_ id: Int, _ name: String = "Red") -> String {
    #"{"id": \#(id), "name": "\#(name)", "rgb": "C91A09", "is_trans": null, "external_ids": 7}"#
  }

  static func part(_ number: String, _ name: String = "Brick 2 x 4") -> String {
    #"{"part_num": "\#(number)", "name": "\#(name)", "part_cat_id": 11, "year_from": 1979}"#
  }

  static func set(_ number: String) -> String {
    #"{"set_num": "\#(number)", "name": "Titanic", "year": 2021, "num_parts": 9092}"#
  }
}
