import Articles
import ExampleTesting
import Foundation
import Larder
import TestSupport
import Testing

/// Images that several articles show, and articles that change while theirs are fetched.
@Suite(.fixture(Fixture.self)) struct SharedImageTests {
  private let fixture = Fixture.current

  private func entry(_ path: String, _ fixture: Fixture) throws -> Store.Entry? {
    try fixture.images.entry(for: fixture.address(path))
  }

  /// Two articles that show an image, opened while that is on its way.
  private func fetchTogether(_ fixture: Fixture, meanwhile: () async throws -> Void = {})
    async throws
  {
    fixture.readeck.fill(2)
    fixture.readeck.change(FakeReadeck.id(0)) { $0.html = "<img src='/img/shared'>" }
    fixture.readeck.change(FakeReadeck.id(1)) {
      $0.html = "<img src='/img/shared'>" + (1...5).map { "<img src='/img/\($0)'>" }.joined()
    }
    for name in ["shared", "1", "2", "3", "4", "5"] {
      fixture.readeck.set(FakeReadeck.Image(), at: "/img/" + name)
    }
    let gate = fixture.hold { $0.bare == "/img/shared" }
    _ = try await fixture.reader.article(id: FakeReadeck.id(0))
    try await fixture.asked(for: "/img/shared")
    _ = try await fixture.reader.article(id: FakeReadeck.id(1))
    // Its last image comes after it has begun to wait for the first.
    try await waitUntil { try fixture.images(of: 1) >= 5 }
    try await meanwhile()
    gate.open()
    await fixture.reader.finish()
  }

  @Test func `an image that two articles fetch at once has both as owners`() async throws {
    try await fetchTogether(fixture)
    #expect(fixture.asked().images.filter { $0 == "/img/shared" }.count == 1)
    #expect(try entry("/img/shared", fixture)?.owners.count == 2)
    try await fixture.articles.remove(FakeReadeck.id(0))
    #expect(try entry("/img/shared", fixture)?.owners.count == 1)
    try await fixture.articles.remove(FakeReadeck.id(1))
    #expect(try fixture.reader.usage().images == 0)
  }

  @Test func `the second article has the image if the first is removed`() async throws {
    try await fetchTogether(fixture) { try await fixture.articles.remove(FakeReadeck.id(0)) }
    #expect(try fixture.images(of: 1) == 6)
    #expect(try entry("/img/shared", fixture)?.size == 5)
  }

  @Test func `a missing image is recorded for both articles`() async throws {
    fixture.readeck.fill(2)
    for number in 0..<2 {
      fixture.readeck.change(FakeReadeck.id(number)) { $0.html = "<img src='/img/none'>" }
    }
    let gate = fixture.hold { $0.bare == "/img/none" }
    for number in 0..<2 { _ = try await fixture.reader.article(id: FakeReadeck.id(number)) }
    try await fixture.asked(for: "/img/none")
    gate.open()
    await fixture.reader.finish()
    #expect(try entry("/img/none", fixture)?.owners.count == 2)
  }

  @Test(arguments: [200, 404]) func `an article removed during its images does not stop a sync`(
    status: Int
  ) async throws {
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

  @Test(arguments: [5, 60_000_000]) func `a late image of an earlier version is not stored`(
    size: Int
  ) async throws {
    try await fixture.reader.change(OfflineSettings.test(imageMegabytes: 50))
    fixture.readeck.fill(1, images: 1)
    let (id, path) = (FakeReadeck.id(0), "/img/\(FakeReadeck.id(0))-0")
    fixture.readeck.set(.init(bytes: [UInt8](repeating: 1, count: size)), at: path)
    fixture.readeck.set(.init(), at: "/img/new")
    let gate = fixture.hold { $0.bare == path }
    _ = try await fixture.reader.article(id: id)
    try await fixture.asked(for: path)
    fixture.readeck.change(id) {
      ($0.html, $0.updated, $0.entityTag) = ("<img src='/img/new'>", "2026-01-01T00:00:00Z", "1")
    }
    _ = try await fixture.reader.article(try await fixture.reader.unread().bookmarks[0])
    try await waitUntil { try entry("/img/new", fixture) != nil }
    gate.open()
    await fixture.reader.finish()
    #expect(try entry(path, fixture) == nil)
    let article = try #require(try fixture.reader.stored().first)
    #expect(article.images == [fixture.address("/img/new")] && !article.lacksImages)
    #expect(article.bookmark.updated == "2026-01-01T00:00:00Z")
    #expect(try fixture.images(of: 0) == 1)
  }

  @Test func `an edited article without room for images is marked`() async throws {
    fixture.readeck.fill(1, images: 3)
    let id = FakeReadeck.id(0)
    for number in 0..<3 {
      fixture.readeck.set(
        .init(bytes: [UInt8](repeating: 1, count: 20_000_000)), at: "/img/\(id)-\(number)")
    }
    _ = try await fixture.sync()
    fixture.readeck.change(id) { ($0.updated, $0.entityTag) = ("2026-01-01T00:00:00Z", "1") }
    _ = try await fixture.reader.unread()
    fixture.wire.fail()
    try await fixture.reader.change(OfflineSettings.test(imageMegabytes: 50))
    let article = try #require(try fixture.reader.stored().first)
    #expect(article.lacksImages && article.isEdited)
    #expect(try fixture.reader.usage().images == 0)
    #expect(try await fixture.reader.article(id: id).isOutdated, "it is there all the same")
    fixture.wire.heal()
    try await fixture.reader.change(OfflineSettings.test(imageMegabytes: 100))
    _ = try await fixture.sync()
    #expect(try fixture.images(of: 0) == 3)
  }
}
