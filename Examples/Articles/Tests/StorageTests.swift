import ExampleTesting

@testable import Articles

/// The stored articles and images, and the effects of settings and sign-outs, also during other calls.
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

  @Test func `users with different tokens see nothing of each other`() async throws {
    try await fixture.sync(new: 3, images: 1)
    let other = fixture.another(token: "another")
    #expect(try other.stored().isEmpty && other.usage().articles == 0)
    #expect(try !other.hasCachedArticle(FakeReadeck.id(0)))
    #expect(try other.settings() == OfflineSettings() && fixture.reader.settings() == .test())
    try await other.change(.test(isOn: false))
    #expect(try fixture.reader.stored().count == 3 && fixture.reader.settings() == .test())
    try await other.signOut()
    #expect(try fixture.reader.stored().count == 3)
    let names = try fixture.store.namespaces().map(\.name).joined()
    #expect(!names.contains(FakeReadeck.token))
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

  private func entries() throws -> Int {
    try fixture.store.namespaces().filter { !$0.name.hasPrefix("articles.settings") }
      .reduce(0) { $0 + $1.entries }
  }

  @Test func `a sign-out removes everything of the user but the settings`() async throws {
    let settings = OfflineSettings.test(articles: 10, imageMegabytes: 1_200)
    try await fixture.reader.change(settings)
    try await fixture.sync(new: 3, images: 1)
    fixture.network.fail()
    _ = try await fixture.reader.edit(FakeReadeck.id(0), .mark)
    try await fixture.reader.signOut()
    #expect(try entries() == 0 && fixture.reader.usage().lastSync == nil)
    #expect(try fixture.reader.pendingEdits().isEmpty)
    #expect(try fixture.reader.settings() == settings)
  }

  @Test(arguments: [true, false])
  func `a sign-out ends a sync, also of another process`(isElsewhere: Bool) async throws {
    fixture.readeck.fill(10, images: 1)
    let gate = fixture.hold { $0.bare == Fixture.body(5) }
    let reader = isElsewhere ? fixture.another() : fixture.reader
    let run = try reader.sync()
    try await fixture.asked(for: Fixture.body(5))
    #expect(try fixture.reader.stored().count == 4)
    async let leaving: Void = fixture.reader.signOut()
    try await waitUntil { try entries() == 0 }
    gate.open()
    try await leaving
    #expect(await run.result().isStopped)
    #expect(fixture.asked().bodies.count == 5)
    await reader.finish()
    #expect(try entries() == 0)
    #expect(try await reader.sync().result().stored == 10, "the next session's")
  }

  enum Ending: CaseIterable { case signOut, off, noArticles }

  /// Signs out or changes the settings, so that answers that are held back are not stored.
  private func end(_ ending: Ending) async throws {
    switch ending {
    case .signOut: try await fixture.another().signOut()
    case .off: try await fixture.reader.change(.test(isOn: false))
    case .noArticles: try await fixture.reader.change(.test(articles: 0))
    }
  }

  @Test(arguments: Ending.allCases)
  func `an article that is being opened is not stored any more`(ending: Ending) async throws {
    fixture.readeck.fill(2, images: 1)
    let gate = fixture.hold { $0.bare == Fixture.body(1) }
    let opening = Task { try await fixture.reader.article(FakeReadeck.id(1)) }
    try await fixture.asked(for: Fixture.body(1))
    try await end(ending)
    gate.open()
    let article = try await opening.value
    #expect(!article.isKept && article.html.contains("<section>1"))
    await fixture.reader.finish()
    #expect(try fixture.reader.usage().articles == 0 && fixture.reader.usage().images == 0)
  }

  @Test func `a sync under way obeys a lower limit`() async throws {
    try await fixture.reader.change(.test(articles: 30))
    fixture.readeck.fill(30)
    let gate = fixture.hold { $0.bare == Fixture.body(14) }
    let run = try fixture.reader.sync()
    try await fixture.asked(for: Fixture.body(14))
    try await fixture.reader.change(.test(articles: 10))
    gate.open()
    #expect(await run.result().kept == 10)
    #expect(try fixture.reader.stored().ids == (20..<30).reversed().map(FakeReadeck.id))
    #expect(fixture.asked().bodies.count == 16)
    #expect(try await fixture.sync().outcome == .nothingNew)
  }
}
