import HTTPTypes
import Larder
import Testing

@testable import LarderHTTP

/// The counts of a cache, and the counts that caches save in their store.
struct StatisticsTests {
  @Test func `saved counts are the sum of all caches, and nothing counts twice`() async throws {
    let fixture = try Fixture(.page("max-age=10", [("ETag", "\"1\"")]))
    for _ in 0..<3 { _ = try await fixture.get() }
    #expect(try fixture.cache.savedStatistics() == HTTPStatistics())
    #expect(HTTPStatistics().hitRate == nil && fixture.cache.statistics.hitRate == 2 / 3)
    try await fixture.cache.saveStatistics()
    try await fixture.cache.saveStatistics()
    let other = HTTPCache(in: fixture.store.namespace("http"), over: fixture.origin)
    _ = try await other.send(request()).body.bytes()
    fixture.clock.advance(by: .seconds(11))
    _ = try await other.send(request()).body.bytes()
    try await other.saveStatistics()
    let saved = try fixture.cache.savedStatistics()
    #expect(saved.hits == [.fresh: 3] && saved.forwards == [.uriMiss: 1, .stale: 1])
    #expect(saved.reuses == [.validated: 1] && saved.bytesSaved == 4 * 4)
    #expect(fixture.cache.statistics.hits == [.fresh: 2])
    #expect(try fixture.store.namespace("http").count() == 1)
  }

  @Test func `counts that could not be saved are saved the next time`() async throws {
    let fixture = try Fixture(.page("max-age=10"))
    _ = try await fixture.get()
    try fixture.store.declare(Rules(limits: Limits(entries: 0)), for: HTTPCache.statisticsNamespace)
    await #expect(throws: LarderError.self) { try await fixture.cache.saveStatistics() }
    try fixture.store.declare(Rules(), for: HTTPCache.statisticsNamespace)
    try await fixture.cache.saveStatistics()
    #expect(try fixture.cache.savedStatistics().forwards == [.uriMiss: 1])
  }

  @Test(arguments: [
    "", "hit", "hit fresh", "hit fresh x", "hit fresh -1", "hit other 1", "\u{0} 1",
  ])
  func `lines that are no counts are left out`(line: String) {
    let text = Array("\(line)\nbytes-saved 7\n".utf8)
    var expected = HTTPStatistics()
    expected.bytesSaved = 7
    #expect(HTTPStatistics(text: text) == expected)
  }

  @Test func `the statistics count hits by kind, and what they save`() async throws {
    let fixture = try Fixture(.page("max-age=10", [("ETag", "\"1\"")]))
    for _ in 0..<3 { _ = try await fixture.get() }
    fixture.clock.advance(by: .seconds(10))
    _ = try await fixture.get()
    fixture.origin.become { _, _ in throw Origin.Down() }
    await #expect(throws: Origin.Down.self) { _ = try await fixture.get("/b") }
    let counts = fixture.cache.statistics
    #expect(counts.hits == [.fresh: 2] && counts.forwards == [.uriMiss: 1, .stale: 1])
    #expect(counts.reuses == [.validated: 1] && counts.failures == 1 && counts.bytesSaved == 12)
    #expect(counts.requests == 4)
  }
}
