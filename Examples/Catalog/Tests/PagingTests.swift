import ExampleTesting

@testable import Catalog

/// Reads a catalog page by page, and checks the requests and the results. Tests of `LarderHTTP` cover a repeated cursor,
/// validation by tag or date, a 304 that renews the freshness, and a 304 for a body that is gone.
@Suite(.fixture(Fixture.self)) struct PagingTests {
  private let fixture = Fixture.current

  @Test func `the program of the page reads the whole catalog`() async throws {
    fixture.fake.fill(120)
    let found = try await Programs.all[0].run(
      Programs(
        store: fixture.store, token: "one",
        transport: LocalTransport(to: fixture.server, over: URLSessionTransport())))
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
  func `limits over 100 are clamped, below 1 refused`(limit: Int, clamped: Int) async throws {
    fixture.fake.fill(130)
    let reader = CatalogReader(fixture.catalog(), limit: limit)
    #expect(try await reader.more())
    #expect(await reader.slugs().count == clamped)
    #expect(fixture.server.received[0].parameter("limit") == "\(clamped)")
    for limit in [0, -1] {
      let error = await #expect(throws: LarderError.self) {
        try await fixture.catalog().all(limit: limit)
      }
      #expect(error?.code == .invalidArgument)
    }
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
    // Renames the funnel that the cursor names.
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
    let funnel = #"{"id": 1, "slug": "naps", "title": 2025, "subtitle": [], "is_active": "maybe"}"#
    fixture.server.become { _ in
      .init(
        json: #"""
          {"data": {"pillars": [{"pillar": {"id": 7, "title": null, "sort_order": "3"}, "funnels": [
              \#(funnel), {"id": "2", "slug": "walks", "title": null}, 7]},
            {"pillar": {"id": "q"}, "funnels": null}], "uncategorized_funnels": null}}
          """#)
    }
    let all = try await fixture.catalog().all().contents
    #expect(all.funnels.map(\.title) == ["2025"] && all.pillars.map(\.pillar.id) == ["7", "q"])
    #expect(
      all.skipped == [
        "walks: data.pillars[0].funnels[1].title is null",
        "data.pillars[0].funnels[2] is not an object",
      ])
    for text in [
      #"{"data": {"pillars": [], "uncategorized_funnels": [7]}}"#, #"{"data": 7}"#,
      #"{"data": {}}"#,
    ] {
      fixture.server.become { _ in .init(json: text) }
      await #expect(throws: ServiceError.self) { try await fixture.catalog(user: "two").all() }
    }
  }
}
