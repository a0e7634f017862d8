import Catalog
import ExampleTesting
import Foundation
import Larder
import LarderHTTP
import Testing

/// What a reader shows after a refresh, and after its pages have become old.
@Suite struct RefreshTests {
  /// Gives a funnel of the second page another title, which leaves it there.
  private static func rename(_ state: inout FakeCatalog.State) {
    state.items[60].title = "Funnel 1060 anew"
    state.items[60].updated = 1_000
  }

  @Test func `what was fetched ahead before a refresh is not shown after it`() async throws {
    try await Bench.run { bench in
      bench.fake.fill(150)
      let reader = try bench.catalog().reader()
      try await reader.more()
      await reader.shows(49)
      await reader.settle()
      bench.fake.change(Self.rename)
      try await reader.refresh()
      #expect(await reader.generation == 0, "the first page is as it was")
      try await reader.more()
      let titles = await reader.contents.funnels.map(\.title)
      #expect(titles.contains("Funnel 1060 anew") && titles.count == 100)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a refresh gives up what is being fetched ahead, and nothing is fetched ahead beside it`()
    async throws
  {
    try await Bench.run { bench in
      bench.fake.fill(150)
      let reader = try bench.catalog().reader()
      try await reader.more()
      _ = bench.asked()
      let gate = Gate()
      bench.hold(gate)
      await reader.shows(49)
      while bench.server.count < 1 { await Task.yield() }
      let refresh = Task { try await reader.refresh() }
      while bench.server.count < 2 { await Task.yield() }
      await reader.shows(49)
      await reader.settle()
      #expect(bench.server.count == 2, "the page ahead, which nobody waits for, and the first")
      bench.fake.change(Self.rename)
      gate.open()
      try await refresh.value
      try await reader.more()
      #expect(await reader.contents.funnels.map(\.title).contains("Funnel 1060 anew"))
    }
  }

  @Test(arguments: [true, false])
  func `a refresh and more at a time come one after the other`(isRefreshFirst: Bool) async throws {
    try await Bench.run { bench in
      bench.fake.fill(150)
      let reader = try bench.catalog().reader()
      try await reader.more()
      bench.fake.change(VersionTests.move)
      _ = bench.asked()
      let gate = Gate()
      bench.hold(gate)
      @Sendable func refresh() async throws { try await reader.refresh() }
      @Sendable func more() async throws { #expect(try await reader.more()) }
      let first = Task { try await isRefreshFirst ? refresh() : more() }
      while bench.server.count == 0 { await Task.yield() }
      let second = Task { try await isRefreshFirst ? more() : refresh() }
      for _ in 0..<100 { await Task.yield() }
      #expect(bench.server.count == 1, "the second waits")
      gate.open()
      try await first.value
      try await second.value
      #expect(await reader.pageCount == 2)
      #expect(await reader.contents.slugs == Array(bench.slugs().prefix(100)))
    }
  }

  /// Each begins on the reader itself, so that nothing comes between its arrival and what it waits for.
  private static func refresh(
    _ reader: isolated CatalogReader, times: Int, telling arrival: AsyncStream<Void>.Continuation
  ) -> [Task<Void, any Error>] {
    (0..<times).map { _ in
      Task {
        arrival.yield()
        try await reader.refresh()
      }
    }
  }

  @Test func `many refreshes at a time are one`() async throws {
    try await Bench.run { bench in
      bench.fake.fill(50)
      let reader = try bench.catalog().reader()
      try await reader.more()
      _ = bench.asked()
      let gate = Gate()
      bench.hold(gate)
      let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
      let all = await Self.refresh(reader, times: 8, telling: arrival)
      var iterator = arrivals.makeAsyncIterator()
      for _ in 0..<8 { await iterator.next() }
      // The last that has arrived leaves the reader to others only where it waits.
      _ = await reader.pageCount
      gate.open()
      for one in all { try await one.value }
      #expect(bench.asked().all == 1)
    }
  }

  @Test func `what cannot be refreshed stays as it was`() async throws {
    try await Bench.run { bench in
      bench.fake.fill(60)
      let reader = try bench.catalog().reader()
      try await reader.more()
      let before = await reader.contents
      bench.fake.change { $0.refusal = 500 }
      await #expect(throws: (any Error).self) { try await reader.refresh() }
      #expect(await reader.contents == before)
      bench.fake.change { $0.refusal = nil }
      try await reader.more()
      #expect(await reader.contents.slugs == bench.slugs())
    }
  }

  @Test func `pages past their freshness are asked about before another joins them`() async throws {
    try await Bench.run { bench in
      bench.fake.fill(150)
      let reader = try bench.catalog().reader()
      try await reader.more()
      bench.clock.advance(by: .seconds(299))
      try await reader.more()
      _ = bench.asked()
      bench.clock.advance(by: .seconds(1))
      bench.fake.change(VersionTests.move)
      #expect(try await reader.more())
      #expect(await reader.contents.slugs == bench.slugs())
      #expect(await reader.generation == 1)
    }
  }

  @Test func `pages past their freshness that are still right cost a question each`() async throws {
    try await Bench.run { bench in
      bench.fake.fill(150)
      let reader = try bench.catalog().reader()
      for _ in 0..<2 { try await reader.more() }
      bench.clock.advance(by: .seconds(300))
      _ = bench.asked()
      #expect(try await reader.more())
      #expect(bench.asked() == (3, 2))
      #expect(await reader.generation == 0, "nothing was replaced")
      #expect(await reader.contents.slugs == bench.slugs())
    }
  }

  @Test
  func `pages that are fresh for less than it takes to read them are asked for once a minute`()
    async throws
  {
    try await Bench.run { bench in
      bench.fake.fill(155)
      bench.fake.change { $0.control = "max-age=5" }
      bench.server.become { [fake = bench.fake, clock = bench.clock] request in
        clock.advance(by: .milliseconds(300))
        return fake.answer(request)
      }
      let reader = try bench.catalog().reader(limit: 5)
      for _ in 0..<30 { try await reader.more() }
      #expect(bench.asked() == (30, 0))
      bench.clock.advance(by: .seconds(60))
      #expect(try await reader.more())
      #expect(bench.asked() == (31, 30), "all of them, and the last")
      #expect(await reader.contents.slugs == bench.slugs())
    }
  }

  @Test func `a page that was fetched ahead is not shown past its freshness`() async throws {
    try await Bench.run { bench in
      bench.fake.fill(150)
      let catalog = bench.catalog()
      _ = try await catalog.all()
      bench.clock.advance(by: .seconds(299))
      let first = try #require(bench.server.received.first)
      try await bench.cache.removeAll(for: bench.request(first.path))
      let reader = try catalog.reader()
      try await reader.more()
      _ = bench.asked()
      await reader.shows(49)
      await reader.settle()
      #expect(bench.asked().all == 0, "it was there")
      bench.clock.advance(by: .seconds(1))
      bench.fake.change(Self.rename)
      try await reader.more()
      #expect(await reader.contents.funnels.map(\.title).contains("Funnel 1060 anew"))
    }
  }

  @Test func `what stands in for a page that cannot be had does not count as asked about`()
    async throws
  {
    try await Bench.run { bench in
      bench.fake.change { $0.control = "max-age=300, stale-if-error=3600" }
      bench.fake.fill(100)
      let catalog = bench.catalog()
      let old = try await catalog.all()
      bench.clock.advance(by: .seconds(300))
      bench.fake.change { $0.refusal = 500 }
      #expect(try await catalog.all() == old, "all pages are those that were read together")
      #expect(catalog.metrics.misses == 2 && catalog.metrics.hits == 2)
      bench.fake.change(VersionTests.move)
      bench.fake.change { state in
        state.changes[state.count + 2] = { $0.refusal = nil }
      }
      #expect(try await catalog.all().slugs == bench.slugs())
    }
  }
}
