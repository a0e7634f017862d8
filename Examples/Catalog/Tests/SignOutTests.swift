import Catalog
import ExampleTesting
import Foundation
import Larder
import Testing

/// Nothing of a user who has signed out is kept, whatever was under way.
@Suite struct SignOutTests {
  private func expectOver(_ catalog: Catalog, _ reader: CatalogReader) async throws {
    await #expect(throws: CatalogError.ended) { try await reader.more() }
    await #expect(throws: CatalogError.ended) { try await reader.refresh() }
    await #expect(throws: CatalogError.ended) { try await catalog.funnel("f-1") }
    await #expect(throws: CatalogError.ended) { try await catalog.refresh("f-1") }
    await #expect(throws: CatalogError.ended) { try await catalog.begin("f-1") }
    await #expect(throws: CatalogError.ended) { try await catalog.filtered(by: "plus") }
    _ = try catalog.saveMetrics()
  }

  @Test(arguments: [true, false])
  func `a reader under way when its user signs out brings nothing back`(isElsewhere: Bool)
    async throws
  {
    try await Bench.run { bench in
      bench.fake.fill(150)
      let catalog = try await bench.catalog().filtered(by: "basic")
      _ = try await catalog.funnel("f-1")
      try catalog.saveMetrics()
      let reader = try catalog.reader(limit: 20)
      try await reader.more()
      #expect(try bench.count() == 6, "two answers, record, filter, counts, session")
      _ = bench.asked()
      let gate = Gate()
      bench.hold(gate)
      let reading = Task { try await reader.more() }
      while bench.server.count == 0 { await Task.yield() }
      try await (isElsewhere ? bench.elsewhere() : bench.catalog()).signOut()
      #expect(try bench.count() == 0)
      gate.open()
      #expect(try await reading.value, "who waits for it gets it")
      #expect(try bench.count() == 0)
      _ = bench.asked()
      try await expectOver(catalog, reader)
      #expect(try bench.count() == 0)
      #expect(bench.asked().all == 0)
    }
  }

  @Test func `what a reader fetches ahead when its user signs out is not kept`() async throws {
    try await Bench.run { bench in
      bench.fake.fill(100)
      let catalog = bench.catalog()
      let reader = try catalog.reader()
      try await reader.more()
      _ = bench.asked()
      let gate = Gate()
      bench.hold(gate)
      await reader.shows(49)
      while bench.server.count == 0 { await Task.yield() }
      try await catalog.signOut()
      gate.open()
      await reader.settle()
      #expect(try bench.count() == 0)
    }
  }

  @Test func `an answer of 401 ends a reader under way as well`() async throws {
    try await Bench.run { bench in
      bench.fake.fill(150)
      let catalog = bench.catalog()
      let reader = try catalog.reader()
      try await reader.more()
      try catalog.saveMetrics()
      _ = bench.asked()
      let gate = Gate()
      bench.server.become { [fake = bench.fake] request in
        guard request.parameter("cursor") != nil else { return .init(401) }
        await gate.pass()
        return fake.answer(request)
      }
      let reading = Task { try await reader.more() }
      while bench.server.count == 0 { await Task.yield() }
      await #expect(throws: CatalogError.signedOut(status: 401, message: "no reason given")) {
        try await catalog.funnel("f-1")
      }
      gate.open()
      _ = try await reading.value
      try await expectOver(catalog, reader)
      #expect(try bench.count() == 0)
    }
  }

  @Test func `a catalog of an earlier time takes nothing from the one that came after it`()
    async throws
  {
    try await Bench.run { bench in
      bench.fake.fill(60)
      let old = bench.catalog()
      let reader = try old.reader()
      try await reader.more()
      let new = bench.elsewhere()
      try await new.signIn()
      let all = try await new.all()
      try new.saveMetrics()
      let count = try bench.count()
      try await expectOver(old, reader)
      #expect(try bench.count() == count)
      _ = bench.asked()
      #expect(try await new.all() == all)
      #expect(bench.asked().all == 0)
    }
  }

  @Test func `a catalog that was never used is over after signing out, until the user signs in`()
    async throws
  {
    try await Bench.run { bench in
      bench.fake.fill(10)
      let catalog = bench.catalog()
      try await catalog.signOut()
      await #expect(throws: CatalogError.ended) { try await catalog.all() }
      #expect(try bench.count() == 0)
      try await catalog.signIn()
      #expect(try await catalog.all().slugs == bench.slugs())
      #expect(try await bench.catalog().all().slugs == bench.slugs())
      #expect(bench.asked().all == 1)
    }
  }
}
