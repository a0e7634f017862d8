import Catalog
import ExampleTesting
import Foundation
import Larder
import LarderHTTP
import TestSupport
import Testing

/// What ends what is kept, and of whom; and what the cache is worth.
@Suite(.fixture(Fixture.self)) struct EndingTests {
  private let fixture = Fixture.current

  private func fill(_ fixture: Fixture, _ user: String) async throws -> Catalog {
    let catalog = fixture.catalog(user: user)
    _ = try await catalog.all()
    _ = try await catalog.funnel("f-1")
    _ = try await catalog.definition(of: "f-1")
    return catalog
  }

  @Test func `signing out and in remove the data of this user alone`() async throws {
    fixture.fake.fill(120)
    let one = try await fill(fixture, "one")
    _ = try await fill(fixture, "two")
    #expect(fixture.asked().all == 10, "what is kept of one user is not given to another")
    try await one.signOut()
    _ = try await fill(fixture, "two")
    #expect(fixture.asked().all == 0)
    _ = try await fill(fixture, "one")
    #expect(fixture.asked() == (5, 0))
    try await one.signIn()
    _ = try await fill(fixture, "one")
    #expect(fixture.asked() == (5, 0))
  }

  @Test(arguments: [401, 403]) func `an answer of 401 or 403 removes the data of the user`(
    status: Int
  ) async throws {
    fixture.fake.fill(120)
    let one = try await fill(fixture, "one")
    _ = try await fill(fixture, "two")
    fixture.fake.change { $0.refusal = status }
    await #expect(throws: CatalogError.signedOut(status: status, message: "Not for you.")) {
      try await one.status(of: "a1", in: "f-1")
    }
    fixture.fake.change { $0.refusal = nil }
    _ = fixture.asked()
    _ = try await fill(fixture, "two")
    #expect(fixture.asked().all == 0)
    _ = try await fill(fixture, "one")
    #expect(fixture.asked() == (5, 0))
  }

  @Test func `an answer that arrives after a sign-out is not stored`() async throws {
    fixture.fake.fill(10)
    let gate = Gate()
    fixture.hold(gate)
    let catalog = fixture.catalog()
    let reading = Task { try await catalog.funnel("f-1") }
    try await waitUntil { fixture.server.count > 0 }
    try await catalog.signOut()
    gate.open()
    _ = try await reading.value
    #expect(try fixture.store.namespace("catalog.http").count() == 0)
  }

  @Test func `another filter removes the answers of the former one`() async throws {
    fixture.fake.fill(120)
    let all = fixture.catalog()
    _ = try await all.all()
    let plus = try await all.filtered(by: "plus")
    #expect(try await plus.all().slugs == fixture.slugs(tier: "plus"))
    #expect(fixture.asked().all == 4)
    _ = try await all.filtered(by: "plus").all()
    #expect(fixture.asked().all == 0, "the same filter ends nothing")
    _ = try await plus.filtered(by: nil).all()
    #expect(fixture.asked() == (3, 0))
  }

  @Test func `a refresh of a funnel removes one answer`() async throws {
    fixture.fake.fill(120)
    let catalog = try await fill(fixture, "one")
    let reader = try catalog.reader()
    while try await reader.more() {}
    _ = fixture.asked()
    try await reader.refresh()
    #expect(fixture.asked() == (3, 3), "every page")
    #expect(await reader.contents.slugs == fixture.slugs())
    try await catalog.refresh("f-1")
    _ = try await fill(fixture, "one")
    #expect(fixture.asked() == (1, 0))
  }

  @Test func `each answer is fresh as long as it says`() async throws {
    fixture.fake.fill(1)
    let catalog = fixture.catalog()
    func count(_ read: () async throws -> [UInt8]) async throws -> Int {
      _ = try await read()
      return fixture.asked().all
    }
    #expect(try await count { try await catalog.funnel("f-0") } == 1)
    #expect(try await count { try await catalog.definition(of: "f-0") } == 1)
    fixture.clock.advance(by: .seconds(299))
    #expect(try await count { try await catalog.funnel("f-0") } == 0)
    fixture.clock.advance(by: .seconds(1))
    #expect(try await count { try await catalog.funnel("f-0") } == 1)
    fixture.clock.advance(by: .seconds(299))
    #expect(try await count { try await catalog.definition(of: "f-0") } == 0)
    fixture.clock.advance(by: .seconds(1))
    #expect(try await count { try await catalog.definition(of: "f-0") } == 1)
    let (first, second) = (
      try await catalog.status(of: "a", in: "f-0"), try await catalog.status(of: "a", in: "f-0")
    )
    #expect(first != second && fixture.asked().all == 2, "never kept")
    for _ in 0..<2 { _ = try await catalog.begin("f-0") }
    #expect(fixture.asked().all == 2)
    #expect(try fixture.store.namespace("catalog.http").count() == 2)
  }

  @Test func `an expired catalog is an error without the service`() async throws {
    fixture.fake.fill(10)
    let catalog = fixture.catalog()
    let all = try await catalog.all()
    let lost = Catalog(
      at: fixture.server.base + "/api", user: "one", token: "one",
      over: HTTPCache(in: fixture.cache.namespace, over: FailingTransport.offline))
    #expect(try await lost.all() == all, "as long as it is fresh")
    fixture.clock.advance(by: .minutes(5))
    await #expect(throws: (any Error).self) { try await lost.all() }
  }

  @Test func `a day of reading: 80 % hits, 90 % of bytes saved`() async throws {
    fixture.fake.fill(250)
    let catalog = fixture.catalog()
    #expect(catalog.metrics.hitRate == nil && catalog.metrics.savedShare == nil, "not NaN")
    // Twelve times a day for some minutes: the list, some funnels, and the list again on the way back.
    for visit in 0..<12 {
      for minute in 0..<8 {
        _ = try await catalog.all()
        for number in [visit, visit + 1] {
          for _ in 0..<2 {
            _ = try await catalog.funnel("f-\(number)")
            _ = try await catalog.definition(of: "f-\(number)")
          }
        }
        fixture.clock.advance(by: .seconds(minute == 7 ? 7_200 : 45))
      }
    }
    let metrics = catalog.metrics
    print("catalog:", metrics, metrics.hitRate ?? 0, metrics.savedShare ?? 0)
    #expect(try #require(metrics.hitRate) > 0.8)
    #expect(try #require(metrics.savedShare) > 0.9)
    #expect(metrics.slowestHit > 0)
    #expect(metrics.reads == 12 * 8 * 13)
    #expect(fixture.server.count == metrics.misses + metrics.confirmed)
    #expect(try catalog.saveMetrics() == metrics && catalog.metrics == CatalogMetrics())
    _ = try await catalog.funnel("f-1")
    #expect(try catalog.saveMetrics().reads == metrics.reads + 1)
  }
}
