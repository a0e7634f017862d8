import Catalog
import ExampleTesting
import Foundation
import HTTPTypes
import Larder
import LarderHTTP
import LarderURLSession

/// A catalog with a store of its own before a server of its own, with time that stands still.
struct Fixture: TestFixture {
  let clock = ManualClock()
  let store: Store
  let server: LocalServer
  let fake = FakeCatalog()
  let cache: HTTPCache
  let waits = Lines<Duration>()

  private init(_ server: LocalServer) throws {
    self.server = server
    store = try Store.temporary(clock: clock)
    cache = HTTPCache(
      in: store.namespace("catalog.http"), over: Catalog.network(URLSessionTransport()))
    server.become { [fake] in fake.answer($0) }
  }

  func catalog(user: String = "one", tier: String? = nil) -> Catalog {
    catalog(user: user, tier: tier, over: cache)
  }

  /// A catalog that shares nothing with the others but the store, as that of another process.
  func elsewhere(user: String = "one") -> Catalog {
    catalog(
      user: user, tier: nil, over: HTTPCache(in: cache.namespace, over: URLSessionTransport()))
  }

  private func catalog(user: String, tier: String?, over cache: HTTPCache) -> Catalog {
    Catalog(
      at: server.base + "/api", user: user, token: user, tier: tier, over: cache,
      sleep: { [waits] in waits.add($0) })
  }

  /// How many entries the store has, of whatever namespace.
  func count() throws -> Int {
    try store.namespaces().reduce(0) { try $0 + store.namespace($1.name).count() }
  }

  /// Lets the server answer only when the gate is opened.
  func hold(_ gate: Gate) {
    server.become { [fake] request in
      await gate.pass()
      return fake.answer(request)
    }
  }

  static func run(_ body: (Fixture) async throws -> Void) async throws {
    try await LocalServer.run { server in
      let fixture = try Fixture(server)
      try await body(fixture)
      try fixture.store.finish()
    }
  }

  /// How many requests there were since the last time, and how many of them asked only whether something has changed.
  func asked() -> (all: Int, conditional: Int) {
    defer { server.forget() }
    let received = server.received
    return (
      received.count,
      received.count { $0.fields["if-none-match"] != nil || $0.fields["if-modified-since"] != nil }
    )
  }

  /// A request for what is asked again, be it fresh.
  func request(_ path: String) -> HTTPRequest {
    HTTPRequest(
      method: .get, scheme: "http", authority: String(server.base.dropFirst("http://".count)),
      path: path, headerFields: [.authorization: "Bearer one", .cacheControl: "no-cache"])
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
