import ExampleTesting

@testable import Articles

/// Images with limits and failures, and articles that change while their images are fetched.
@Suite(.fixture(Fixture.self)) struct ImageTests {
  private let fixture = Fixture.current

  private func entry(_ path: String) throws -> Store.Entry? {
    try fixture.images.entry(for: fixture.address(path))
  }

  /// Lets the oldest two articles show one image.
  private func shareAnImage() {
    for number in 0..<2 {
      fixture.readeck.change(FakeReadeck.id(number)) { $0.html = "<img src='/img/shared'>" }
    }
    fixture.readeck.set(FakeReadeck.Image(), at: "/img/shared")
  }

  @Test func `an image of two articles is fetched once, and removed with the last`() async throws {
    try await fixture.reader.change(.test(articles: 10))
    fixture.readeck.fill(10)
    shareAnImage()
    try await fixture.sync()
    #expect(fixture.asked().images == ["/img/shared"])
    #expect(try entry("/img/shared")?.owners.count == 2)
    try await fixture.sync(new: 1, from: 10)
    #expect(try entry("/img/shared")?.owners.map(\.key.description) == [FakeReadeck.id(1)])
    try await fixture.sync(new: 1, from: 11)
    #expect(try fixture.images.count() == 0)
  }

  @Test func `an image that two articles fetch at once has both as owners`() async throws {
    fixture.readeck.fill(2)
    shareAnImage()
    let gate = fixture.hold { $0.bare == "/img/shared" }
    for number in 0..<2 { _ = try await fixture.reader.article(FakeReadeck.id(number)) }
    try await fixture.asked(for: "/img/shared")
    gate.open()
    await fixture.reader.finish()
    #expect(fixture.asked().images == ["/img/shared"])
    for count in [2, 1, 0] {
      #expect(try entry("/img/shared")?.owners.count ?? 0 == count)
      if count > 0 { try await fixture.articles.remove(FakeReadeck.id(count - 1)) }
    }
    #expect(try fixture.reader.usage().images == 0)
  }

  @Test func `an article whose images do not fit is stored without them`() async throws {
    try await fixture.reader.change(.test(imageMegabytes: 50))
    fixture.readeck.fill(3, images: 3)
    let large = FakeReadeck.Image.bytes(17_000_000)
    for page in fixture.readeck.pages.prefix(2) {
      for number in 0..<3 {
        fixture.readeck.set(.init(bytes: large), at: "/img/\(page.id)-\(number)")
      }
    }
    let result = try await fixture.sync()
    #expect(result.outcome == .done && result.stored == 3)
    let stored = try fixture.reader.stored()
    #expect(stored.map(\.lacksImages) == [true, true, false])
    #expect(try fixture.reader.usage().imageBytes == 15, "none of those that do not fit is left")
    #expect(try await fixture.reader.article(stored[0].bookmark.id).html.contains("<img"))
    _ = fixture.asked()
    #expect(try await fixture.sync().outcome == .nothingNew)
    #expect(fixture.server.count == 1, "nor are they fetched again and again")
    fixture.readeck.change(FakeReadeck.id(2)) { $0.updated = "2026-01-01T00:00:00Z" }
    #expect(try await fixture.sync().stored == 1 && fixture.asked().images == [])

    try await fixture.reader.change(.test(imageMegabytes: 60))
    try await fixture.sync()
    #expect(try fixture.reader.stored().map(\.lacksImages) == [false, true, false])
    #expect(try fixture.reader.usage().imageBytes == 3 * large.count + 15)

    // The images of the oldest article are removed first.
    try await fixture.reader.change(.test(imageMegabytes: 50))
    #expect(try fixture.reader.stored().map(\.lacksImages) == [true, true, true])
    let usage = try fixture.reader.usage()
    #expect(usage.imageBytes == 0 && usage.articles == 3)
  }

  @Test func `failed images are requested again later, useless ones a day later`() async throws {
    fixture.readeck.fill(2, images: 3)
    func path(_ article: Int, _ image: Int) -> String { "/img/\(FakeReadeck.id(article))-\(image)" }
    let (gone, large, page, later) = (path(0, 0), path(0, 1), path(1, 0), path(1, 1))
    fixture.readeck.set(.init(status: 404), at: gone)
    fixture.readeck.set(.init(bytes: [UInt8](repeating: 7, count: 64_000_001)), at: large)
    // The login page of a network is no image.
    fixture.readeck.set(.init(bytes: Array("<html>".utf8), type: "text/html"), at: page)
    fixture.readeck.set(.init(status: 503), at: later)
    let result = try await fixture.sync()
    #expect(result.outcome == .done && result.images == 2)
    let asked = fixture.asked().images
    #expect([later, gone, large].map { path in asked.count { $0 == path } } == [3, 1, 1])
    for path in [gone, large, page, later] { fixture.readeck.set(.init(), at: path) }
    #expect(try await fixture.sync().images == 2)
    #expect(Set(fixture.asked().images) == [later, page])
    fixture.clock.advance(by: .days(1))
    #expect(try await fixture.sync().images == 2)
    #expect(Set(fixture.asked().images) == [gone, large])
  }

  @Test(arguments: [200, 404])
  func `an article removed during its images does not stop a sync`(status: Int) async throws {
    fixture.readeck.fill(5, images: 2)
    let (id, path) = (FakeReadeck.id(4), "/img/\(FakeReadeck.id(4))-0")
    fixture.readeck.set(FakeReadeck.Image(status: status), at: path)
    fixture.server.become { [readeck = fixture.readeck, articles = fixture.articles] request in
      if request.bare == path { try await articles.remove(id) }
      return readeck.answer(request)
    }
    let result = try await fixture.sync()
    #expect(result.stored == 5 && result.kept == 4 && result.reason == nil)
    let usage = try fixture.reader.usage()
    #expect(usage.articles == 4 && usage.images == 8)
  }

  @Test(arguments: [5, 60_000_000])
  func `a late image of an earlier version is not stored`(size: Int) async throws {
    try await fixture.reader.change(.test(imageMegabytes: 50))
    fixture.readeck.fill(1, images: 1)
    let (id, path) = (FakeReadeck.id(0), "/img/\(FakeReadeck.id(0))-0")
    fixture.readeck.set(.init(bytes: FakeReadeck.Image.bytes(size)), at: path)
    fixture.readeck.set(.init(), at: "/img/new")
    let gate = fixture.hold { $0.bare == path }
    _ = try await fixture.reader.article(id)
    try await fixture.asked(for: path)
    fixture.readeck.change(id) {
      ($0.html, $0.updated, $0.entityTag) = ("<img src='/img/new'>", "2026-01-01T00:00:00Z", "1")
    }
    _ = try await fixture.reader.article(fixture.reader.unread().bookmarks[0].id)
    try await waitUntil { try entry("/img/new") != nil }
    gate.open()
    await fixture.reader.finish()
    #expect(try entry(path) == nil)
    let article = try #require(try fixture.reader.stored().first)
    #expect(article.images == [fixture.address("/img/new")] && !article.lacksImages)
    #expect(article.bookmark.updated == "2026-01-01T00:00:00Z")
    #expect(try entry("/img/new")?.owners.map(\.key.description) == [id])
    #expect(try fixture.images.count() == 1)
  }
}
