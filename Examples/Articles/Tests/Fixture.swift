import ExampleTesting
import Foundation
import HTTPTypes
import Larder
import LarderHTTP
import LarderURLSession
import Synchronization
import TestSupport

@testable import Articles

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A reader with its own store and server, and a manual clock.
struct Fixture: TestFixture {
  let clock = ManualClock()
  let store: Store
  let server: LocalServer
  let readeck = FakeReadeck()
  let wire: Wire
  let reader: ArticleReader
  let waits: Lines<Duration>

  private init(_ server: LocalServer) throws {
    self.server = server
    store = try Store.temporary(clock: clock)
    wire = Wire()
    waits = Lines<Duration>()
    reader = try Fixture.reader(in: store, at: server.base, over: wire) { [waits] in
      waits.add($0)
      await Task.yield()
    }
    try reader.shelf.set(.test())
    server.become { [readeck] in readeck.answer($0) }
  }

  static func reader(
    in store: Store, at base: String, over wire: any HTTPTransport,
    token: String = FakeReadeck.token,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in await Task.yield() }
  ) throws -> ArticleReader {
    ArticleReader(
      in: store, at: Readeck(at: base + "/api", token: token, in: store, over: wire, sleep: sleep))
  }

  var articles: Store.Namespace { reader.shelf.articles.namespace }
  var images: Store.Namespace { reader.shelf.images.namespace }

  /// Another reader over the same store, as in another process.
  func another() throws -> ArticleReader {
    try Fixture.reader(in: store, at: server.base, over: wire)
  }

  /// Holds back whoever asks for what `isHeld` tells, until the gate is opened.
  func hold(_ isHeld: @escaping @Sendable (LocalServer.Received) -> Bool) -> Gate {
    let gate = Gate()
    server.become { [readeck] request in
      if isHeld(request) { await gate.pass() }
      return readeck.answer(request)
    }
    return gate
  }

  /// Waits until the server was asked for that so often.
  func asked(for path: String, times: Int = 1) async throws {
    try await waitUntil { server.received.count { $0.bare == path } >= times }
  }

  /// The path of an article's body.
  static func body(_ number: Int) -> String { "/api/bookmarks/\(FakeReadeck.id(number))/article" }

  /// The images of an article that are there.
  func images(of number: Int) throws -> Int {
    try images.page(limit: 1_000).items.count {
      $0.owners.contains { $0.key == Key(FakeReadeck.id(number)) }
    }
  }

  /// The namespaces with entries, without the settings and without the digest of the realm.
  func filled() throws -> [String] {
    try store.namespaces().filter { $0.entries > 0 && $0.name != "articles.settings" }.map {
      String($0.name.dropLast(13))
    }.sorted()
  }

  /// Runs `body`, and checks the store afterwards.
  static func run(_ body: (Fixture) async throws -> Void) async throws {
    try await LocalServer.run { server in
      let fixture = try Fixture(server)
      try await body(fixture)
      await fixture.reader.finish()
      try fixture.store.finish()
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

/// A network that can fail.
final class Wire: HTTPTransport {
  private struct State {
    var left = Int.max
    var failing: String?
    var error = URLError(.notConnectedToInternet)
    var sent: [(path: String, priority: TaskPriority)] = []
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

  /// Only requests of this path fail; nil for none.
  func failOnly(_ path: String?, with code: URLError.Code = .timedOut) {
    state.withLock {
      $0.failing = path
      $0.error = URLError(code)
    }
  }

  func heal() { state.withLock { $0.left = .max } }

  /// The paths of all that was sent.
  var sent: [String] { state.withLock { $0.sent.map(\.path) } }

  /// Forgets what was sent.
  func forget() { state.withLock { $0.sent = [] } }

  /// The priorities with which images were sent, or all else was.
  func priorities(ofImages isImage: Bool) -> Set<UInt8> {
    let sent = state.withLock { $0.sent }
    return Set(sent.filter { $0.path.hasPrefix("/img") == isImage }.map(\.priority.rawValue))
  }

  func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    try state.withLock { state in
      guard state.left > 0, state.failing != request.path else { throw state.error }
      state.left -= 1
      state.sent.append((request.path ?? "/", Task.currentPriority))
    }
    return try await session.send(request, body: body, interim: interim)
  }
}

extension [StoredArticle] { var ids: [String] { map(\.bookmark.id) } }

extension OfflineSettings {
  /// With images.
  static func test(
    isOn: Bool = true, articles: Int = 20, keepsImages: Bool = true, imageMegabytes: Int = 200
  ) -> OfflineSettings {
    OfflineSettings(
      isOn: isOn, articles: articles, keepsImages: keepsImages, imageMegabytes: imageMegabytes)
  }
}
