import ExampleTesting

@testable import Articles

/// Images that exceed limits or fail, and articles that change while their images are fetched.
@Suite(.fixture(Fixture.self)) struct ImageTests {
  private let fixture = Fixture.current
  private var reader: ArticleReader { fixture.reader }
  private var readeck: FakeReadeck { fixture.readeck }

  private func entry(_ path: String) throws -> Store.Entry? {
    try fixture.images.entry(for: fixture.address(path))
  }

  /// If true, the two articles are opened at the same time. If false, a sync fetches one article after the other.
  @Test(arguments: [true, false])
  func `an image of two articles is fetched once, and removed with the last`(isAtOnce: Bool)
    async throws
  {
    readeck.fill(2)
    for number in 0..<2 { readeck.change(number) { $0.html = "<img src='/img/shared'>" } }
    readeck.set(FakeReadeck.image(5), at: "/img/shared")
    if isAtOnce {
      fixture.during("/img/shared") { [fixture] in _ = try await fixture.open(1) }
      _ = try await fixture.open(0)
      // The first call waits for the image of the first article, the second call for the image of the second article.
      for _ in 0..<2 { await reader.finish() }
    } else {
      try await fixture.sync()
    }
    #expect(fixture.asked().images == ["/img/shared"])
    for count in [2, 1, 0] {
      #expect(try entry("/img/shared")?.owners.count ?? 0 == count)
      if count > 0 { try await fixture.articles.remove(FakeReadeck.id(count - 1)) }
    }
    #expect(try reader.usage().images == 0)
  }

  @Test func `an article whose images do not fit is stored without them`() async throws {
    try await reader.change(.test(imageMegabytes: 50))
    readeck.fill(3, images: 3)
    let large = 17_000_000
    for number in [1, 2] {
      for image in 0..<3 {
        readeck.set(FakeReadeck.image(large), at: FakeReadeck.image(image, of: number))
      }
    }
    let result = try await fixture.sync()
    #expect(result.outcome == .done && result.stored == 3)
    #expect(try reader.stored().map(\.lacksImages) == [true, true, false])
    #expect(try reader.usage().imageBytes == 15, "none of those that do not fit is left")
    #expect(try await fixture.open(2).html.contains("<img"))
    _ = fixture.asked()
    #expect(try await fixture.sync().outcome == .nothingNew)
    #expect(fixture.server.count == 1, "nor are they fetched again and again")
    readeck.change(2) { $0.updated = "2026-01-01T00:00:00Z" }
    #expect(try await fixture.sync().stored == 1 && fixture.asked().images == [])

    try await reader.change(.test(imageMegabytes: 60))
    try await fixture.sync()
    #expect(try reader.stored().map(\.lacksImages) == [false, true, false])
    #expect(try reader.usage().imageBytes == 3 * large + 15)

    // The new limit is lower, so images are removed, beginning with the oldest article.
    try await reader.change(.test(imageMegabytes: 50))
    #expect(try reader.stored().map(\.lacksImages) == [true, true, true])
    let usage = try reader.usage()
    #expect(usage.imageBytes == 0 && usage.articles == 3)
  }

  /// The bytes of two images. An image of 600 KB is larger than the limit of the store, but not than the limit of images.
  @Test(arguments: [300_000, 600_000])
  func `a sync goes on without images that find no room, and later syncs fetch them`(size: Int)
    async throws
  {
    readeck.fill(3, images: 2)
    for image in 0..<2 { readeck.set(FakeReadeck.image(size), at: FakeReadeck.image(image, of: 2)) }
    try fixture.store.declare(StoreLimits(bytes: 500_000))
    for _ in 0..<2 {
      fixture.clock.advance(by: .hours(5))
      let result = try await fixture.sync()
      #expect((result.error as? LarderError)?.code == (size < 500_000 ? .full : nil), "\(result)")
      #expect(result.kept == 3 && result.failed == (size < 500_000 ? 0 : 1))
      #expect(try reader.usage().lastSync == fixture.clock.now)
    }
    try fixture.store.declare(StoreLimits())
    #expect(try await fixture.sync().outcome == .nothingNew && reader.usage().images == 6)
  }

  @Test func `failed images are requested again later, useless ones a day later`() async throws {
    readeck.fill(2, images: 3)
    let (gone, large) = (FakeReadeck.image(0, of: 0), FakeReadeck.image(1, of: 0))
    let (page, later) = (FakeReadeck.image(0, of: 1), FakeReadeck.image(1, of: 1))
    readeck.set(.init(404), at: gone)
    readeck.set(FakeReadeck.image(64_000_001), at: large)
    // The login page of a network is not an image, so the image is not stored and may be requested again.
    readeck.set(.init(200, ["Content-Type": "text/html"], text: "<html>"), at: page)
    readeck.set(.init(503), at: later)
    let result = try await fixture.sync()
    #expect(result.outcome == .done && result.images == 2)
    let asked = fixture.asked().images
    #expect([later, gone, large].map { path in asked.count { $0 == path } } == [3, 1, 1])
    for path in [gone, large, page, later] { readeck.set(FakeReadeck.image(5), at: path) }
    #expect(try await fixture.sync().images == 2)
    #expect(Set(fixture.asked().images) == [later, page])
    fixture.clock.advance(by: .days(1))
    #expect(try await fixture.sync().images == 2)
    #expect(Set(fixture.asked().images) == [gone, large])
  }

  /// The bytes of the earlier version's image. An image of 60 MB exceeds the limit, but the new version keeps its own image.
  @Test(arguments: [5, 60_000_000])
  func `a late image of an earlier version is not stored`(size: Int) async throws {
    try await reader.change(.test(imageMegabytes: 50))
    readeck.fill(1, images: 1)
    let (path, updated) = (FakeReadeck.image(0, of: 0), "2026-01-01T00:00:00Z")
    readeck.set(FakeReadeck.image(size), at: path)
    readeck.set(FakeReadeck.image(5), at: "/img/new")
    fixture.during(path) { [fixture] in
      fixture.readeck.change(0) {
        ($0.html, $0.updated, $0.entityTag) = ("<img src='/img/new'>", updated, "1")
      }
      _ = try await fixture.reader.unread()
      _ = try await fixture.open(0)
      let new = fixture.address("/img/new")
      try await waitUntil { try fixture.images.contains(new) }
    }
    _ = try await fixture.open(0)
    // The first call waits for the images of the earlier version, the second call for the images of the new version.
    for _ in 0..<2 { await reader.finish() }
    let article = try #require(try reader.stored().first)
    #expect(article.images == [fixture.address("/img/new")] && !article.lacksImages)
    #expect(article.bookmark.updated == updated)
    #expect(try entry("/img/new")?.owners.map(\.key.description) == [FakeReadeck.id(0)])
    #expect(try entry(path) == nil && reader.usage().images == 1)
  }

  @Test func `images for which the time is over wait for the next sync`() async throws {
    readeck.fill(1, images: 20)
    fixture.server.become { [readeck] request in
      if request.bare.hasPrefix("/img") { readeck.clock.advance(by: .minutes(3)) }
      return readeck.answer(request)
    }
    let result = try await fixture.sync()
    #expect(result.error == nil && result.stored == 1, "\(result)")
    // Only four loads run at a time, so few loads begin before the fourth request, after which the time is over.
    #expect(Set(fixture.asked().images).count < 20)
    fixture.answerAll()
    try await fixture.sync()
    #expect(try reader.usage().images == 20)
  }

  @Test(arguments: [200, 404])
  func `an article removed during its images does not stop a sync`(status: Int) async throws {
    readeck.fill(5, images: 2)
    let path = FakeReadeck.image(0, of: 4)
    readeck.set(status == 200 ? FakeReadeck.image(5) : .init(status), at: path)
    fixture.during(path) { [articles = fixture.articles] in
      try await articles.remove(FakeReadeck.id(4))
    }
    let result = try await fixture.sync()
    #expect(result.stored == 5 && result.kept == 4 && result.error == nil)
    let usage = try reader.usage()
    #expect(usage.articles == 4 && usage.images == 8)
  }
}
