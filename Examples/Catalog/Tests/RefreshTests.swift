import Catalog
import ExampleTesting

/// What a reader shows after a refresh, and after its pages have become old.
@Suite(.fixture(Fixture.self)) struct RefreshTests {
  private let fixture = Fixture.current

  /// Gives a funnel of the second page another title, which leaves it there.
  private static func rename(_ state: inout FakeCatalog.State) {
    state.items[60].title = "Funnel 1060 anew"
    state.items[60].updated = 1_000
  }

  @Test func `a refresh asks about every page that was read, not only the first`() async throws {
    let reader = try await fixture.reader(of: 150, pages: 3)
    fixture.fake.change(Self.rename)
    try await reader.refresh()
    #expect(fixture.asked() == (3, 3))
    #expect(await reader.titles().contains("Funnel 1060 anew"))
    #expect(await reader.generation == 1)
  }

  @Test(.timeLimit(.minutes(20))) func `a refresh drops the page being fetched ahead`() async throws
  {
    let reader = try await fixture.reader(of: 150, pages: 1)
    let gate = fixture.hold()
    await reader.shows(49)
    try await fixture.server.wait(for: 1)
    let refresh = Task { try await reader.refresh() }
    try await fixture.server.wait(for: 2)
    await reader.shows(49)
    await reader.settle()
    #expect(fixture.server.count == 2, "the page ahead, which nobody waits for, and the first")
    fixture.fake.change(Self.rename)
    gate.open()
    try await refresh.value
    try await reader.more()
    #expect(await reader.titles().contains("Funnel 1060 anew"))
  }

  @Test(arguments: [true, false])
  func `a refresh and more at a time come one after the other`(isRefreshFirst: Bool) async throws {
    let reader = try await fixture.reader(of: 150, pages: 1)
    fixture.fake.change(VersionTests.move)
    _ = fixture.asked()
    let gate = fixture.hold()
    @Sendable func refresh() async throws { try await reader.refresh() }
    @Sendable func more() async throws { #expect(try await reader.more()) }
    let first = Task { try await isRefreshFirst ? refresh() : more() }
    try await fixture.server.wait(for: 1)
    let second = Task { try await isRefreshFirst ? more() : refresh() }
    for _ in 0..<100 { await Task.yield() }
    #expect(fixture.server.count == 1, "the second waits")
    gate.open()
    try await first.value
    try await second.value
    #expect(await reader.pageCount == 2)
    #expect(await reader.contents.slugs == Array(fixture.slugs().prefix(100)))
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

  @Test func `concurrent refreshes share one`() async throws {
    let reader = try await fixture.reader(of: 50, pages: 1)
    let gate = fixture.hold()
    let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
    let all = await Self.refresh(reader, times: 8, telling: arrival)
    var iterator = arrivals.makeAsyncIterator()
    for _ in 0..<8 { await iterator.next() }
    // The last that has arrived leaves the reader to others only where it waits.
    _ = await reader.pageCount
    gate.open()
    for one in all { try await one.value }
    #expect(fixture.asked().all == 1)
  }

  @Test(arguments: [#"{"data": {"pillars": ["#, #"{"data": 7}"#, "", "<html>"])
  func `an unusable answer leaves the stored page, which stands in while it is fresh`(
    body: String
  ) async throws {
    fixture.fake.fill(60)
    let catalog = fixture.catalog()
    let all = try await catalog.all()
    let good = { @Sendable [fake = fixture.fake] request in fake.answer(request) }
    let bad = { @Sendable (_: LocalServer.Received) in
      LocalServer.Answer(
        body.isEmpty ? 204 : 200, ["Cache-Control": "max-age=600", "ETag": "\"bad\""], text: body)
    }
    for isFirstAlone in [true, false] {
      fixture.server.become { isFirstAlone && $0.parameter("cursor") != nil ? good($0) : bad($0) }
      _ = fixture.asked()
      let reader = try catalog.reader(isFresh: true)
      while try await reader.more() {}
      #expect(await reader.contents == all)
      #expect(fixture.asked().all == 2, "twice about the first page, and not about the second")
      #expect(await reader.trouble?.isUnusable == true)
    }
    let reader = try catalog.reader()
    while try await reader.more() {}
    fixture.server.become(good)
    _ = fixture.asked()
    #expect(try await catalog.all() == all)
    #expect(fixture.asked().all == 0, "it is still stored")
    try await reader.refresh()
    #expect(await reader.trouble == nil)
    fixture.clock.advance(by: .seconds(300))
    fixture.server.become(bad)
    await #expect(throws: ServiceError.self) { try await catalog.all() }
    fixture.server.become(good)
    _ = fixture.asked()
    #expect(try await catalog.all() == all)
    #expect(fixture.asked() == (2, 2), "must-revalidate: it is validated, not fetched")
  }

  @Test(arguments: ["Thu, 01 Jan 1970 00:00:10 GMT", "Fri, 01 Jan 2199 00:00:10 GMT"])
  func `a server with a wrong clock gives pages as fresh as others`(date: String) async throws {
    fixture.fake.fill(60)
    fixture.server.become { [fake = fixture.fake] request in
      var answer = fake.answer(request)
      answer.fields["Date"] = date
      return answer
    }
    let all = try await fixture.catalog().all()
    _ = fixture.asked()
    #expect(try await fixture.catalog().all() == all && fixture.asked().all == 0)
    fixture.clock.advance(by: .seconds(300))
    #expect(try await fixture.catalog().all() == all && fixture.asked() == (2, 2))
    #expect(try await fixture.catalog().all() == all && fixture.asked().all == 0)
  }

  @Test(arguments: [true, false])
  func `pages past their freshness are validated before another joins them`(hasChanged: Bool)
    async throws
  {
    let reader = try await fixture.reader(of: 150, pages: 1)
    fixture.clock.advance(by: .seconds(hasChanged ? 299 : 0))
    try await reader.more()
    _ = fixture.asked()
    fixture.clock.advance(by: .seconds(hasChanged ? 1 : 300))
    if hasChanged { fixture.fake.change(VersionTests.move) }
    #expect(try await reader.more())
    #expect(await reader.generation == (hasChanged ? 1 : 0))
    if !hasChanged { #expect(fixture.asked() == (3, 2)) }
    #expect(await reader.contents.slugs == fixture.slugs())
  }

  @Test func `pages of short freshness are requested once a minute`() async throws {
    fixture.fake.fill(155)
    fixture.fake.change { $0.control = "max-age=5" }
    fixture.server.become { [fake = fixture.fake, clock = fixture.clock] request in
      clock.advance(by: .milliseconds(300))
      return fake.answer(request)
    }
    let reader = try fixture.catalog().reader(limit: 5)
    for _ in 0..<30 { try await reader.more() }
    #expect(fixture.asked() == (30, 0))
    fixture.clock.advance(by: .seconds(60))
    #expect(try await reader.more())
    #expect(fixture.asked() == (31, 30), "all of them, and the last")
    #expect(await reader.contents.slugs == fixture.slugs())
  }

  @Test func `a page that was fetched ahead is not shown past its freshness`() async throws {
    fixture.fake.fill(150)
    let catalog = fixture.catalog()
    _ = try await catalog.all()
    fixture.clock.advance(by: .seconds(299))
    let first = try #require(fixture.server.received.first)
    try await fixture.cache.removeAll(for: fixture.request(first.path))
    let reader = try catalog.reader()
    try await reader.more()
    _ = fixture.asked()
    await reader.shows(49)
    await reader.settle()
    #expect(fixture.asked().all == 0, "it was there")
    fixture.clock.advance(by: .seconds(1))
    fixture.fake.change(Self.rename)
    try await reader.more()
    #expect(await reader.titles().contains("Funnel 1060 anew"))
  }

  @Test func `a stale page does not count as validated`() async throws {
    fixture.fake.change { $0.control = "max-age=300, stale-if-error=3600" }
    fixture.fake.fill(100)
    let catalog = fixture.catalog()
    let old = try await catalog.all()
    fixture.clock.advance(by: .seconds(300))
    fixture.fake.change { $0.refusal = 500 }
    #expect(try await catalog.all() == old, "all pages are those that were read together")
    #expect(fixture.counts == [0, 2, 2])
    fixture.fake.change(VersionTests.move)
    fixture.fake.change { state in state.changes[state.count + 2] = { $0.refusal = nil } }
    #expect(try await catalog.all().slugs == fixture.slugs())
  }
}
