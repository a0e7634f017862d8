import ExampleTesting

@testable import Catalog

/// How long answers are stored, what removes them, and what they save.
@Suite(.fixture(Fixture.self)) struct CatalogTests {
  private let fixture = Fixture.current

  private func fill(_ fixture: Fixture, _ user: String) async throws -> Catalog {
    let catalog = fixture.catalog(user: user)
    _ = try await catalog.all()
    _ = try await catalog.funnel("f-1")
    _ = try await catalog.definition(of: "f-1")
    return catalog
  }

  @Test func `funnels are in the order of titles in any case, then of slugs`() throws {
    let funnels = try ["b-2 Rest", "a-1 walk", "b-1 REST", "c-1 Air"].map { line in
      let parts = line.split(separator: " ")
      let json = #"{"id": "\#(parts[0])", "slug": "\#(parts[0])", "title": "\#(parts[1])"}"#
      return try JSONDecoder().decode(Funnel.self, from: Data(json.utf8))
    }
    #expect(funnels.sorted(by: Funnel.isBefore).map(\.slug) == ["c-1", "b-1", "b-2", "a-1"])
  }

  @Test func `signing out and in remove the data of this user alone`() async throws {
    fixture.fake.fill(120)
    let one = try await fill(fixture, "one")
    _ = try await fill(fixture, "two")
    #expect(fixture.asked().all == 10, "what is kept of one user is not given to another")
    try await one.signOut()
    _ = try await fill(fixture, "two")
    #expect(fixture.asked().all == 0)
    _ = try await fill(fixture, "one")
    #expect(fixture.asked() == (5, 0))
    try await one.signIn()
    _ = try await fill(fixture, "one")
    #expect(fixture.asked() == (5, 0))
  }

  @Test func `an error does not quote the token`() async throws {
    fixture.server.become { _ in .init(401, json: ["error": ["message": "no SECRET9 here"]]) }
    let catalog = Catalog(
      at: fixture.server.base, user: "one", token: "SECRET9", over: fixture.cache)
    await #expect(throws: CatalogError.signedOut(status: 401, message: "no *** here")) {
      try await catalog.funnel("f-1")
    }
  }

  @Test(arguments: [401, 403])
  func `an answer of 401 or 403 removes the data of the user`(status: Int) async throws {
    fixture.fake.fill(120)
    let one = try await fill(fixture, "one")
    _ = try await fill(fixture, "two")
    fixture.fake.change { $0.refusal = status }
    await #expect(throws: CatalogError.signedOut(status: status, message: "Not for you.")) {
      try await one.status(of: "a1", in: "f-1")
    }
    fixture.fake.change { $0.refusal = nil }
    _ = fixture.asked()
    _ = try await fill(fixture, "two")
    #expect(fixture.asked().all == 0)
    _ = try await fill(fixture, "one")
    #expect(fixture.asked() == (5, 0))
  }

  @Test func `another filter removes the answers of the former one`() async throws {
    fixture.fake.fill(120)
    let all = fixture.catalog()
    _ = try await all.all()
    let plus = all.filtered(by: "plus")
    fixture.server.become { _ in .init(503) }
    await #expect(throws: ServiceError.self) { try await plus.all() }
    fixture.recover()
    _ = fixture.asked()
    _ = try await all.all()
    #expect(fixture.asked().all == 0, "the service has not answered with the other one")
    #expect(try await plus.all().slugs == fixture.slugs(tier: "plus"))
    #expect(fixture.asked().all == 1)
    _ = try await all.filtered(by: "plus").all()
    #expect(fixture.asked().all == 0, "the same filter ends nothing")
    _ = try await plus.filtered(by: nil).all()
    #expect(fixture.asked() == (3, 0))
  }

  @Test func `a refresh of a funnel removes one answer`() async throws {
    fixture.fake.fill(120)
    let catalog = try await fill(fixture, "one")
    let reader = try catalog.reader()
    while try await reader.more() {}
    _ = fixture.asked()
    try await reader.refresh()
    #expect(fixture.asked() == (3, 3), "every page")
    #expect(await reader.contents.slugs == fixture.slugs())
    try await catalog.refresh("f-1")
    _ = try await fill(fixture, "one")
    #expect(fixture.asked() == (1, 0))
  }

  @Test func `each answer is fresh as long as it says`() async throws {
    fixture.fake.fill(1)
    let catalog = fixture.catalog()
    func count<Answer>(_ read: () async throws -> Answer) async throws -> Int {
      _ = try await read()
      return fixture.asked().all
    }
    #expect(try await count { try await catalog.funnel("f-0") } == 1)
    #expect(try await count { try await catalog.definition(of: "f-0") } == 1)
    fixture.clock.advance(by: .seconds(299))
    #expect(try await count { try await catalog.funnel("f-0") } == 0)
    fixture.clock.advance(by: .seconds(1))
    #expect(try await count { try await catalog.funnel("f-0") } == 1)
    fixture.clock.advance(by: .seconds(299))
    #expect(try await count { try await catalog.definition(of: "f-0") } == 0)
    fixture.clock.advance(by: .seconds(1))
    #expect(try await count { try await catalog.definition(of: "f-0") } == 1)
    let (first, second) = (
      try await catalog.status(of: "a", in: "f-0"), try await catalog.status(of: "a", in: "f-0")
    )
    #expect(first != second && fixture.asked().all == 2, "never kept")
    for _ in 0..<2 { _ = try await catalog.begin("f-0") }
    #expect(fixture.asked().all == 2)
    #expect(try fixture.store.namespace("catalog.http").count() == 2)
  }

  @Test func `a day of reading: 80 % hits and 90 % of bytes saved`() async throws {
    fixture.fake.fill(250)
    let catalog = fixture.catalog()
    #expect(fixture.cache.statistics.hitRate == nil, "not NaN")
    let received = Lines<Int>()
    fixture.server.become { [fake = fixture.fake] request in
      let answer = fake.answer(request)
      received.add(answer.body.count)
      return answer
    }
    // Twelve times a day for some minutes: the list, some funnels, and the list again on the way back.
    for visit in 0..<12 {
      for minute in 0..<8 {
        _ = try await catalog.all()
        for number in [visit, visit + 1] {
          for _ in 0..<2 {
            _ = try await catalog.funnel("f-\(number)")
            _ = try await catalog.definition(of: "f-\(number)")
          }
        }
        fixture.clock.advance(by: .seconds(minute == 7 ? 7_200 : 45))
      }
    }
    let statistics = fixture.cache.statistics
    let hitRate = try #require(statistics.hitRate)
    let saved = Double(statistics.bytesSaved)
    let share = saved / (saved + Double(received.all.reduce(0, +)))
    print("catalog:", statistics, hitRate, share)
    #expect(hitRate > 0.8 && share > 0.9)
    #expect(statistics.requests == 12 * 8 * 13)
    #expect(fixture.server.count == fixture.counts[1] + fixture.counts[2])
  }
}
