import Articles
import ExampleTesting
import Foundation
import Larder
import TestSupport
import Testing

/// Nothing of a user who has left is there or comes back, whatever was under way.
@Suite(.fixture(Fixture.self)) struct SigningOutTests {
  private let fixture = Fixture.current

  @Test func `everything of a user goes with the user, and the settings stay`() async throws {
    let settings = OfflineSettings.test(articles: 10, keepsImages: true, imageMegabytes: 1_200)
    try await fixture.reader.change(settings)
    fixture.readeck.fill(3, images: 1)
    _ = try await fixture.sync()
    try await fixture.reader.signOut()
    let usage = try fixture.reader.usage()
    #expect(usage.articles == 0 && usage.images == 0 && usage.lastSync == nil)
    #expect(try fixture.reader.settings() == settings)
    let left = try fixture.store.namespaces().filter { $0.entries > 0 }.map(\.name)
    #expect(left == ["articles.settings"])

    _ = try await fixture.sync()
    try await fixture.reader.change(OfflineSettings.test(isOn: false))
    #expect(try fixture.reader.usage().articles == 0 && fixture.reader.usage().images == 0)
  }

  @Test func `signing out ends a sync under way, which stores nothing afterwards`() async throws {
    fixture.readeck.fill(20)
    let gate = Gate()
    fixture.server.become { [server = fixture.server, readeck = fixture.readeck] request in
      if server.count == 4 { await gate.pass() }
      return readeck.answer(request)
    }
    let run = try fixture.reader.sync()
    try await waitUntil { fixture.server.count >= 4 }
    let leaving = Task { [reader = fixture.reader] in try await reader.signOut() }
    gate.open()
    try await leaving.value
    #expect(run.isFinished)
    #expect(try fixture.reader.usage().articles == 0)
  }

  @Test(arguments: [true, false]) func `an article that is being opened is not kept`(isEdited: Bool)
    async throws
  {
    fixture.readeck.fill(2, images: 1)
    let id = FakeReadeck.id(1)
    if isEdited {
      _ = try await fixture.sync()
      fixture.readeck.change(id) {
        $0.updated = "2026-01-01T00:00:00Z"
        $0.entityTag = "1"
      }
      fixture.server.forget()
    }
    let bookmark = try await fixture.reader.unread().bookmarks[0]
    let gate = fixture.hold { $0.bare == Fixture.body(1) }
    let opening = Task { try await fixture.reader.article(bookmark) }
    try await fixture.asked(for: Fixture.body(1))
    try await fixture.reader.signOut()
    #expect(try fixture.filled() == [])
    gate.open()
    await #expect(throws: ArticlesError.signedOut) { try await opening.value }
    await fixture.reader.finish()
    #expect(try fixture.filled() == [])
  }

  @Test func `images of an article that was opened are not kept`() async throws {
    fixture.readeck.fill(1, images: 6)
    let gate = fixture.hold { $0.bare.hasPrefix("/img") }
    _ = try await fixture.reader.article(id: FakeReadeck.id(0))
    try await waitUntil { fixture.server.count >= 6 }
    try await fixture.reader.signOut()
    gate.open()
    await fixture.reader.finish()
    #expect(try fixture.filled() == [])
  }

  @Test func `a list that is under way is not kept`() async throws {
    fixture.readeck.fill(2)
    let gate = Gate()
    fixture.server.become { [readeck = fixture.readeck] request in
      await gate.pass()
      var answer = readeck.answer(request)
      answer.fields["Cache-Control"] = "private, max-age=600"
      answer.fields["ETag"] = "\"1\""
      return answer
    }
    let listing = Task { try await fixture.reader.unread() }
    try await fixture.asked(for: "/api/bookmarks")
    try await fixture.reader.signOut()
    gate.open()
    await #expect(throws: ArticlesError.signedOut) { try await listing.value }
    #expect(try fixture.filled() == [])
    // It would have been.
    _ = try await fixture.reader.unread()
    #expect(try fixture.filled() == ["articles.http", "articles.user"])
  }

  /// What is asked for where the answer is stored by the cache.
  enum Asking: CaseIterable {
    case list, bookmark, noBookmark, sync

    /// What another process that asks for it comes to, which throws how a sync ended.
    func ask(_ reader: ArticleReader) async throws {
      switch self {
      case .list: _ = try await reader.unread()
      case .bookmark: _ = try await reader.article(id: FakeReadeck.id(1))
      case .noBookmark: _ = try await reader.article(id: FakeReadeck.id(7))
      case .sync:
        let result = try await reader.sync().result()
        if result.reason == "\(ArticlesError.signedOut)" { throw ArticlesError.signedOut }
      }
    }
  }

  @Test(arguments: Asking.allCases) func `what another process has asked for is not kept`(
    asking: Asking
  ) async throws {
    fixture.readeck.fill(2)
    let path =
      switch asking {
      case .list, .sync: "/api/bookmarks"
      case .bookmark: "/api/bookmarks/\(FakeReadeck.id(1))"
      case .noBookmark: "/api/bookmarks/\(FakeReadeck.id(7))"
      }
    let gate = Gate()
    fixture.server.become { [readeck = fixture.readeck] request in
      if request.bare == path { await gate.pass() }
      var answer = readeck.answer(request)
      answer.fields["Cache-Control"] = "private, max-age=600"
      return answer
    }
    let other = try fixture.another()
    let late = Task { try await asking.ask(other) }
    try await fixture.asked(for: path)
    try await fixture.reader.signOut()
    #expect(try fixture.filled() == [])
    gate.open()
    await #expect(throws: ArticlesError.signedOut) { try await late.value }
    #expect(try fixture.filled() == [])
  }

  @Test func `no sync begins while the user signs out`() async throws {
    fixture.readeck.fill(3)
    let (gate, waiting) = (Gate(), Gate())
    let reader = try Fixture.reader(in: fixture.store, at: fixture.server.base, over: fixture.wire)
    { _ in
      // A wait that nothing ends.
      waiting.open()
      await gate.pass()
    }
    fixture.readeck.set(429)
    let run = try reader.sync()
    await waiting.pass()
    let leaving = Task { try await reader.signOut() }
    await #expect(throws: ArticlesError.signedOut) {
      // Until then it is joined.
      _ = try await Patience.until { try reader.sync() !== run }
    }
    #expect(throws: ArticlesError.signedOut) { try reader.syncIfDue() }
    fixture.readeck.set(200)
    gate.open()
    try await leaving.value
    #expect(run.isFinished)
    #expect(try fixture.filled() == [])
    #expect(try await reader.sync().result().stored == 3, "the next user's")
    await reader.finish()
  }

  @Test func `a sync of another process ends, and keeps nothing more`() async throws {
    fixture.readeck.fill(10, images: 1)
    let gate = fixture.hold { $0.bare == Fixture.body(5) }
    let other = try fixture.another()
    let run = try other.sync()
    try await fixture.asked(for: Fixture.body(5))
    #expect(try fixture.reader.stored().count == 4)
    try await fixture.reader.signOut()
    #expect(try fixture.filled() == [])
    gate.open()
    let result = await run.result()
    #expect(result.isStopped && result.reason == "the user has signed out")
    #expect(fixture.asked().bodies.count == 5)
    await other.finish()
    #expect(try fixture.filled() == [])
    #expect(try await other.sync().result().stored == 10, "who signs in again begins anew")
  }
}
