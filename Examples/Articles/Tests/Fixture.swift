import ExampleTesting

@testable import Articles

/// A reader with its own store, its own server and a manual clock.
struct Fixture: TestFixture {
  let store: Store
  let server: LocalServer
  let readeck = FakeReadeck()
  let network = FaultyTransport(over: URLSessionTransport())
  let reader: ArticleReader

  private init(_ server: LocalServer) async throws {
    self.server = server
    store = try Store.temporary(options: Store.Options(clock: readeck.clock))
    reader = Self.reader(in: store, at: server.base, over: network)
    try await reader.settingsCache.set(.test(), for: "offline")
    answerAll()
  }

  static func run(_ body: (Fixture) async throws -> Void) async throws {
    try await LocalServer.run { server in
      let fixture = try await Fixture(server)
      try await body(fixture)
      await fixture.reader.finish()
      try fixture.store.finish()
    }
  }

  static func reader(
    in store: Store, at base: String, over network: any HTTPTransport
  ) -> ArticleReader {
    ArticleReader(
      in: store, at: base + "/api", token: FakeReadeck.token, over: network, pauses: [.zero, .zero])
  }

  /// Another reader of the same store, as in another process.
  func another() -> ArticleReader { Self.reader(in: store, at: server.base, over: network) }

  var clock: ManualClock { readeck.clock }
  var token: String { FakeReadeck.token }
  var transport: any HTTPTransport { LocalTransport(to: server) }
  var articles: Store.Namespace { reader.articles.namespace }
  var images: Store.Namespace { reader.images.namespace }

  func answerAll() { server.become { [readeck] in readeck.answer($0) } }

  /// Runs `body` after the first request of a path has arrived, and before its answer.
  func during(_ path: String, _ body: @escaping @Sendable () async throws -> Void) {
    let isDone = Atomic(false)
    server.become { [readeck] request in
      let answer = readeck.answer(request)
      if request.bare == path, !isDone.exchange(true, ordering: .relaxed) { try await body() }
      return answer
    }
  }

  func answer(_ path: String, _ change: @escaping @Sendable (inout LocalServer.Answer) -> Void) {
    server.become { [readeck] request in
      with(readeck.answer(request)) { if request.bare == path { change(&$0) } }
    }
  }

  /// Gives `other` as the answer to the requests that `isChosen` chooses. Other requests get their usual answers.
  func answer(
    with other: LocalServer.Answer, to isChosen: @escaping @Sendable (LocalServer.Received) -> Bool
  ) {
    server.become { [readeck] in isChosen($0) ? other : readeck.answer($0) }
  }

  @discardableResult
  func sync(new count: Int = 0, images: Int = 0, from first: Int = 0) async throws -> SyncResult {
    readeck.fill(count, images: images, from: first)
    return try await reader.sync().result()
  }

  func open(_ number: Int) async throws -> Article {
    try await reader.article(FakeReadeck.id(number))
  }

  func edit(_ number: Int, _ kind: PendingEdit.Kind) async throws -> OutboxReport {
    try await reader.edit(FakeReadeck.id(number), kind)
  }

  func stored() throws -> [Int] {
    try reader.stored().map { FakeReadeck.number(of: $0.bookmark.id) }
  }

  /// The requests after the last call of this function: the number of lists, the numbers of the bodies, and the paths of images.
  func asked() -> (lists: Int, bodies: [Int], images: [String]) {
    defer { server.forget() }
    let paths = server.received.map(\.path)
    return (
      paths.count { $0.hasPrefix("/api/bookmarks?") },
      paths.filter { $0.hasSuffix("/article") }.map { FakeReadeck.number(of: $0.dropFirst(15)) },
      paths.filter { !$0.hasPrefix("/api") }
    )
  }

  func address(_ path: String) -> String { server.base + path }
}

extension FaultyTransport {
  /// Lets `count` further requests pass. All requests after them fail.
  func fail(with code: URLError.Code = .notConnectedToInternet, after count: Int = 0) {
    plan =
      [Fault](repeating: .pass, count: count)
      + [Fault](repeating: .fail(URLError(code)), count: 1_000)
  }

  func recover() { plan = [] }
}

extension OfflineSettings {
  static func test(
    isOn: Bool = true, articles: Int = 20, imageMegabytes: Int = 200
  ) -> OfflineSettings {
    OfflineSettings(
      isOn: isOn, articles: articles, keepsImages: true, imageMegabytes: imageMegabytes)
  }
}

/// The program in the documentation uses names of the fixture without a declaration.
typealias Programs = Fixture
