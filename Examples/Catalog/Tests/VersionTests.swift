import Catalog
import ExampleTesting

/// Pages of different versions are never shown side by side.
@Suite(.fixture(Fixture.self)) struct VersionTests {
  private let fixture = Fixture.current

  /// Moves the last funnel to the front, from the last page to the first.
  static func move(_ state: inout FakeCatalog.State) {
    let last = state.items.count - 1
    state.items[last].title = "AAA moved"
    state.items[last].updated = 1_000
  }

  @Test func `when one page has changed, the fresh ones beside it are asked about`() async throws {
    fixture.fake.fill(150)
    let catalog = fixture.catalog()
    _ = try await catalog.all()
    // The third page is older than the others, so it alone is asked about.
    fixture.clock.advance(by: .seconds(200))
    for path in fixture.server.received.prefix(2).map(\.path) {
      try await fixture.cache.removeAll(for: fixture.request(path))
    }
    _ = try await catalog.all()
    fixture.clock.advance(by: .seconds(150))
    fixture.fake.change(Self.move)
    _ = fixture.asked()
    let all = try await catalog.all()
    #expect(all.slugs == fixture.slugs())
    #expect(Set(all.slugs).count == 150)
    #expect(
      fixture.asked().all == 4, "the third, whose change says that the others may have changed")
    #expect(try await catalog.all() == all)
    #expect(fixture.asked().all == 0)
  }

  @Test(arguments: FakeCatalog.Validators.allCases)
  func `a page that another process has replaced is noticed`(
    validators: FakeCatalog.Validators
  ) async throws {
    fixture.fake.change { $0.validators = validators }
    fixture.fake.fill(150)
    let catalog = fixture.catalog()
    _ = try await catalog.all()
    fixture.fake.change(Self.move)
    try await fixture.validateFirstPage()
    #expect(try await catalog.all().slugs == fixture.slugs())
  }

  @Test(arguments: ["300", String(repeating: "9", count: 20)])
  func `pages without a validator are served while they are fresh`(seconds: String) async throws {
    fixture.fake.change { state in
      (state.validators, state.control) = (.none, "max-age=\(seconds)")
    }
    fixture.fake.fill(150)
    let all = try await fixture.catalog().all()
    fixture.clock.advance(by: .seconds(299))
    #expect(try await fixture.catalog().all() == all && fixture.server.count == 3)
    fixture.fake.change(Self.move)
    try await fixture.validateFirstPage()
    #expect(try await fixture.catalog().all().slugs == fixture.slugs())
  }

  @Test(arguments: 1...6)
  func `a change while the catalog is read shows no funnel twice`(request: Int) async throws {
    fixture.fake.fill(150)
    fixture.fake.change { state in
      state.changes[request] = { state in
        // From the first page to the last.
        state.items[0].title = "ZZZ moved"
        state.items[0].updated = 1_000
      }
    }
    let reader = try fixture.catalog().reader()
    while try await reader.more() {}
    let slugs = await reader.contents.slugs
    #expect(Set(slugs).count == slugs.count && slugs.count == 150)
  }

  @Test func `a catalog that changes all the time ends with an error`() async throws {
    fixture.fake.fill(100)
    fixture.fake.change { state in
      for request in 1...20 {
        state.changes[request] = { state in
          // What was on the first page is on the second, and the other way round.
          let titles = state.items.map(\.title)
          for index in state.items.indices {
            state.items[index].title = titles[(index + 50) % 100]
            state.items[index].updated += 1
          }
        }
      }
    }
    await #expect(throws: CatalogError.self) { try await fixture.catalog().all() }
    #expect(fixture.server.count <= 8)
  }

  @Test(arguments: FakeCatalog.Validators.allCases)
  func `funnels that the service lists on two pages are shown once`(
    validators: FakeCatalog.Validators
  ) async throws {
    fixture.fake.change { state in
      (state.validators, state.hasInclusiveCursors) = (validators, true)
    }
    fixture.fake.fill(150)
    let all = try await fixture.catalog().all()
    #expect(all.slugs == fixture.slugs())
    #expect(fixture.server.count == 2 + 4, "a second pass has the same pages")
    #expect(try await fixture.elsewhere().all() == all)
    #expect(fixture.server.count == 6, "they are on record")
    fixture.clock.advance(by: .minutes(6))
    fixture.fake.change(Self.move)
    #expect(try await fixture.catalog().all().slugs == fixture.slugs())
  }

  @Test func `random changes between readings are all noticed`() async throws {
    let seed = TestSettings.seed
    var generator = SeededRNG(seed: seed)
    func random(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
    fixture.fake.fill(60)
    let catalog = fixture.catalog()
    for round in 1...40 {
      let (index, title) = (random(60), "Funnel \(random(3_000))")
      if random(2) == 0 {
        fixture.fake.change { fake in
          fake.items[index].title = title
          fake.items[index].updated = 1_000 + round
        }
      }
      fixture.clock.advance(by: .seconds(random(400)))
      // One page is gone, as if it had been evicted.
      if random(3) == 0,
        let key = try fixture.store.namespace("catalog.http").page().items.first?.key
      {
        try await fixture.store.namespace("catalog.http").remove(key)
      }
      let slugs = try await catalog.all(limit: 20).slugs
      #expect(
        Set(slugs).count == slugs.count && slugs.count == 60, "LARDER_SEED=\(seed), round \(round)")
    }
    fixture.clock.advance(by: .minutes(6))
    #expect(try await catalog.all(limit: 20).slugs == fixture.slugs(), "LARDER_SEED=\(seed)")
  }
}
