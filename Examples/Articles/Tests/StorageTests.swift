import ExampleTesting

@testable import Articles

/// The stored articles and images, and how settings and sign-outs change them, also during other calls.
@Suite(.fixture(Fixture.self)) struct StorageTests {
  private let fixture = Fixture.current
  private var reader: ArticleReader { fixture.reader }

  @Test func `the oldest leave for newer ones, and nothing else is fetched`() async throws {
    try await fixture.sync(new: 20, images: 1)
    _ = fixture.asked()
    #expect(try await fixture.sync(new: 5, images: 1, from: 20).stored == 5)
    let asked = fixture.asked()
    #expect(asked.lists == 1 && asked.bodies.count == 5 && asked.images.count == 5)
    #expect(try fixture.stored() == Array((5..<25).reversed()))
    #expect(try reader.usage().images == 20, "those of the oldest left with them")
    #expect(try await fixture.sync().outcome == .nothingNew)
  }

  @Test func `a lower limit lets the oldest go, and 0 keeps none`() async throws {
    try await fixture.sync(new: 20, images: 2)
    try await reader.change(.test(articles: 10))
    #expect(try fixture.stored() == Array((10..<20).reversed()) && reader.usage().images == 20)
    let rules = try fixture.articles.info()?.rules
    #expect(rules?.limits.entries == 10, "whoever writes obeys it")
    try await reader.change(.test(articles: 0))
    let usage = try reader.usage()
    #expect(usage.articles == 0 && usage.images == 0)
    _ = fixture.asked()
    #expect(try await fixture.sync().outcome == .nothingNew)
    #expect(fixture.server.count == 0)
    let article = try await fixture.open(3)
    #expect(!article.isKept && article.html.contains("3"))
    #expect(try fixture.stored().isEmpty)
  }

  @Test(arguments: [
    ("{}", OfflineSettings(isOn: true, articles: 20, keepsImages: false, imageMegabytes: 200)),
    (#"{"articles":40,"isOn":false}"#, OfflineSettings(isOn: false, articles: 40)),
    (
      #"{"articles":30,"keepsImages":false,"imageMegabytes":1200,"fonts":"later"}"#,
      OfflineSettings(articles: 30, imageMegabytes: 1_200)
    ),
    (#"{"articles":1000,"imageMegabytes":3}"#, OfflineSettings(articles: 100, imageMegabytes: 50)),
    (
      #"{"articles":-7,"imageMegabytes":5000}"#, OfflineSettings(articles: 0, imageMegabytes: 1_200)
    ),
    (#"{"articles":4}"#, OfflineSettings(articles: 0)),
    (#"{"articles":26}"#, OfflineSettings(articles: 30)),
  ]) func `settings of earlier versions load, and impossible numbers become possible`(
    json: String, expected: OfflineSettings
  ) throws {
    let settings = reader.settingsCache.namespace
    try settings.set(Array(json.utf8), for: "offline", EntryAttributes(codec: .json))
    #expect(try reader.settings() == expected)
  }

  @Test func `a sign-out removes everything of the user but the settings`() async throws {
    let settings = OfflineSettings.test(articles: 10, imageMegabytes: 1_200)
    try await reader.change(settings)
    try await fixture.sync(new: 3, images: 1)
    fixture.network.fail()
    _ = try await fixture.edit(0, .mark)
    try await reader.answers.set("a stored answer", for: "list")
    #expect(try reader.outbox.count() == 1)
    try await reader.signOut()
    let left = try fixture.store.namespaces().filter { $0.entries > 0 }.map(\.name)
    #expect(try left == [reader.settingsCache.name] && reader.settings() == settings)
  }

  @Test(arguments: [true, false])
  func `an article that is opened during a sign-out is not stored`(isElsewhere: Bool) async throws {
    fixture.readeck.fill(2, images: 1)
    fixture.during(FakeReadeck.body(1)) { [fixture] in
      try await (isElsewhere ? fixture.another() : fixture.reader).signOut()
    }
    let article = try await fixture.open(1)
    #expect(!article.isKept && article.html.contains("<section>1"))
    await reader.finish()
    #expect(try fixture.stored().isEmpty && reader.usage().images == 0)
  }

  @Test func `eight writers of 25 and their readers lose nothing`() async throws {
    fixture.readeck.fill(100)
    try await reader.change(OfflineSettings(articles: 100))
    let pages = fixture.readeck.pages
    // Each pair of the eight tasks opens the same 25 articles.
    try await inTasks(8) { [fixture] writer in
      let reader = fixture.another()
      for number in 0..<25 {
        let page = pages[(writer / 2) * 25 + number]
        let article = try await reader.article(page.id)
        #expect(article.html == page.html && article.isKept)
        #expect(try reader.hasCachedArticle(page.id))
        if number.isMultiple(of: 5) { _ = try reader.stored() }
      }
      await reader.finish()
    }
    #expect(try fixture.stored().count == 100)
    #expect(
      fixture.asked().bodies.count == 100, "those who open an article at once ask for it once")
  }
}
