import ExampleTesting

@testable import LegoCache

/// The recorded service, a clock, and clients whose stores are in a folder of the test. After the test, the stores are verified.
struct Fixture: TestFixture {
  let server: LocalServer
  let clock = ManualClock()
  let folder: TemporaryDirectory
  let stores: TestedStores
  let key = "4f5e6d7c"
  var path: String { folder.path + "/page" }
  var transport: any HTTPTransport { LocalTransport(to: server) }

  static func run(_ body: (Fixture) async throws -> Void) async throws {
    try await LocalServer.run { server in
      let folder = TemporaryDirectory()
      try await TestedStores.run { stores in
        let fixture = Fixture(server: server, folder: folder, stores: stores)
        try fixture.recover()
        try await body(fixture)
      }
    }
  }

  func recover() throws { try server.replay("Lego/Sample") }

  /// The addresses that were requested, without the base.
  var asked: [String] { server.received.map { String($0.path.dropFirst("/api/v3".count)) } }

  func client(_ plan: CachePlan = .default, at name: String = "store") throws -> LegoClient {
    let store = try plan.store(at: folder.path + "/" + name, options: Store.Options(clock: clock))
    stores.add(store)
    return try LegoClient(
      in: store, plan: plan, base: server.base + "/api/v3", credential: key,
      over: URLSessionTransport())
  }
}

extension LegoList<ModelSet> { static var recorded: Self { .sets.searching("table").sized(20) } }

extension LegoClient {
  func keep<Entity: LegoEntity>(_ entity: Entity) throws {
    guard let cache = entities(Entity.self) else { return }
    try store.write { try $0.set(entity, for: entity.key, in: cache) }
  }

  func color(_ id: Int, _ policy: RequestPolicy = .standard) async throws -> CacheResult<Color>? {
    try await entity(Color.self, "\(id)", policy: policy)
  }
}

/// The program in the documentation uses names of the fixture without a declaration.
typealias Programs = Fixture
