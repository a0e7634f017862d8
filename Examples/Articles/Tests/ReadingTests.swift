import ExampleTesting

@testable import Articles

/// Opening articles and listing articles, with and without a network.
@Suite(.fixture(Fixture.self)) struct ReadingTests {
  private let fixture = Fixture.current
  private var reader: ArticleReader { fixture.reader }
  private var readeck: FakeReadeck { fixture.readeck }

  @Test func `a stored article needs no request, another is fetched and stored`() async throws {
    readeck.fill(3, images: 1)
    let list = try await reader.unread()
    #expect(list.bookmarks.count == 3 && !list.isOffline)
    _ = fixture.asked()
    for expected in [[1], []] {
      let article = try await fixture.open(1)
      #expect(article.isKept && article.html.contains("<section>1 "))
      await reader.finish()
      let asked = fixture.asked()
      #expect(asked.bodies == expected && asked.images.count == expected.count)
    }
    #expect(try await fixture.open(0).isKept)
    #expect(fixture.asked().bodies == [0])
  }

  /// The second argument is earlier than the stored time. This simulates a backup that was restored on the service.
  @Test(arguments: ["2026-01-01T00:00:00.5Z", "2020-01-01T00:00:00Z"])
  func `an edited article is fetched again, with its tag as it came`(updated: String) async throws {
    try await fixture.sync(new: 2, images: 2)
    let (id, tag) = (FakeReadeck.id(1), readeck.page(1)?.entityTag)
    #expect(tag?.hasSuffix("-gzip") == true && tag?.contains("\"") == false)
    readeck.change(1) {
      $0.html = "<img src=\"\(FakeReadeck.image(1, of: 1))\"> edited"
      ($0.updated, $0.entityTag) = (updated, "0ddba11")
    }
    _ = try await reader.unread()
    #expect(try reader.stored().map(\.isEdited) == [true, false])
    #expect(try reader.hasCachedArticle(id))
    let opened = try await fixture.open(1)
    #expect(opened.html.hasSuffix("edited") && opened.error == nil)
    let asked = fixture.server.received.last { $0.bare == FakeReadeck.body(1) }
    #expect(asked?.fields["if-none-match"] == tag)
    #expect(try fixture.articles.entry(for: id)?.entityTag == Array("0ddba11".utf8))
    let isStored = try (0...1).map { image in
      try fixture.images.contains(fixture.address(FakeReadeck.image(image, of: 1)))
    }
    #expect(isStored == [false, true], "the new version does not show the first image")
    #expect(try await fixture.sync().outcome == .nothingNew)
  }

  @Test func `an edit of other fields leaves the body`() async throws {
    try await fixture.sync(new: 2)
    readeck.change(0) { ($0.updated, $0.title) = ("2026-02-02T00:00:00Z", "Another title") }
    let before = try fixture.articles.entry(for: FakeReadeck.id(0))
    #expect(try await fixture.sync().stored == 1)
    #expect(fixture.server.received.last?.fields["if-none-match"] == readeck.page(0)?.entityTag)
    let article = try #require(try reader.stored().last)
    #expect(article.bookmark.name == "Another title" && !article.isEdited)
    let after = try fixture.articles.entry(for: FakeReadeck.id(0))
    #expect(after?.entityTag == before?.entityTag && after?.lastModified == before?.lastModified)
    #expect(after?.entityTag != nil && after?.lastModified != nil && after?.size == before?.size)
    _ = fixture.asked()
    #expect(try await fixture.sync().outcome == .nothingNew)
    #expect(fixture.server.count == 1)
  }

  @Test(arguments: [
    URLError.Code.notConnectedToInternet, .networkConnectionLost, .timedOut, .cannotFindHost,
    .cannotConnectToHost,
  ]) func `without a network the list has the stored articles, and says so`(code: URLError.Code)
    async throws
  {
    fixture.network.fail(with: code)
    await #expect(throws: ArticlesError.nothingStored) { try await reader.unread() }
    fixture.network.recover()
    try await fixture.sync(new: 30)
    fixture.network.fail(with: code)
    let list = try await reader.unread()
    #expect(list.isOffline && list.bookmarks.map(\.id) == readeck.pages.prefix(20).map(\.id))
    await #expect(throws: ServiceError.self) { try await fixture.open(0) }
  }

  @Test func `refusals, broken connections and unreadable lists stay errors`() async throws {
    try await fixture.sync(new: 3)
    let codes = [
      URLError.Code.secureConnectionFailed, .serverCertificateUntrusted, .badServerResponse,
    ]
    fixture.network.plan =
      [401, 403, 404, 500, 503].map { FaultyTransport.Fault.status($0) }
      + codes.map { FaultyTransport.Fault.fail(URLError($0)) }
    for _ in fixture.network.plan {
      await #expect(throws: (any Error).self) { try await reader.unread() }
    }
    #expect(fixture.network.plan.isEmpty)
    fixture.answer(with: .init(json: #"[{"id": 7}]"#)) { _ in true }
    await #expect(throws: ServiceError.self) { try await reader.unread() }
  }

  @Test func `asking for an article and listing change nothing`() async throws {
    let id = FakeReadeck.id(1)
    #expect(try !reader.hasCachedArticle(id) && reader.stored().isEmpty)
    #expect(try fixture.store.namespaces().count == 1, "that of the settings")
    try await fixture.sync(new: 3)
    _ = fixture.asked()
    let (before, entry) = (try fixture.store.statistics(), try fixture.articles.entry(for: id))
    fixture.clock.advance(by: .hours(1))
    for _ in 0..<3 {
      #expect(try reader.hasCachedArticle(id) && !reader.hasCachedArticle("x"))
      #expect(try reader.stored().count == 3)
    }
    let after = try fixture.store.statistics()
    #expect(after.reads == before.reads, "no HTML is read")
    #expect(after.file.transaction == before.file.transaction)
    #expect(try fixture.articles.entry(for: id) == entry)
    #expect(fixture.server.count == 0)
  }

  /// A status of 0 means that there is no network.
  @Test(
    arguments: [
      (0, ""), (500, ""), (429, ""), (200, "<html>Please log in</html>"), (200, ""), (401, ""),
    ], [true, false])
  func `the stored version of an edited article is opened under any failure`(
    answer: (status: Int, body: String), ofBodyOnly: Bool
  ) async throws {
    try await fixture.sync(new: 1)
    readeck.change(0) { ($0.updated, $0.html) = ("2026-01-01T00:00:00Z", "new") }
    _ = try await reader.unread()
    let fields = answer.status == 429 ? ["Retry-After": "7200"] : ["Content-Type": "text/html"]
    fixture.answer(with: .init(answer.status, fields, text: answer.body)) {
      !ofBodyOnly || $0.path.hasSuffix("/article")
    }
    if answer.status == 0 { fixture.network.fail(after: ofBodyOnly ? 1 : 0) }
    let old = try await fixture.open(0)
    #expect(old.isKept && old.html.hasPrefix("<section>0"))
    let error = try #require(old.error as? ServiceError)
    #expect(error.refusesReader == (answer.status == 401), "\(error)")
    await #expect(throws: ServiceError.self) { try await reader.article("other") }
  }

  @Test func `without room an article is opened and not kept`() async throws {
    try await fixture.sync(new: 2, images: 1)
    readeck.fill(1, from: 2)
    try fixture.store.fill()
    for _ in 0..<2 {
      // A call shares the former load, and sends one request, until the commit of that load has failed. So the call is repeated.
      var requests = 0
      for _ in 0..<1000 where requests != 2 {
        fixture.server.forget()
        let article = try await fixture.open(2)
        #expect(!article.isKept && article.html.contains("<section>2 "))
        requests = fixture.server.count
      }
      #expect(requests == 2, "the bookmark and the HTML")
    }
    #expect(try fixture.stored() == [1, 0])
  }

  @Test func `a full shelf has room for an article that is opened`() async throws {
    try await reader.change(.test(articles: 10))
    try await fixture.sync(new: 11)
    #expect(try await fixture.open(0).isKept)
    #expect(try fixture.stored() == Array((2..<11).reversed()) + [0], "the oldest has left")
  }
}
