import Articles
import ExampleTesting
import Foundation
import Larder
import Testing

/// What is kept, what leaves when, and what the settings do.
@Suite(.fixture(Fixture.self)) struct ShelfTests {
  private let fixture = Fixture.current

  @Test func `the oldest leave for newer ones, and nothing else is fetched`() async throws {
    fixture.readeck.fill(20, images: 1)
    _ = try await fixture.sync()
    _ = fixture.asked()
    fixture.readeck.fill(5, images: 1, from: 20)
    #expect(try await fixture.sync().stored == 5)
    let asked = fixture.asked()
    #expect(asked.lists == 1 && asked.bodies.count == 5 && asked.images.count == 5)
    #expect(try fixture.reader.stored().ids == (5..<25).reversed().map(FakeReadeck.id))
    #expect(try fixture.reader.usage().images == 20, "those of the oldest left with them")
    #expect(try await fixture.sync().outcome == .nothingNew)
  }

  @Test func `an edited article does not become one that stays for that`() async throws {
    try await fixture.reader.change(OfflineSettings.test(articles: 10))
    fixture.readeck.fill(10)
    _ = try await fixture.sync()
    // The oldest is written last, and then read to its end: it is not listed any more.
    fixture.readeck.change(FakeReadeck.id(0)) {
      $0.updated = "2026-01-01T00:00:00Z"
      $0.entityTag = "ff"
    }
    #expect(try await fixture.sync().stored == 1)
    fixture.readeck.pages.removeAll { $0.id == FakeReadeck.id(0) }
    fixture.readeck.fill(1, from: 10)
    #expect(try await fixture.sync().stored == 1)
    #expect(try await fixture.sync().outcome == .nothingNew)
    #expect(try fixture.reader.stored().ids == (1..<11).reversed().map(FakeReadeck.id))
  }

  @Test func `a lower limit lets the oldest go, and 0 keeps none`() async throws {
    fixture.readeck.fill(20, images: 2)
    _ = try await fixture.sync()
    try await fixture.reader.change(OfflineSettings.test(articles: 10))
    #expect(try fixture.reader.stored().ids == (10..<20).reversed().map(FakeReadeck.id))
    #expect(try fixture.reader.usage().images == 20)
    #expect(
      try fixture.store.namespaces().first { $0.name == fixture.articles.name }?.rules.limits
        .entries == 10, "whoever writes obeys it")
    try await fixture.reader.change(OfflineSettings.test(articles: 0))
    let usage = try fixture.reader.usage()
    #expect(usage.articles == 0 && usage.images == 0)
    _ = fixture.asked()
    #expect(try await fixture.sync().outcome == .nothingNew)
    #expect(fixture.server.count == 0)
    let article = try await fixture.reader.article(id: FakeReadeck.id(3))
    #expect(!article.isKept && article.html.contains("3"))
    #expect(try fixture.reader.stored().isEmpty)
  }

  @Test func `an image of two articles is fetched once, and removed with the last`() async throws {
    try await fixture.reader.change(OfflineSettings.test(articles: 10))
    fixture.readeck.fill(10)
    for number in 0..<2 {
      fixture.readeck.change(FakeReadeck.id(number)) { $0.html = "<img src='/img/shared'>" }
    }
    fixture.readeck.set(FakeReadeck.Image(), at: "/img/shared")
    _ = try await fixture.sync()
    #expect(fixture.asked().images == ["/img/shared"])
    let images = fixture.images
    let address = fixture.address("/img/shared")
    #expect(try images.entry(for: address)?.owners.count == 2)
    fixture.readeck.fill(1, from: 10)
    _ = try await fixture.sync()
    #expect(try images.entry(for: address)?.owners.map(\.key.description) == [FakeReadeck.id(1)])
    fixture.readeck.fill(1, from: 11)
    _ = try await fixture.sync()
    #expect(try images.count() == 0)
  }

  @Test func `an article whose images do not fit is stored without them`() async throws {
    try await fixture.reader.change(OfflineSettings.test(imageMegabytes: 50))
    fixture.readeck.fill(3, images: 3)
    let large = [UInt8](repeating: 7, count: 17_000_000)
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
    #expect(try await fixture.reader.article(id: stored[0].bookmark.id).html.contains("<img"))
    _ = fixture.asked()
    #expect(try await fixture.sync().outcome == .nothingNew)
    #expect(fixture.server.count == 1, "nor are they fetched again and again")

    try await fixture.reader.change(OfflineSettings.test(imageMegabytes: 60))
    _ = try await fixture.sync()
    #expect(try fixture.reader.stored().map(\.lacksImages) == [false, true, false])
    #expect(try fixture.reader.usage().imageBytes == 3 * large.count + 15)

    // The images of the oldest go first, as articles do.
    try await fixture.reader.change(OfflineSettings.test(imageMegabytes: 50))
    #expect(try fixture.reader.stored().map(\.lacksImages) == [true, true, true])
    let usage = try fixture.reader.usage()
    #expect(usage.imageBytes == 0 && usage.articles == 3)
  }

  @Test func `images can be switched off and on`() async throws {
    try await fixture.reader.change(OfflineSettings.test(keepsImages: false))
    fixture.readeck.fill(2, images: 2)
    _ = try await fixture.sync()
    #expect(fixture.asked().images.isEmpty)
    try await fixture.reader.change(OfflineSettings.test())
    #expect(try await fixture.sync().images == 4)
    try await fixture.reader.change(OfflineSettings.test(keepsImages: false))
    let usage = try fixture.reader.usage()
    #expect(usage.articles == 2 && usage.images == 0)
  }

  @Test func `failed images are requested again later`() async throws {
    fixture.readeck.fill(2, images: 2)
    let (gone, later) = ("/img/\(FakeReadeck.id(0))-0", "/img/\(FakeReadeck.id(1))-1")
    let page = "/img/\(FakeReadeck.id(1))-0"
    fixture.readeck.set(.init(status: 404), at: gone)
    fixture.readeck.set(.init(status: 503), at: later)
    // A login page of the network is no image.
    fixture.readeck.set(.init(bytes: Array("<html>".utf8), type: "text/html"), at: page)
    let result = try await fixture.sync()
    #expect(result.outcome == .done && result.images == 1)
    let asked = fixture.asked().images
    #expect(asked.filter { $0 == later }.count == 3)
    #expect(asked.filter { $0 == gone }.count == 1)
    for path in [gone, later, page] { fixture.readeck.set(.init(), at: path) }
    #expect(try await fixture.sync().images == 2)
    #expect(Set(fixture.asked().images) == [later, page])
    fixture.clock.advance(by: .days(1))
    #expect(try await fixture.sync().images == 1)
    #expect(fixture.asked().images == [gone])
  }

  @Test func `an image of an unreachable host is fetched by a later sync`() async throws {
    fixture.readeck.fill(1, images: 1)
    fixture.wire.fail(after: 2, with: .notConnectedToInternet)
    let first = try await fixture.sync()
    #expect(first.outcome == .done && first.images == 0)
    fixture.wire.heal()
    #expect(try await fixture.sync().images == 1)
  }

  @Test func `settings have bounds, and those of earlier versions load`() throws {
    func loaded(_ json: String) throws -> OfflineSettings {
      let store = try Store.temporary(clock: ManualClock())
      let settings = store.namespace("articles.settings")
      try settings.set(Array(json.utf8), for: "offline", codec: .json)
      let reader = try Fixture.reader(in: store, at: "http://127.0.0.1:1", over: Wire())
      return try reader.settings()
    }
    #expect(try loaded("{}") == OfflineSettings())
    #expect(
      try loaded(#"{"articles":40,"isOn":false}"#) == OfflineSettings(isOn: false, articles: 40))
    #expect(
      try loaded(#"{"articles":30,"keepsImages":false,"imageMegabytes":1200,"fonts":"later"}"#)
        == OfflineSettings(articles: 30, keepsImages: false, imageMegabytes: 1_200))
    let wild = try loaded(#"{"articles":1000,"imageMegabytes":3}"#)
    #expect(wild.articles == 100 && wild.imageMegabytes == 50)
    var settings = OfflineSettings(articles: -7, imageMegabytes: 5_000)
    #expect(settings.articles == 0 && settings.imageMegabytes == 1_200)
    settings.articles = 26
    #expect(settings.articles == 30)
    #expect(OfflineSettings.articleChoices == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100])
  }

  @Test func `eight writers of 25 and their readers lose nothing`() async throws {
    fixture.readeck.fill(100)
    try await fixture.reader.change(OfflineSettings(articles: 100))
    let pages = fixture.readeck.pages
    // Each article is asked for by two.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask {
          for number in 0..<25 {
            let page = pages[(writer / 2) * 25 + number]
            let article = try await fixture.reader.article(id: page.id)
            #expect(article.html == page.html && article.isKept)
            #expect(try fixture.reader.hasCachedArticle(page.id))
            if number.isMultiple(of: 5) { _ = try fixture.reader.stored() }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try fixture.reader.stored().count == 100)
  }

  @Test func `users with different tokens see nothing of each other`() async throws {
    fixture.readeck.fill(3, images: 1)
    _ = try await fixture.sync()
    let other = try Fixture.reader(
      in: fixture.store, at: fixture.server.base, over: fixture.wire, token: "another")
    #expect(try other.stored().isEmpty && other.usage().articles == 0)
    #expect(try !other.hasCachedArticle(FakeReadeck.id(0)))
    fixture.wire.fail()
    await #expect(throws: ArticlesError.nothingStored) { try await other.unread() }
    try await other.signOut()
    #expect(try fixture.reader.stored().count == 3)
    let names = try fixture.store.namespaces().map(\.name).joined()
    #expect(!names.contains(FakeReadeck.token))
  }
}
