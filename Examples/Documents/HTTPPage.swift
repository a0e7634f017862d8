import Foundation
import HTTPTypes
import Larder
import LarderHTTP
import LarderHTTPTesting
import LarderURLSession
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The programs of `Docs/Use/HTTP.md`.
@Suite struct HTTPPage {
  private static func withServer(
    _ body: @Sendable (_ server: LocalServer, _ host: String) async throws -> Void
  ) async throws {
    try await LocalServer.run { server in
      server.become { _ in .init(200, ["Cache-Control": "max-age=60"], text: "hello") }
      try await body(server, String(server.base.dropFirst("http://".count)))
    }
  }

  @Test func `a request`() async throws {
    let directory = try TemporaryDirectory()
    try await Self.withServer { server, host in
      let path = directory.path + "/weather.larder"
      for _ in 1...2 {
        let store = try Store(at: path)
        let cache = HTTPCache(in: store.namespace("http"), over: URLSessionTransport())
        let request = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/boards/1")
        let answer = try await cache.send(request)
        print(answer.response.status, answer.isHit, try await answer.body.bytes().count)
        try store.close()
      }
      #expect(server.count == 1)
    }
  }

  private static let weatherCache: HTTPCache? = {
    do {
      let store = try Store.temporary()
      return HTTPCache(in: store.namespace("http"), over: URLSessionTransport())
    } catch {
      return nil
    }
  }()

  final class WeatherProtocol: HTTPCacheURLProtocol {
    override class var cache: HTTPCache? { weatherCache }
  }

  @Test func `code over URLSession`() async throws {
    let configuration = URLSessionConfiguration.default
    configuration.protocolClasses = [WeatherProtocol.self]
    configuration.urlCache = nil
    let session = URLSession(configuration: configuration)
    try await Self.withServer { server, _ in
      let url = try #require(URL(string: server.base + "/boards/1"))
      for _ in 1...2 {
        let (data, _) = try await session.data(from: url)
        #expect(data == Data("hello".utf8))
      }
      #expect(server.count == 1)
    }
    session.invalidateAndCancel()
  }

  private struct Sessions { func user(_ cookie: String) -> String? { cookie } }

  @Test func `users and rules`() throws {
    let sessions = Sessions()
    var policy = HTTPCachePolicy()
    policy.rules = [
      HTTPCacheRule("api.example.com/images/*", freshness: .days(1), contentTypes: ["image/*"]),
      HTTPCacheRule(
        "api.example.com/*", defaultFreshness: .seconds(60), statuses: [200, 404],
        ignoredParameters: ["utm_source"], ignoresParameterOrder: true),
    ]
    policy.principal = { request in request.headerFields[.cookie].flatMap(sessions.user) }
    let key = { path in
      ResponseKey(
        HTTPRequest(method: .get, scheme: "http", authority: "api.example.com", path: path),
        policy: policy)
    }
    #expect(key("/a?utm_source=1&b=2&a=1") == key("/a?a=1&b=2"))
    #expect(key("/a?a=1") != key("/a?a=2"))
  }

  private struct InvalidCursor: Error {}

  private struct CatalogAPI {
    struct Page: Sendable {
      var items: [String]
      var version: String?
      var next: Int?
    }
    func catalog(after cursor: Int?) async throws -> Page {
      Page(items: ["item \(cursor ?? 0)"], version: "1", next: cursor == nil ? 1 : nil)
    }
  }

  @Test func `pages`() async throws {
    let api = CatalogAPI()
    let walk = PageWalk(
      next: { $0.next }, version: { $0.version }, isInvalidCursor: { $0 is InvalidCursor },
      fetch: { cursor in try await api.catalog(after: cursor) })
    let pages = try await walk.all()
    #expect(pages.flatMap(\.items) == ["item 0", "item 1"])
  }

  @Test func `invalidation`() async throws {
    try await Self.withServer { server, host in
      let store = try Store.temporary()
      let cache = HTTPCache(in: store.namespace("http"), over: URLSessionTransport())
      let request = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/boards/1")
      _ = try await cache.send(request).body.bytes()
      try await cache.removeAll(host: "api.example.com")  // the service has changed
      try await cache.removeAll(authorization: "Bearer 1234")  // after a logout
      try await cache.removeAll(for: request)  // one URI, for a refresh

      let page = try await cache.send(request, tags: ["catalog"])
      try await cache.removeAll(tag: "catalog")  // all pages of a listing, for another filter
      #expect(try await page.body.bytes() == Array("hello".utf8))
      #expect(try await cache.send(request).isHit == false)
      #expect(server.count == 3)
    }
  }
}
