import Catalog
import ExampleTesting

/// Reading a catalog page by page: what is asked for, and what comes of it.
@Suite(.fixture(Fixture.self)) struct PagingTests {
  private let fixture = Fixture.current

  @Test func `the program of the page reads the whole catalog`() async throws {
    #expect(try PageProgram(of: "Catalog/README.md").isIn(#filePath))
    fixture.fake.fill(120)
    let (store, token) = (fixture.store, "one")
    let transport = LocalTransport(to: fixture.server, over: URLSessionTransport())

    let cache = HTTPCache(in: store.namespace("catalog.http"), over: Catalog.network(transport))
    let catalog = Catalog(
      at: "https://catalog.example/api", user: "ines", token: token, over: cache)

    let reader = try catalog.reader(limit: 50)
    try await reader.more()
    await reader.shows(41)
    try await reader.more()
    try await reader.refresh()

    let all = try await catalog.all()
    print(cache.statistics.hitRate ?? 0)

    #expect(all.slugs == fixture.slugs())
    #expect(await reader.contents.slugs.count == 100)
    #expect(fixture.server.received.allSatisfy { $0.path.hasPrefix("/api/") })
  }

  @Test func `all pages together have each funnel once, in order`() async throws {
    fixture.fake.fill(230)
    let all = try await fixture.catalog().all()
    #expect(all.slugs == fixture.slugs())
    #expect(all.pillars.map(\.pillar.title) == ["Sleep", "Movement", "Mind"], "each once")
    #expect(all.pillars.reduce(0) { $0 + $1.funnels.count } + all.uncategorized.count == 230)
    #expect(all.uncategorized.count == 57, "those of all pages")
    #expect(fixture.asked().all == 5)
    for _ in 0..<3 { #expect(try await fixture.catalog().all() == all) }
    #expect(fixture.asked().all == 0)
  }

  @Test(arguments: [(1, 1), (20, 20), (100, 100), (101, 100), (5_000, 100)])
  func `a page has at most a hundred funnels`(limit: Int, clamped: Int) async throws {
    fixture.fake.fill(130)
    let reader = try fixture.catalog().reader(limit: limit)
    #expect(try await reader.more())
    #expect(await reader.contents.slugs.count == clamped)
    #expect(fixture.server.received[0].parameter("limit") == "\(clamped)")
  }

  @Test func `a page of no funnels is refused, and one of an empty catalog is none`() async throws {
    for limit in [0, -1] {
      #expect(throws: CatalogError.limit(limit)) { try fixture.catalog().reader(limit: limit) }
    }
    let reader = try fixture.catalog().reader()
    #expect(try await reader.more())
    #expect(try await !reader.more())
    #expect(await reader.contents.slugs.isEmpty)
    #expect(fixture.server.count == 1)
  }

  @Test(arguments: [(FakeCatalog.Validators.tags, "if-none-match"), (.dates, "if-modified-since")])
  func `after five minutes pages are asked about, by tag or date, and stay as they are`(
    validators: FakeCatalog.Validators, condition: String
  ) async throws {
    fixture.fake.change { $0.validators = validators }
    fixture.fake.fill(120)
    let catalog = fixture.catalog()
    let all = try await catalog.all()
    _ = fixture.asked()
    fixture.clock.advance(by: .seconds(299))
    _ = try await catalog.all()
    #expect(fixture.asked().all == 0)
    fixture.clock.advance(by: .seconds(1))
    #expect(try await catalog.all() == all)
    let conditions = fixture.server.received.map { request in
      ["if-none-match", "if-modified-since"].filter { request.fields[$0] != nil }
    }
    #expect(conditions == Array(repeating: [condition], count: 3))
    #expect(fixture.asked() == (3, 3) && fixture.counts == [3, 3, 3])
    #expect(try await catalog.all() == all)
    #expect(fixture.asked().all == 0, "fresh again")
  }

  @Test func `a stored body that is gone is asked for without a condition`() async throws {
    fixture.fake.fill(20)
    let catalog = fixture.catalog()
    let all = try await catalog.all()
    fixture.clock.advance(by: .minutes(6))
    _ = fixture.asked()
    // It goes while the service is being asked about it.
    let pages = fixture.store.namespace("catalog.http")
    fixture.server.become { [fake = fixture.fake] request in
      if request.fields["if-none-match"] != nil {
        for key in try pages.page().items.map(\.key) { _ = try await pages.remove(key) }
      }
      return fake.answer(request)
    }
    #expect(try await catalog.all() == all)
    #expect(fixture.asked() == (2, 1))
  }

  @Test func `past 80 % the next page is fetched ahead`() async throws {
    let reader = try await fixture.reader(of: 100)
    await reader.shows(0)
    try await reader.more()
    #expect(fixture.asked().all == 1)
    await reader.shows(38)
    await reader.settle()
    #expect(fixture.asked().all == 0, "39 of 50 are not enough")
    let gate = fixture.hold()
    for index in 39..<50 { await reader.shows(index) }
    gate.open()
    await reader.settle()
    #expect(fixture.asked().all == 1)
    #expect(await reader.pageCount == 1, "it is not shown before it is asked for")
    try await reader.more()
    #expect(fixture.asked().all == 0)
    #expect(await reader.contents.slugs == fixture.slugs())
    await reader.shows(99)
    await reader.settle()
    #expect(try await !reader.more())
    #expect(fixture.asked().all == 0, "there is no page behind the last")
  }

  @Test func `a page that could not be fetched ahead is fetched when it is wanted`() async throws {
    let reader = try await fixture.reader(of: 100, pages: 1)
    fixture.fake.change { $0.refusal = 500 }
    await reader.shows(49)
    await reader.settle()
    await #expect(throws: (any Error).self) { try await reader.more() }
    fixture.fake.change { $0.refusal = nil }
    try await reader.more()
    #expect(await reader.contents.slugs == fixture.slugs())
  }

  @Test func `concurrent calls share a page`() async throws {
    let reader = try await fixture.reader(of: 100)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { try await reader.more() } }
      try await group.waitForAll()
    }
    let count = await reader.pageCount
    #expect(fixture.server.count == count && count <= 2)
  }

  @Test func `pages that would never end are an error`() async throws {
    fixture.fake.fill(200)
    let cursor = Data(#"{"title":"Funnel 1048","slug":"f-48"}"#.utf8).base64EncodedString()
    fixture.fake.change { $0.stuckCursor = cursor }
    let error = await #expect(throws: CatalogError.self) {
      try await fixture.catalog().all(limit: 49)
    }
    #expect(error == .repeatedCursor(cursor))
    #expect(fixture.server.count == 2)
  }

  @Test func `a service that always has another page is an error`() async throws {
    fixture.server.become { [server = fixture.server] _ in
      let text = #"""
        {"data": {"pillars": [], "pagination": {"hasMore": true, "nextCursor": "\#(server.count)"},
          "uncategorized_funnels": [{"id": "\#(server.count)", "slug": "s", "title": "t"}]}}
        """#
      return .init(200, text: text)
    }
    await #expect(throws: CatalogError.tooManyPages) { try await fixture.catalog().all() }
    #expect(fixture.server.count == CatalogError.mostPages)
  }

  @Test func `an unknown cursor restarts from the first page, once`() async throws {
    fixture.fake.fill(150)
    let catalog = fixture.catalog()
    let reader = try catalog.reader()
    try await reader.more()
    // The funnel that the cursor names is renamed.
    fixture.fake.change { $0.items[49].title = "A new name" }
    fixture.fake.change { $0.items[49].updated = 99 }
    _ = fixture.asked()
    try await reader.more()
    #expect(await reader.pageCount == 2)
    #expect(await reader.generation == 1)
    #expect(await reader.contents.slugs == Array(fixture.slugs().prefix(100)))
    #expect(fixture.asked() == (3, 0), "the cursor, and two pages of which nothing was kept")

    fixture.fake.change { $0.refusesCursors = true }
    await #expect { try await reader.more() } throws: { error in
      if case CatalogError.invalidCursor = error { true } else { false }
    }
    #expect(fixture.asked().all == 3)
    #expect(await reader.pageCount == 2, "what was read stays until something takes its place")
  }
}
