import ExampleTesting
import Foundation
import Larder
import TestSupport
import Testing

@testable import Catalog

/// A user's session where others begin and end it, and where there is no room for it.
@Suite(.fixture(Fixture.self)) struct SessionTests {
  private let fixture = Fixture.current

  @Test func `in a full store everything is read and nothing stored`() async throws {
    fixture.fake.fill(120)
    try fixture.store.fill()
    let catalog = fixture.catalog()
    for _ in 0..<2 {
      #expect(try await catalog.all().slugs == fixture.slugs())
      _ = try await catalog.funnel("f-1")
      #expect(fixture.asked().all == 4)
    }
    #expect(try catalog.saveMetrics().reads == 8)
    // There is room again, and nothing that could end what it kept.
    try fixture.store.declare(StoreLimits(entries: 100))
    _ = try await catalog.funnel("f-1")
    #expect(try fixture.count() == 1)
    try await catalog.signOut()
    await #expect(throws: CatalogError.ended) { try await catalog.funnel("f-1") }
  }

  @Test(arguments: [401, 403]) func `a session for which there was no room is over too`(status: Int)
    async throws
  {
    fixture.fake.fill(10)
    try fixture.store.fill()
    let (refused, other) = (fixture.catalog(), fixture.elsewhere())
    _ = try await other.funnel("f-1")
    fixture.fake.change { $0.refusal = status }
    await #expect(throws: CatalogError.signedOut(status: status, message: "Not for you.")) {
      try await refused.funnel("f-1")
    }
    fixture.fake.change { $0.refusal = nil }
    await #expect(throws: CatalogError.ended) { try await refused.funnel("f-1") }
    // Another one begins, for which there is room.
    try fixture.store.declare(StoreLimits(entries: 100))
    try await fixture.catalog().signIn()
    await #expect(throws: CatalogError.ended) { try await other.funnel("f-1") }
  }

  @Test func `pages are read in a store that has become full`() async throws {
    fixture.fake.fill(120)
    let catalog = fixture.catalog()
    _ = try await catalog.funnel("f-1")
    try fixture.store.fill()
    #expect(try await catalog.all().slugs == fixture.slugs())
    #expect(try catalog.saveMetrics().reads == 4 && catalog.metrics.reads == 4, "to be saved later")
    try fixture.store.declare(StoreLimits(entries: 100))
    #expect(try catalog.saveMetrics().reads == 4 && catalog.metrics.reads == 0)
  }

  @Test func `a session ends no later one`() throws {
    let store = try Store.temporary()
    let old = Session(of: "one", in: store)
    let first = try old.check()
    let new = Session(of: "one", in: store)
    try new.begin()
    #expect(try !old.end(first) { _ in Issue.record("it is another one's") })
    let second = try new.check()
    try old.begin()
    #expect(try !old.end(first) { _ in Issue.record("it has begun since") })
    try old.check()
    #expect(try !new.end(second) { _ in Issue.record("it is over") })
    #expect(try old.end(old.check()) { _ in })
    #expect(throws: CatalogError.ended) { try old.check() }
    #expect(throws: CatalogError.ended) { try new.check() }
    try store.finish()
  }

  @Test(arguments: [true, false]) func `a late 401 leaves a later session alone`(isElsewhere: Bool)
    async throws
  {
    fixture.fake.fill(10)
    let old = fixture.catalog()
    let gate = Gate()
    fixture.server.become { _ in
      await gate.pass()
      return .init(401)
    }
    let reading = Task { try await old.funnel("f-1") }
    try await waitUntil { fixture.server.count > 0 }
    fixture.server.become { [fake = fixture.fake] in fake.answer($0) }
    let new = isElsewhere ? fixture.elsewhere() : old
    try await new.signIn()
    _ = try await new.filtered(by: "plus")
    gate.open()
    await #expect(throws: CatalogError.signedOut(status: 401, message: "no reason given")) {
      try await reading.value
    }
    #expect(try await new.funnel("f-1").isEmpty == false)
    #expect(try fixture.store.namespace("catalog.filters").count() == 1)
  }
}
