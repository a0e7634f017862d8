import ExampleTesting

@testable import Articles

/// Articles that are too large, room that comes back, and articles that are opened without room.
@Suite(.fixture(Fixture.self)) struct RoomTests {
  private let fixture = Fixture.current

  enum Limit: CaseIterable { case entry, bytes, disk }

  private func declare(_ limit: Limit) throws {
    switch limit {
    case .entry:
      try fixture.store.override(
        Rules.Overrides(largestValue: 1_000_000), for: fixture.articles.name)
    case .bytes: try fixture.store.declare(StoreLimits(bytes: 1_000_000))
    case .disk: try fixture.store.declare(StoreLimits(disk: 4_000_000))
    }
  }

  private func grow(_ number: Int, to size: Int) {
    fixture.readeck.change(FakeReadeck.id(number)) {
      $0.html = String(repeating: "x", count: size)
      ($0.updated, $0.entityTag) = ("2026-01-01T00:00:00Z", "\(size)")
    }
  }

  @Test(arguments: Limit.allCases)
  func `an article that can never fit fails alone`(limit: Limit) async throws {
    try await fixture.reader.change(.test(articles: 10, keepsImages: false))
    try await fixture.sync(new: 10)
    try declare(limit)
    grow(6, to: 5_000_000)
    grow(3, to: 10)
    let grown = try await fixture.sync()
    #expect(grown.stored == 1 && grown.kept == 10 && grown.withoutRoom == 0, "\(grown)")
    #expect(grown.failures.count == 1 && grown.failures[0].hasPrefix("Article 6: a value of"))
    // Nor does the oldest leave for a new one like that.
    fixture.readeck.fill(1, from: 10)
    grow(10, to: 5_000_000)
    #expect(try await fixture.sync().failed == 2)
    // Neither is fetched again before a day has passed, whatever else the sync stores.
    grow(4, to: 2_000)
    let before = bodies
    let again = try await fixture.sync()
    #expect(again.failed == 2 && again.stored == 1 && bodies == before + 1, "\(again)")
    #expect(again.failures.allSatisfy { $0.contains(": a value of") }, "\(again.failures)")
    fixture.clock.advance(by: .days(1))
    #expect(try await fixture.sync().failed == 2 && bodies == before + 3)
    #expect(try fixture.reader.stored().ids == (0..<10).reversed().map(FakeReadeck.id))
    // In a new store those after it are stored.
    try await fixture.reader.signOut()
    let first = try await fixture.sync()
    #expect(first.stored == 8 && first.failed == 2 && !first.isStopped, "\(first)")
  }

  /// The requests for articles so far.
  private var bodies: Int {
    fixture.server.received.count { $0.bare.hasSuffix("/article") }
  }

  /// Bytes in the store that no article displaces.
  private func occupy(_ size: Int) async throws -> Store.Namespace {
    try fixture.store.declare(Rules(eviction: .refuse), for: "others")
    let others = fixture.store.namespace("others")
    try await others.set([UInt8](repeating: 1, count: size), for: "x")
    return others
  }

  @Test func `an article larger than all older ones displaces none of them`() async throws {
    try await fixture.sync(new: 5)
    _ = try await occupy(60_000)
    try fixture.store.declare(StoreLimits(bytes: 100_000))
    fixture.readeck.fill(1, from: 5)
    grow(5, to: 60_000)
    grow(1, to: 10)
    let result = try await fixture.sync()
    #expect(result.failed == 1 && result.stored == 1 && result.kept == 5, "\(result)")
    #expect(try fixture.reader.stored().count == 5)
  }

  @Test func `room that comes back is used`() async throws {
    let others = try await occupy(60_000)
    try fixture.store.declare(StoreLimits(bytes: 100_000))
    fixture.readeck.fill(20)
    for number in 0..<20 { grow(number, to: 4_000) }
    let first = try await fixture.sync()
    #expect(first.kept < 12 && first.withoutRoom == 20 - first.kept, "\(first)")
    _ = fixture.asked()
    #expect(try await fixture.sync().withoutRoom == first.withoutRoom)
    #expect(fixture.asked().bodies.isEmpty)
    try await others.remove("x")
    #expect(try await fixture.sync().kept == 20)
  }

  @Test func `an article that is opened displaces no newer one`() async throws {
    try await fixture.reader.change(.test(articles: 10, keepsImages: false))
    try await fixture.sync(new: 12)
    let newest = (2..<12).reversed().map(FakeReadeck.id)
    let old = try await fixture.reader.article(id: FakeReadeck.id(0))
    #expect(!old.isKept && old.html.contains("<section>0"))
    #expect(try fixture.reader.stored().ids == newest)
    fixture.readeck.fill(1, from: 12)
    #expect(try await fixture.reader.article(id: FakeReadeck.id(12)).isKept)
    #expect(try fixture.reader.stored().ids == [FakeReadeck.id(12)] + newest.dropLast())
  }
}
