import ExampleTesting

@testable import Catalog

/// Pages of one version of the catalog. Tests of the program cover limits below 1. Tests of `LarderHTTP` cover repeated cursors,
/// validation by tag or date, a 304 that renews the freshness, a 304 for a body that is gone, and login pages.
@Suite(.fixture(Fixture.self)) struct PagingTests {
  private let fixture = Fixture.current

  @Test func `the program of the page reads the whole catalog`() async throws {
    fixture.fake.fill(120)
    let found = try await Programs.all[0].run(fixture)
    #expect((found["all"] as? CatalogListing)?.slugs == fixture.slugs())
    #expect((found["plus"] as? CatalogListing)?.slugs == fixture.slugs(tier: "plus"))
    #expect(await (found["reader"] as? CatalogReader)?.slugs().count == 100)
    #expect(try (found["catalog"] as? Catalog)?.cache.namespace.count() == 0)
  }

  @Test func `all pages together have each funnel once, in order, and each pillar once`()
    async throws
  {
    fixture.fake.fill(230)
    let all = try await fixture.catalog().all()
    #expect(all.slugs == fixture.slugs())
    #expect(all.contents.pillars.map(\.pillar.title) == ["Sleep", "Movement", "Mind"])
    #expect(all.contents.uncategorized.count == 57, "those of all pages")
    #expect(fixture.asked().all == 5)
    for _ in 0..<3 { #expect(try await fixture.catalog().all().slugs == all.slugs) }
    #expect(fixture.asked().all == 0)
  }

  @Test(arguments: [(1, 1), (20, 20), (100, 100), (101, 100), (5_000, 100)])
  func `limits over 100 are clamped`(limit: Int, clamped: Int) async throws {
    fixture.fake.fill(130)
    let reader = CatalogReader(try fixture.catalog(), limit: limit)
    #expect(try await reader.more())
    #expect(await reader.slugs().count == clamped)
    #expect(fixture.server.received[0].parameter("limit") == "\(clamped)")
  }

  @Test func `past 80 % the next page is fetched ahead, one at a time`() async throws {
    let reader = try await fixture.reader(of: 100)
    await reader.shows(0)
    try await reader.more()
    #expect(fixture.asked().all == 1)
    await reader.shows(38)
    await reader.settle()
    #expect(fixture.asked().all == 0, "39 of 50 are not enough")
    for index in 39..<50 { await reader.shows(index) }
    try await waitUntil { fixture.server.count == 1 }
    #expect(await reader.pageCount == 1, "it is not shown before it is asked for")
    try await reader.more()
    #expect(fixture.asked().all == 1)
    #expect(await reader.slugs() == fixture.slugs())
    await reader.shows(99)
    await reader.settle()
    #expect(try await !reader.more())
    #expect(fixture.asked().all == 0, "there is no page behind the last")
  }

  @Test func `INVALID_CURSOR drops all cached pages and restarts once from the first`() async throws
  {
    let reader = try await fixture.reader(of: 150, pages: 1)
    // Renames the funnel that the cursor names, so the service refuses the cursor.
    fixture.fake.change { ($0.items[49].title, $0.items[49].updated) = ("A new name", 99) }
    try await reader.more()
    #expect(await [reader.pageCount, reader.generation] == [2, 1])
    #expect(await reader.slugs() == Array(fixture.slugs().prefix(100)))
    #expect(fixture.asked() == (3, 0), "the cursor, and two pages of which nothing was kept")
    fixture.fake.change { $0.refusesCursors = true }
    await #expect(throws: InvalidCursor.self) { try await reader.more() }
    #expect(await reader.pageCount == 2, "what was read stays until something takes its place")
  }

  @Test func `fields that are missing, null or of another form, and funnels that cannot be read`()
    async throws
  {
    let text = #"""
      {"data": {"pillars": [{"pillar": {"id": 7, "title": null, "sort_order": "3"}, "funnels": [
          {"id": 1, "slug": "naps", "title": 2025, "subtitle": [], "is_active": "maybe"},
          {"id": "2", "slug": "walks", "title": null}, 7]},
        {"pillar": {"id": "q"}, "funnels": null}], "uncategorized_funnels": null}}
      """#
    fixture.server.become { _ in .init(json: text) }
    let all = try await fixture.catalog().all().contents
    #expect(all.funnels.map(\.title) == ["2025"] && all.pillars.map(\.pillar.id) == ["7", "q"])
    #expect(
      all.skipped == [
        "walks: data.pillars[0].funnels[1].title is null",
        "data.pillars[0].funnels[2] is not an object",
      ])
    for data in [#"{"pillars": [], "uncategorized_funnels": [7]}"#, "7", "{}"] {
      fixture.server.become { _ in .init(json: #"{"data": \#(data)}"#) }
      await #expect(throws: ServiceError.self) { try await fixture.catalog(user: "two").all() }
    }
  }

  @Test(arguments: ["ETag", "Last-Modified", nil])
  func `a page that another process has replaced is noticed`(validator: String?) async throws {
    fixture.fake.change { $0.validator = validator }
    fixture.fake.fill(150)
    _ = try await fixture.catalog().all()
    // Moves the last funnel from the last page to the front of the first page. Only the first page is validated after that.
    fixture.fake.change { ($0.items[149].title, $0.items[149].updated) = ("AAA moved", 1_000) }
    _ = try await fixture.catalog().send(
      "/funnels/catalog?limit=50", fields: [.cacheControl: "no-cache"], tags: [Catalog.pagesTag])
    #expect(try await fixture.catalog().all().slugs == fixture.slugs())
  }

  @Test(arguments: 1...6)
  func `a change while the catalog is read shows no funnel twice, and misses none`(
    request: Int
  ) async throws {
    fixture.fake.fill(150)
    fixture.beforeAnswers { number, state in
      guard number == request else { return }
      // Moves a funnel from the first page to the last.
      (state.items[0].title, state.items[0].updated) = ("ZZZ moved", 1_000)
    }
    let reader = CatalogReader(try fixture.catalog())
    while try await reader.more() {}
    let slugs = await reader.slugs()
    #expect(Set(slugs).count == slugs.count && slugs.count == 150)
  }

  @Test func `a catalog that changes all the time ends with an error`() async throws {
    fixture.fake.fill(100)
    fixture.beforeAnswers { _, state in
      // Exchanges the funnels of the first and the second page.
      let titles = state.items.map(\.title)
      for index in state.items.indices {
        state.items[index].title = titles[(index + 50) % 100]
        state.items[index].updated += 1
      }
    }
    await #expect(throws: (any Error).self) { try await fixture.catalog().all() }
    #expect(fixture.server.count <= 10)
  }

  @Test func `readers of a full store that share a load all get the catalog`() async throws {
    fixture.fake.fill(60)
    _ = try await fixture.catalog().all()
    try fixture.store.fill()
    // While the first reader requests three pages, the others join its load.
    let tasks = (0..<4).map { [fixture] _ in Task { try await fixture.catalog().all(limit: 20) } }
    for task in tasks { #expect(try await task.value.slugs == fixture.slugs()) }
  }

  @Test func `random changes between readings are all noticed`() async throws {
    let seed = TestSettings.seed
    var generator = SeededRNG(seed: seed)
    func random(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
    fixture.fake.fill(60)
    let pages = try fixture.catalog().cache.namespace
    for round in 1...40 {
      let (index, title) = (random(60), "Funnel \(random(3_000))")
      if random(2) == 0 {
        fixture.fake.change {
          ($0.items[index].title, $0.items[index].updated) = (title, 1_000 + round)
        }
      }
      fixture.clock.advance(by: .seconds(random(400)))
      // Removes one page, as an eviction would.
      if random(3) == 0, let key = try pages.page().items.first?.key { try await pages.remove(key) }
      let slugs = try await fixture.catalog().all(limit: 20).slugs
      #expect(Set(slugs).count == 60 && slugs.count == 60, "LARDER_SEED=\(seed), round \(round)")
    }
    fixture.clock.advance(by: .minutes(6))
    #expect(
      try await fixture.catalog().all(limit: 20).slugs == fixture.slugs(), "LARDER_SEED=\(seed)")
  }

  @Test func `a refresh asks about every page that was read, and shows what has changed`()
    async throws
  {
    let reader = try await fixture.reader(of: 150, pages: 3)
    fixture.fake.change { ($0.items[60].title, $0.items[60].updated) = ("Funnel 1060 anew", 1_000) }
    try await reader.refresh()
    #expect(fixture.asked() == (3, 3))
    #expect(await reader.generation == 1)
  }
}
