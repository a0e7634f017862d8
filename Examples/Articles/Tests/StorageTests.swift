import ExampleTesting

@testable import Articles

/// The stored articles and images, and the effect of the settings.
@Suite(.fixture(Fixture.self)) struct StorageTests {
  private let fixture = Fixture.current

  @Test func `the oldest leave for newer ones, and nothing else is fetched`() async throws {
    try await fixture.sync(new: 20, images: 1)
    _ = fixture.asked()
    fixture.readeck.fill(5, images: 1, from: 20)
    #expect(try await fixture.sync().stored == 5)
    let asked = fixture.asked()
    #expect(asked.lists == 1 && asked.bodies.count == 5 && asked.images.count == 5)
    #expect(try fixture.reader.stored().ids == (5..<25).reversed().map(FakeReadeck.id))
    #expect(try fixture.reader.usage().images == 20, "those of the oldest left with them")
    #expect(try await fixture.sync().outcome == .nothingNew)
  }

  @Test func `a lower limit lets the oldest go, and 0 keeps none`() async throws {
    try await fixture.sync(new: 20, images: 2)
    try await fixture.reader.change(.test(articles: 10))
    #expect(try fixture.reader.stored().ids == (10..<20).reversed().map(FakeReadeck.id))
    #expect(try fixture.reader.usage().images == 20)
    #expect(
      try fixture.store.namespaces().first { $0.name == fixture.articles.name }?.rules.limits
        .entries == 10, "whoever writes obeys it")
    try await fixture.reader.change(.test(articles: 0))
    let usage = try fixture.reader.usage()
    #expect(usage.articles == 0 && usage.images == 0)
    _ = fixture.asked()
    #expect(try await fixture.sync().outcome == .nothingNew)
    #expect(fixture.server.count == 0)
    let article = try await fixture.reader.article(FakeReadeck.id(3))
    #expect(!article.isKept && article.html.contains("3"))
    #expect(try fixture.reader.stored().isEmpty)
  }

  @Test func `settings have bounds, and those of earlier versions load`() throws {
    func loaded(_ json: String) throws -> OfflineSettings {
      let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
      let reader = Fixture.reader(
        in: store, at: "http://127.0.0.1:1", over: FailingTransport.offline)
      let settings = reader.storage.realm.namespace("articles.settings")
      try settings.set(Array(json.utf8), for: "offline", EntryAttributes(codec: .json))
      return try reader.settings()
    }
    #expect(try loaded("{}") == OfflineSettings())
    #expect(OfflineSettings().isOn && !OfflineSettings().keepsImages, "images are off by default")
    #expect(
      try loaded(#"{"articles":40,"isOn":false}"#) == OfflineSettings(isOn: false, articles: 40))
    #expect(
      try loaded(#"{"articles":30,"keepsImages":false,"imageMegabytes":1200,"fonts":"later"}"#)
        == OfflineSettings(articles: 30, keepsImages: false, imageMegabytes: 1_200))
    let wild = try loaded(#"{"articles":1000,"imageMegabytes":3}"#)
    #expect(wild.articles == 100 && wild.imageMegabytes == 50)
    let bounded = OfflineSettings(articles: -7, imageMegabytes: 5_000)
    #expect(bounded.articles == 0 && bounded.imageMegabytes == 1_200)
    let numbers = [0, 4, 26, 101].map { OfflineSettings(articles: $0).articles }
    #expect(numbers == [0, 0, 30, 100])
  }

  @Test func `eight writers of 25 and their readers lose nothing`() async throws {
    fixture.readeck.fill(100)
    try await fixture.reader.change(OfflineSettings(articles: 100))
    let pages = fixture.readeck.pages
    // Two tasks ask for each article.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask {
          for number in 0..<25 {
            let page = pages[(writer / 2) * 25 + number]
            let article = try await fixture.reader.article(page.id)
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
}
