import Catalog
import ExampleTesting
import Foundation
import Larder
import TestSupport
import Testing

/// Nothing of a user who has signed out is kept, whatever was under way.
@Suite(.fixture(Fixture.self)) struct SignOutTests {
  private let fixture = Fixture.current

  private func expectOver(_ catalog: Catalog, _ reader: CatalogReader) async throws {
    await #expect(throws: CatalogError.ended) { try await reader.more() }
    await #expect(throws: CatalogError.ended) { try await reader.refresh() }
    await #expect(throws: CatalogError.ended) { try await catalog.funnel("f-1") }
    await #expect(throws: CatalogError.ended) { try await catalog.refresh("f-1") }
    await #expect(throws: CatalogError.ended) { try await catalog.begin("f-1") }
    await #expect(throws: CatalogError.ended) { try await catalog.filtered(by: "plus") }
    _ = try catalog.saveMetrics()
  }

  @Test(arguments: [true, false]) func `a reader under way stores nothing after a sign-out`(
    isElsewhere: Bool
  ) async throws {
    fixture.fake.fill(150)
    let catalog = try await fixture.catalog().filtered(by: "basic")
    _ = try await catalog.funnel("f-1")
    try catalog.saveMetrics()
    let reader = try catalog.reader(limit: 20)
    try await reader.more()
    #expect(try fixture.count() == 6, "two answers, record, filter, counts, session")
    _ = fixture.asked()
    let gate = Gate()
    fixture.hold(gate)
    let reading = Task { try await reader.more() }
    try await waitUntil { fixture.server.count > 0 }
    try await (isElsewhere ? fixture.elsewhere() : fixture.catalog()).signOut()
    #expect(try fixture.count() == 0)
    gate.open()
    #expect(try await reading.value, "who waits for it gets it")
    #expect(try fixture.count() == 0)
    _ = fixture.asked()
    try await expectOver(catalog, reader)
    #expect(try fixture.count() == 0)
    #expect(fixture.asked().all == 0)
  }

  @Test func `a page fetched ahead is not stored after a sign-out`() async throws {
    fixture.fake.fill(100)
    let catalog = fixture.catalog()
    let reader = try catalog.reader()
    try await reader.more()
    _ = fixture.asked()
    let gate = Gate()
    fixture.hold(gate)
    await reader.shows(49)
    try await waitUntil { fixture.server.count > 0 }
    try await catalog.signOut()
    gate.open()
    await reader.settle()
    #expect(try fixture.count() == 0)
  }

  @Test func `an answer of 401 ends a reader under way as well`() async throws {
    fixture.fake.fill(150)
    let catalog = fixture.catalog()
    let reader = try catalog.reader()
    try await reader.more()
    try catalog.saveMetrics()
    _ = fixture.asked()
    let gate = Gate()
    fixture.server.become { [fake = fixture.fake] request in
      guard request.parameter("cursor") != nil else { return .init(401) }
      await gate.pass()
      return fake.answer(request)
    }
    let reading = Task { try await reader.more() }
    try await waitUntil { fixture.server.count > 0 }
    await #expect(throws: CatalogError.signedOut(status: 401, message: "no reason given")) {
      try await catalog.funnel("f-1")
    }
    gate.open()
    _ = try await reading.value
    try await expectOver(catalog, reader)
    #expect(try fixture.count() == 0)
  }

  @Test func `a catalog of an earlier session removes nothing of a later one`() async throws {
    fixture.fake.fill(60)
    let old = fixture.catalog()
    let reader = try old.reader()
    try await reader.more()
    let new = fixture.elsewhere()
    try await new.signIn()
    let all = try await new.all()
    try new.saveMetrics()
    let count = try fixture.count()
    try await expectOver(old, reader)
    #expect(try fixture.count() == count)
    _ = fixture.asked()
    #expect(try await new.all() == all)
    #expect(fixture.asked().all == 0)
  }

  @Test func `an unused catalog ends with a sign-out too`() async throws {
    fixture.fake.fill(10)
    let catalog = fixture.catalog()
    try await catalog.signOut()
    await #expect(throws: CatalogError.ended) { try await catalog.all() }
    #expect(try fixture.count() == 0)
    try await catalog.signIn()
    #expect(try await catalog.all().slugs == fixture.slugs())
    #expect(try await fixture.catalog().all().slugs == fixture.slugs())
    #expect(fixture.asked().all == 1)
  }
}
