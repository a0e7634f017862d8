import ExampleTesting
import Larder
import Testing

@testable import Articles

/// A user who signs in while something of the former one is still under way.
@Suite(.fixture(Fixture.self)) struct NextUserTests {
  private let fixture = Fixture.current

  /// Whether who asks for that article next waits for the request that is held back.
  private func joins(_ fixture: Fixture, _ number: Int) async throws -> Bool {
    try await !Patience.until(within: .milliseconds(100)) {
      fixture.server.received.count { $0.bare == Fixture.body(number) } > 1
    }
  }

  @Test(arguments: [true, false])
  func `after signing in again an article that was being opened is stored`(isSync: Bool)
    async throws
  {
    fixture.readeck.fill(1)
    let bookmark = try await fixture.reader.unread().bookmarks[0]
    let gate = fixture.hold { $0.bare == Fixture.body(0) }
    let former = Task { try await fixture.reader.article(bookmark) }
    try await fixture.asked(for: Fixture.body(0))
    try await fixture.reader.signOut()
    let next = Task {
      if isSync { return try await fixture.sync().stored == 1 }
      return try await fixture.reader.article(bookmark).isKept
    }
    #expect(try await joins(fixture, 0))
    gate.open()
    await #expect(throws: ArticlesError.signedOut) { try await former.value }
    #expect(try await next.value)
    #expect(try fixture.reader.stored().ids == [bookmark.id])
  }

  @Test func `a load of an ended session stores nothing`() async throws {
    fixture.readeck.fill(1)
    let (shelf, readeck) = (fixture.reader.shelf, fixture.reader.readeck)
    let former = ArticleFetch(readeck: readeck, shelf: shelf, user: try shelf.user())
    try await fixture.reader.signOut()
    let bookmark = try await fixture.reader.unread().bookmarks[0]
    let gate = fixture.hold { $0.bare == Fixture.body(0) }
    let next = Task { try await fixture.reader.article(bookmark) }
    try await fixture.asked(for: Fixture.body(0))
    let late = Task { try await former.html(of: bookmark) }
    #expect(try await joins(fixture, 0))
    gate.open()
    #expect(try await next.value.isKept)
    await #expect(throws: ArticlesError.signedOut) { try await late.value }
    #expect(try fixture.reader.stored().ids == [bookmark.id])
  }

  @Test func `a session begins with namespaces that can be cleared`() throws {
    let store = try Store.temporary(clock: ManualClock())
    _ = try ArticleShelf(in: store).user()
    let names = try store.namespaces().map(\.name)
    #expect(names.contains("articles") && names.contains("articles.images"))
    try store.finish()
  }
}
