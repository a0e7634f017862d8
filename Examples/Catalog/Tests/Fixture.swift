import ExampleTesting

@testable import Catalog

/// A catalog with its own store and server, and a manual clock.
struct Fixture: TestFixture {
  let clock = ManualClock()
  let store: Store
  let server: LocalServer
  let fake = FakeCatalog()
  let cache: HTTPCache

  private init(_ server: LocalServer) throws {
    self.server = server
    store = try Store.temporary(options: Store.Options(clock: clock))
    cache = HTTPCache(
      in: store.namespace("catalog.http"), over: Catalog.network(URLSessionTransport()))
    recover()
  }

  func catalog(user: String = "one", over cache: HTTPCache? = nil) -> Catalog {
    Catalog(
      at: server.base + "/api", user: user, token: user, over: cache ?? self.cache, sleep: { _ in })
  }

  /// A reader of so many funnels that has read so many pages.
  func reader(of count: Int, pages: Int = 0, limit: Int = 50) async throws -> CatalogReader {
    fake.fill(count)
    let reader = try catalog().reader(limit: limit)
    for _ in 0..<pages { try await reader.more() }
    server.forget()
    return reader
  }

  /// A catalog that shares only the store with the others, as that of another process.
  func elsewhere() -> Catalog {
    catalog(over: HTTPCache(in: cache.namespace, over: URLSessionTransport()))
  }

  /// The entries of all namespaces.
  func count() throws -> Int { try store.namespaces().reduce(0) { $0 + $1.entries } }

  /// Answers as the catalog does.
  func recover() { server.become { [fake] in fake.answer($0) } }

  /// Answers when the gate is opened.
  func hold() -> Gate { server.hold { [fake] in fake.answer($0) } }

  static func run(_ body: (Fixture) async throws -> Void) async throws {
    try await LocalServer.run { server in
      let fixture = try Fixture(server)
      try await body(fixture)
      try fixture.store.finish()
    }
  }

  /// The requests since the last call, and how many of them were conditional.
  func asked() -> (all: Int, conditional: Int) {
    defer { server.forget() }
    let received = server.received
    return (
      received.count,
      received.count { $0.fields["if-none-match"] != nil || $0.fields["if-modified-since"] != nil }
    )
  }

  /// The answers so far: without a request, confirmed, and with a body.
  var counts: [Int] {
    let statistics = cache.statistics
    let (hits, confirmed) = (
      statistics.hits.values.reduce(0, +), statistics.reuses.values.reduce(0, +)
    )
    return [hits, confirmed, statistics.requests - hits - confirmed]
  }

  /// A request that validates, whether the answer is fresh or not.
  func request(_ path: String) -> HTTPRequest {
    HTTPRequest(
      method: .get, scheme: "http", authority: String(server.base.dropFirst("http://".count)),
      path: path, headerFields: [.authorization: "Bearer one", .cacheControl: "no-cache"])
  }

  /// Validates the first page alone, as another process that is killed after it.
  func validateFirstPage() async throws {
    let first = server.received.first?.path ?? ""
    _ = try await cache.send(request(first)).body.bytes()
  }

  /// The slugs that the service has now, in its order.
  func slugs(tier: String? = nil) -> [String] {
    fake.change { state in
      state.items.filter { tier == nil || $0.tier == tier }.sorted {
        ($0.title.lowercased(), $0.slug) < ($1.title.lowercased(), $1.slug)
      }.map(\.slug)
    }
  }
}

extension CatalogContents { var slugs: [String] { funnels.map(\.slug) } }

extension CatalogReader {
  func titles() -> [String] { contents.funnels.map(\.title) }
}
