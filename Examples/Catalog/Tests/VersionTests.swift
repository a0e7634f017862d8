import ExampleTesting

@testable import Catalog

/// Pages of different versions are never served side by side. Tests of `LarderHTTP` cover a login page and a failure of the
/// service, after which the stored pages stay.
@Suite(.fixture(Fixture.self)) struct VersionTests {
  private let fixture = Fixture.current

  @Test(arguments: FakeCatalog.Validators.allCases)
  func `a page that another process has replaced is noticed`(
    validators: FakeCatalog.Validators
  ) async throws {
    fixture.fake.change { $0.validators = validators }
    fixture.fake.fill(150)
    _ = try await fixture.catalog().all()
    // Moves the last funnel from the last page to the front of the first page, which alone is validated.
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
    fixture.fake.change { state in
      // Moves a funnel from the first page to the last.
      state.changes[request] = { ($0.items[0].title, $0.items[0].updated) = ("ZZZ moved", 1_000) }
    }
    let reader = CatalogReader(fixture.catalog())
    while try await reader.more() {}
    let slugs = await reader.slugs()
    #expect(Set(slugs).count == slugs.count && slugs.count == 150)
  }

  @Test func `a catalog that changes all the time ends with an error`() async throws {
    fixture.fake.fill(100)
    fixture.fake.change { state in
      for request in 1...20 {
        state.changes[request] = { state in
          // Exchanges the funnels of the first and the second page.
          let titles = state.items.map(\.title)
          for index in state.items.indices {
            state.items[index].title = titles[(index + 50) % 100]
            state.items[index].updated += 1
          }
        }
      }
    }
    await #expect(throws: (any Error).self) { try await fixture.catalog().all() }
    #expect(fixture.server.count <= 10)
  }

  @Test func `random changes between readings are all noticed`() async throws {
    let seed = TestSettings.seed
    var generator = SeededRNG(seed: seed)
    func random(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
    fixture.fake.fill(60)
    let pages = fixture.responses
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
      #expect(
        Set(slugs).count == slugs.count && slugs.count == 60, "LARDER_SEED=\(seed), round \(round)")
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
