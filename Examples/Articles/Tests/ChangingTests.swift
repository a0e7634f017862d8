import Articles
import ExampleTesting
import Foundation
import Larder
import Testing

/// Settings that change while something is under way.
@Suite(.fixture(Fixture.self)) struct ChangingTests {
  private let fixture = Fixture.current

  @Test func `a lower limit ends the sync, and another goes on with that`() async throws {
    try await fixture.reader.change(OfflineSettings.test(articles: 30))
    fixture.readeck.fill(30)
    let gate = fixture.hold { $0.bare == Fixture.body(14) }
    let run = try fixture.reader.sync()
    try await fixture.asked(for: Fixture.body(14))
    fixture.server.forget()
    try await fixture.reader.change(OfflineSettings.test(articles: 10))
    #expect(run.isFinished)
    gate.open()
    let result = await run.result()
    #expect(result.outcome == .partial && result.stored == 15 && result.reason == "it was ended")
    let next = try fixture.reader.sync()
    #expect(next !== run)
    #expect(await next.result().outcome == .nothingNew)
    #expect(try fixture.reader.stored().ids == (20..<30).reversed().map(FakeReadeck.id))
    #expect(fixture.server.received.map { $0.parameter("limit") }.contains("10"))
    #expect(fixture.asked().bodies.isEmpty)
  }

  @Test func `a higher limit is obeyed by the sync that goes on`() async throws {
    try await fixture.reader.change(OfflineSettings.test(articles: 10))
    fixture.readeck.fill(30, images: 1)
    let gate = fixture.hold { $0.bare == Fixture.body(25) }
    _ = try fixture.reader.sync()
    try await fixture.asked(for: Fixture.body(25))
    try await fixture.reader.change(OfflineSettings.test(articles: 20, keepsImages: false))
    gate.open()
    await fixture.reader.finish()
    let usage = try fixture.reader.usage()
    #expect(usage.articles == 20 && usage.images == 0)
  }

  @Test func `switching off ends the sync for good, and its mark does not return`() async throws {
    fixture.readeck.fill(20, images: 1)
    let gate = fixture.hold { $0.bare == Fixture.body(12) }
    let run = try fixture.reader.sync()
    try await fixture.asked(for: Fixture.body(12))
    try await fixture.reader.change(OfflineSettings.test(isOn: false))
    gate.open()
    #expect(await run.result().stored == 7)
    await fixture.reader.finish()
    let usage = try fixture.reader.usage()
    #expect(usage.articles == 0 && usage.images == 0 && usage.lastSync == nil)
    #expect(fixture.asked().bodies.count == 8)
    // Who switches it on again has never synced.
    try await fixture.reader.change(OfflineSettings.test())
    fixture.server.become { [readeck = fixture.readeck] in readeck.answer($0) }
    #expect(try await fixture.reader.syncIfDue()?.result().stored == 20)
  }

  @Test func `an article that is being opened obeys settings that changed meanwhile`() async throws
  {
    fixture.readeck.fill(1)
    let gate = fixture.hold { $0.bare == Fixture.body(0) }
    let opening = Task { try await fixture.reader.article(id: FakeReadeck.id(0)) }
    try await fixture.asked(for: Fixture.body(0))
    try await fixture.reader.change(OfflineSettings.test(articles: 0))
    gate.open()
    let article = try await opening.value
    #expect(!article.isKept && article.html.contains("<section>0"))
    #expect(try fixture.reader.usage().articles == 0)
  }

  @Test func `images of an opened article are fetched again after a new setting`() async throws {
    fixture.readeck.fill(1, images: 6)
    let gate = fixture.hold { $0.bare.hasPrefix("/img") }
    _ = try await fixture.reader.article(id: FakeReadeck.id(0))
    try await fixture.asked(for: "/img/\(FakeReadeck.id(0))-3")
    try await fixture.reader.change(OfflineSettings.test(articles: 30))
    gate.open()
    await fixture.reader.finish()
    #expect(try fixture.images(of: 0) == 6)
  }

  @Test func `images that arrive after they were switched off are not stored`() async throws {
    fixture.readeck.fill(1, images: 6)
    let gate = fixture.hold { $0.bare.hasPrefix("/img") }
    _ = try await fixture.reader.article(id: FakeReadeck.id(0))
    try await fixture.asked(for: "/img/\(FakeReadeck.id(0))-3")
    try await fixture.reader.change(OfflineSettings.test(keepsImages: false))
    gate.open()
    await fixture.reader.finish()
    let usage = try fixture.reader.usage()
    #expect(usage.articles == 1 && usage.images == 0)
  }
}
