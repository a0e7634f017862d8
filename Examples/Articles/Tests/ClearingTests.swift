import Articles
import ExampleTesting

/// Sign-outs and changes of settings during other calls.
@Suite(.fixture(Fixture.self)) struct ClearingTests {
  private let fixture = Fixture.current

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
