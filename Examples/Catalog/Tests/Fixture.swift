import ExampleTesting

@testable import Catalog

struct Fixture: TestFixture {
  let store: Store
  let clock: ManualClock
  let server: LocalServer
  let fake = FakeCatalog()
  var token: String { "one" }
  var transport: any HTTPTransport { LocalTransport(to: server) }

  /// A catalog that shares only the store with other catalogs, like the catalog of another process.
  func catalog(user: String = "one", tier: String? = nil, at base: String? = nil) throws -> Catalog
  {
    let catalog = try Catalog(
      at: (base ?? server.base) + "/api", user: user, token: user, in: store,
      over: URLSessionTransport())
    return with(catalog) { $0.tier = tier }
  }

  func reader(of count: Int, pages: Int = 0) async throws -> CatalogReader {
    fake.fill(count)
    let reader = CatalogReader(try catalog())
    for _ in 0..<pages { try await reader.more() }
    server.forget()
    return reader
  }

  func recover() { server.become { [fake] in fake.answer($0) } }

  /// Runs `change` before each answer, with the number of the request, counted from 1.
  func beforeAnswers(_ change: @escaping @Sendable (Int, inout FakeCatalog.State) -> Void) {
    server.become { [fake, server] request in
      fake.change { change(server.count, &$0) }
      return fake.answer(request)
    }
  }

  static func run(_ body: (Fixture) async throws -> Void) async throws {
    try await LocalServer.run { server in
      try await withTemporaryStore { store, clock in
        let fixture = Fixture(store: store, clock: clock, server: server)
        fixture.recover()
        try await body(fixture)
      }
    }
  }

  /// The number of requests since the last call, and how many of these requests were conditional.
  func asked() -> (all: Int, conditional: Int) {
    let fields = server.received.map(\.fields)
    server.forget()
    return (fields.count, fields.count { $0["if-none-match"] ?? $0["if-modified-since"] != nil })
  }

  func slugs(tier: String? = nil) -> [String] { fake.change { $0.listed(tier).map(\.slug) } }
}

extension CatalogListing { var slugs: [String] { contents.funnels.map(\.slug) } }

extension CatalogReader { func slugs() -> [String] { contents.funnels.map(\.slug) } }

/// The program of the page uses names of the fixture without a declaration.
typealias Programs = Fixture
