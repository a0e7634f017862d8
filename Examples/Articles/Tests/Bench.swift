import Articles
import ExampleTesting
import Foundation
import HTTPTypes
import Larder
import LarderHTTP
import LarderURLSession
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A reader with a store of its own before a server of its own, with time that stands still.
struct Bench {
  let clock = ManualClock()
  let store: Store
  let server: LocalServer
  let readeck = FakeReadeck()
  let wire: Wire
  let reader: ArticleReader

  private init(_ server: LocalServer, token: String) throws {
    self.server = server
    store = try Store.temporary(clock: clock)
    wire = Wire()
    reader = try Bench.reader(in: store, at: server.base, over: wire, token: token)
    server.become { [readeck] in readeck.answer($0) }
  }

  static func reader(
    in store: Store, at base: String, over wire: any HTTPTransport,
    token: String = FakeReadeck.token
  ) throws -> ArticleReader {
    let cache = HTTPCache(
      in: store.namespace("articles.http"), over: wire, policy: Readeck.policy)
    return ArticleReader(
      in: store,
      at: Readeck(at: base + "/api", token: token, over: cache, sleep: { _ in await Task.yield() }))
  }

  /// Runs `body`, and checks the store afterwards.
  static func run(
    token: String = FakeReadeck.token, _ body: (Bench) async throws -> Void
  ) async throws {
    try await LocalServer.run { server in
      let bench = try Bench(server, token: token)
      try await body(bench)
      try bench.store.finish()
    }
  }

  func sync() async throws -> SyncResult { try await reader.sync().result() }

  /// What was asked for since the last time, sorted by sort: lists, bodies, images.
  func asked() -> (lists: Int, bodies: [String], images: [String]) {
    var asked: (lists: Int, bodies: [String], images: [String]) = (0, [], [])
    for request in server.received {
      if request.bare.hasSuffix("/article") {
        asked.bodies.append(request.bare.split(separator: "/").map(String.init)[2])
      } else if request.bare == "/api/bookmarks" {
        asked.lists += 1
      } else {
        asked.images.append(request.path)
      }
    }
    server.forget()
    return asked
  }

  /// The whole address of an image.
  func address(_ path: String) -> String { server.base + path }
}

/// The network, which can be taken away.
final class Wire: HTTPTransport {
  private struct State {
    var left = Int.max
    var error = URLError(.notConnectedToInternet)
    var sent: [String] = []
  }

  private let state = Mutex(State())
  private let session = URLSessionTransport()

  /// After so many more requests each fails.
  func fail(after count: Int = 0, with code: URLError.Code = .notConnectedToInternet) {
    state.withLock {
      $0.left = count
      $0.error = URLError(code)
    }
  }

  func heal() { state.withLock { $0.left = .max } }

  /// The paths of all that was sent.
  var sent: [String] { state.withLock { $0.sent } }

  func send(
    _ request: HTTPRequest, body: [UInt8],
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    try state.withLock { state in
      guard state.left > 0 else { throw state.error }
      state.left -= 1
      state.sent.append(request.path ?? "/")
    }
    return try await session.send(request, body: body, interim: interim)
  }
}

extension [StoredArticle] {
  var ids: [String] { map(\.bookmark.id) }
}
