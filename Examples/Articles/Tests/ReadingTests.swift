import ExampleTesting

@testable import Articles

/// Opening and listing articles, with a network and without.
@Suite(.fixture(Fixture.self)) struct ReadingTests {
  private let fixture = Fixture.current

  @Test func `a stored article needs no request, another is fetched and stored`() async throws {
    fixture.readeck.fill(3, images: 1)
    let list = try await fixture.reader.unread()
    #expect(list.bookmarks.count == 3 && !list.isOffline)
    _ = fixture.asked()
    for round in 0..<2 {
      let article = try await fixture.reader.article(list.bookmarks[1].id)
      #expect(article.isKept && article.html.contains("<section>1 "))
      #expect(fixture.asked().bodies.count == (round == 0 ? 1 : 0))
    }
    try await waitUntil { try fixture.reader.usage().images != 0 }
    _ = fixture.asked()
    #expect(try await fixture.reader.article(list.bookmarks[1].id).isKept)
    #expect(fixture.server.count == 0)
    _ = try await fixture.reader.article(list.bookmarks[2].id)
    #expect(fixture.asked().bodies == [list.bookmarks[2].id])
  }

  @Test func `unreadable bookmarks are named, and do not hide the others`() async throws {
    fixture.readeck.fill(3)
    fixture.answer("/api/bookmarks") { answer in
      let list = String(decoding: answer.body, as: UTF8.self)
      let bad = #"[7, {}, null, {"id": "", "updated": "x"}, {"id": "a", "updated": null}, "#
      answer.body = Data((bad + list.dropFirst()).utf8)
    }
    let result = try await fixture.sync()
    #expect(result.text == "3 of 3 articles: done")
    let unreadable = try await fixture.reader.unread().unreadable
    #expect(unreadable.count == 5 && result.unreadable == unreadable)
    let reason = "a bookmark without id or updated"
    #expect(unreadable[3...] == ["[3]: \(reason)", "a: [4]: \(reason)"])
    fixture.server.become { _ in .init(200, text: #"[{"id": 7}]"#) }
    await #expect(throws: ServiceError.self) { try await fixture.reader.unread() }
  }

  @Test func `an edited article is fetched again, with its tag as it came`() async throws {
    try await fixture.sync(new: 2, images: 2)
    _ = fixture.asked()
    let id = FakeReadeck.id(1)
    let tag = try #require(fixture.page(1)?.entityTag)
    #expect(tag.hasSuffix("-gzip") && !tag.contains("\""))
    fixture.readeck.change(id) {
      $0.html = "<img src=\"/img/\(id)-1\"> edited"
      $0.updated = "2026-01-01T00:00:00.5Z"
      $0.entityTag = "0ddba11"
    }
    let list = try await fixture.reader.unread()
    #expect(try fixture.reader.stored().map(\.isEdited) == [true, false])
    #expect(try fixture.reader.hasCachedArticle(id))
    _ = fixture.asked()
    let opened = try await fixture.reader.article(list.bookmarks[0].id)
    #expect(opened.html.hasSuffix("edited") && opened.reason == nil)
    #expect(fixture.server.received.last?.fields["if-none-match"] == tag)
    #expect(try fixture.articles.entry(for: id)?.entityTag == Array("0ddba11".utf8))
    let images = fixture.images
    #expect(try !images.contains(fixture.address("/img/\(id)-0")), "it does not show it any more")
    #expect(try images.contains(fixture.address("/img/\(id)-1")))
    #expect(try await fixture.sync().outcome == .nothingNew)
  }

  @Test func `an edit of other fields leaves the body`() async throws {
    try await fixture.sync(new: 2)
    let id = FakeReadeck.id(0)
    fixture.readeck.change(id) {
      ($0.updated, $0.title) = ("2026-02-02T00:00:00Z", "Another title")
    }
    let before = try fixture.articles.entry(for: id)
    _ = fixture.asked()
    #expect(try await fixture.sync().stored == 1)
    let asked = fixture.server.received.last
    #expect(asked?.fields["if-none-match"] == fixture.page(0)?.entityTag)
    let article = try #require(try fixture.reader.stored().last)
    #expect(article.bookmark.name == "Another title" && !article.isEdited)
    let after = try fixture.articles.entry(for: id)
    #expect(after?.entityTag == before?.entityTag && after?.lastModified == before?.lastModified)
    #expect(after?.entityTag != nil && after?.lastModified != nil && after?.size == before?.size)
    _ = fixture.asked()
    #expect(try await fixture.sync().outcome == .nothingNew)
    #expect(fixture.server.count == 1)
  }

  @Test func `an edited article that cannot be fetched is outdated, also if a backup is older`()
    async throws
  {
    try await fixture.sync(new: 1)
    let id = FakeReadeck.id(0)
    for (updated, html) in [("2026-01-01T00:00:00Z", "new"), (FakeReadeck.moment(0), "restored")] {
      fixture.readeck.change(id) { ($0.updated, $0.html, $0.entityTag) = (updated, html, html) }
      _ = try await fixture.reader.unread()
      fixture.network.fail()
      let old = try await fixture.reader.article(id)
      #expect(old.reason != nil && old.isKept && old.html != html)
      fixture.network.recover()
      let new = try await fixture.reader.article(id)
      #expect(new.reason == nil && new.html == html)
    }
    #expect(try await fixture.sync().outcome == .nothingNew)
  }

  @Test(arguments: [
    URLError.Code.notConnectedToInternet, .networkConnectionLost, .timedOut, .cannotFindHost,
    .cannotConnectToHost,
  ]) func `without a network the list has the stored articles, and says so`(code: URLError.Code)
    async throws
  {
    fixture.network.fail(with: code)
    await #expect(throws: ArticlesError.nothingStored) { try await fixture.reader.unread() }
    fixture.network.recover()
    try await fixture.sync(new: 30)
    fixture.network.fail(with: code)
    let list = try await fixture.reader.unread()
    #expect(
      list.isOffline && list.bookmarks.map(\.id) == fixture.readeck.pages.prefix(20).map(\.id))
    await #expect(throws: (any Error).self) { try await fixture.reader.article(FakeReadeck.id(0)) }
  }

  @Test func `refusals and broken connections stay errors`() async throws {
    try await fixture.sync(new: 3)
    for status in [401, 403, 404, 500, 503] {
      fixture.readeck.set(status)
      await #expect(throws: (any Error).self, "\(status)") { try await fixture.reader.unread() }
    }
    fixture.readeck.set(200)
    for code in [
      URLError.Code.secureConnectionFailed, .serverCertificateUntrusted, .badServerResponse,
    ] {
      fixture.network.fail(with: code)
      await #expect(throws: (any Error).self, "\(code)") { try await fixture.reader.unread() }
    }
  }

  @Test func `asking for an article and listing change nothing`() async throws {
    #expect(try !fixture.reader.hasCachedArticle("x"))
    #expect(try fixture.reader.stored().isEmpty)
    #expect(try fixture.store.namespaces().count == 1, "that of the settings")
    try await fixture.sync(new: 3)
    _ = fixture.asked()
    let before = try fixture.store.statistics()
    let entry = try fixture.articles.entry(for: FakeReadeck.id(1))
    fixture.clock.advance(by: .hours(1))
    for _ in 0..<3 {
      #expect(try fixture.reader.hasCachedArticle(FakeReadeck.id(1)))
      #expect(try !fixture.reader.hasCachedArticle("x"))
      #expect(try fixture.reader.stored().count == 3)
    }
    let after = try fixture.store.statistics()
    #expect(after.reads == before.reads, "no HTML is read")
    #expect(after.file.transaction == before.file.transaction)
    #expect(try fixture.articles.entry(for: FakeReadeck.id(1)) == entry)
    #expect(fixture.server.count == 0)
  }

  @Test(arguments: [true, false])
  func `those who open an article at once ask for it once`(isEdited: Bool) async throws {
    let id = FakeReadeck.id(0)
    fixture.readeck.fill(1)
    if isEdited { try await fixture.sync() }
    fixture.readeck.change(id) { ($0.updated, $0.entityTag) = ("2026-01-01T00:00:00Z", "1") }
    if isEdited { _ = try await fixture.reader.unread() }
    fixture.server.forget()
    let readers = (0..<6).map { _ in fixture.another() }
    let gate = fixture.hold { $0.bare == "/api/bookmarks/\(id)" }
    let opening = readers.map { reader in Task { try await reader.article(id) } }
    try await fixture.asked(for: "/api/bookmarks/\(id)")
    gate.open()
    for task in opening { #expect(try await task.value.isKept) }
    #expect(fixture.server.received.map(\.bare) == ["/api/bookmarks/\(id)", Fixture.body(0)])
  }

  @Test(
    arguments: [(500, ""), (429, ""), (200, "<html>Please log in</html>"), (200, ""), (401, "")],
    [true, false])
  func `the stored version of an edited article is opened under any failure`(
    answer: (status: Int, body: String), ofBodyOnly: Bool
  ) async throws {
    try await fixture.sync(new: 1)
    let id = FakeReadeck.id(0)
    fixture.readeck.change(id) { ($0.updated, $0.html) = ("2026-01-01T00:00:00Z", "new") }
    _ = try await fixture.reader.unread()
    let fields = answer.status == 429 ? ["Retry-After": "7200"] : ["Content-Type": "text/html"]
    fixture.answer(with: .init(answer.status, fields, text: answer.body)) {
      !ofBodyOnly || $0.path.hasSuffix("/article")
    }
    let old = try await fixture.reader.article(id)
    #expect(old.isKept && old.html.hasPrefix("<section>0") && old.reason != nil)
    #expect(old.isRefused == (answer.status == 401), "\(old)")
    await #expect(throws: ServiceError.self) { try await fixture.reader.article("other") }
  }

  @Test func `without room an article is opened and not kept`() async throws {
    try await fixture.sync(new: 2, images: 1)
    fixture.readeck.fill(1, from: 2)
    try fixture.store.fill()
    for _ in 0..<2 {
      let article = try await fixture.reader.article(FakeReadeck.id(2))
      #expect(!article.isKept && article.html.contains("<section>2 "))
    }
    #expect(try fixture.reader.stored().ids == [1, 0].map(FakeReadeck.id))
  }

  @Test func `a full shelf has room for an article that is opened`() async throws {
    try await fixture.reader.change(.test(articles: 10, keepsImages: false))
    try await fixture.sync(new: 11)
    #expect(try await fixture.reader.article(FakeReadeck.id(0)).isKept)
    let ids = ([0] + (2..<11)).reversed().map(FakeReadeck.id)
    #expect(try fixture.reader.stored().ids == ids, "the oldest has left")
  }
}
