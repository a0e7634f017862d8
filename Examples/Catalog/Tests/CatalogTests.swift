import ExampleTesting

@testable import Catalog

/// The lifetime and removal of stored answers. Tests of realms cover an answer that arrives after a logout.
@Suite(.fixture(Fixture.self)) struct CatalogTests {
  private let fixture = Fixture.current

  /// Stores five answers: three pages, a funnel and its questions.
  private func fill(_ user: String) async throws -> Catalog {
    let catalog = try fixture.catalog(user: user)
    _ = try await catalog.all()
    _ = try await catalog.funnel("f-1")
    _ = try await catalog.definition(of: "f-1")
    return catalog
  }

  @Test func `a catalog whose stored choice cannot be read is an error`() throws {
    let store = try Store.temporary()
    try store.close()
    #expect(throws: LarderError.self) {
      try Catalog(at: "", user: "a", token: "", in: store, over: Disconnected())
    }
  }

  @Test func `the order is folded title, then slug`() throws {
    let funnels = [("b-2", "Rest"), ("a-1", "walk"), ("b-1", "REST"), ("c-1", "Air")]
      .map { slug, title in Funnel(id: slug, slug: slug, title: title) }
    #expect(funnels.sorted(by: Funnel.isBefore).map(\.slug) == ["c-1", "b-1", "b-2", "a-1"])
  }

  /// The event, and the number of requests that the user's next calls make. A login calls the function of the logout.
  @Test(arguments: [
    ("logout", 5), ("401", 5), ("403", 5), ("filter", 3), ("refresh", 1), ("gateway", 0),
    ("another server", 0),
  ])
  func `logout, 401 and 403 drop the user's catalog alone, a filter its pages, a refresh one URL`(
    ending: String, requests: Int
  ) async throws {
    fixture.fake.fill(120)
    let one = try await fill("one")
    _ = try await fill("two")
    #expect(fixture.asked().all == 10, "what is kept of one user is not given to another")
    switch ending {
    case "logout": try one.signOut()
    case "filter": _ = try await fixture.catalog(tier: "plus").all()
    case "refresh": #expect(try await one.refresh("f-1").entries == 1)
    case "gateway":
      fixture.server.become { _ in .init(401, json: #"{"message": "Forbidden"}"#) }
      await #expect(throws: ServiceError.self) { try await one.begin("f-1") }
      fixture.recover()
    case "another server":
      let base = fixture.server.base.replacing("127.0.0.1", with: "localhost")
      try fixture.catalog(at: base).signOut()
    default:
      fixture.fake.change { $0.refusal = Int(ending) }
      let error = await #expect(throws: ServiceError.self) {
        try await one.status(of: "a1", in: "f-1")
      }
      #expect(error?.description == "the service answered \(ending): Not for you.")
      fixture.fake.change { $0.refusal = nil }
    }
    _ = fixture.asked()
    _ = try await fill("two")
    #expect(fixture.asked().all == 0)
    _ = try await fill("one")
    #expect(fixture.asked() == (requests, 0))
  }

  @Test func `catalog and slug 300 s, definition 600 s, status and POST never`() async throws {
    let catalog = try fixture.catalog()
    for (seconds, requests) in [(0, 2), (299, 0), (1, 1), (299, 0), (1, 2)] {
      fixture.clock.advance(by: .seconds(seconds))
      _ = try await catalog.funnel("f-0")
      _ = try await catalog.definition(of: "f-0")
      #expect(fixture.asked().all == requests)
    }
    for _ in 1...2 {
      _ = try await catalog.status(of: "a", in: "f-0")
      _ = try await catalog.begin("f-0")
    }
    #expect(fixture.asked().all == 4)
    #expect(try catalog.cache.namespace.count() == 2)
  }

  @Test func `a day of reading: 80 % hits, 90 % of bytes saved, and nil for no reads`() async throws
  {
    fixture.fake.fill(250)
    let catalog = try fixture.catalog()
    #expect(catalog.cache.statistics.hitRate == nil, "not NaN")
    let received = Lines<Int>()
    fixture.server.become { [fake = fixture.fake] request in
      let answer = fake.answer(request)
      received.add(answer.body.count)
      return answer
    }
    // Each day has twelve visits of some minutes. A visit shows the list, some funnels, and the list again on the way back.
    for visit in 0..<12 {
      for minute in 0..<8 {
        _ = try await catalog.all()
        for number in [visit, visit + 1, visit, visit + 1] {
          _ = try await catalog.funnel("f-\(number)")
          _ = try await catalog.definition(of: "f-\(number)")
        }
        fixture.clock.advance(by: .seconds(minute == 7 ? 7_200 : 45))
      }
    }
    let statistics = catalog.cache.statistics
    let saved = Double(statistics.bytesSaved)
    let share = saved / (saved + Double(received.all.reduce(0, +)))
    #expect(try #require(statistics.hitRate) > 0.8 && share > 0.9)
    #expect(statistics.requests == 12 * 8 * 13)
    // Other programs may delay some of the 20 hits, so only the fastest hit counts.
    var fastest = Duration.seconds(100)
    for _ in 0..<20 {
      let time = try await ContinuousClock().measure { _ = try await catalog.funnel("f-11") }
      fastest = min(fastest, time)
    }
    #expect(fastest < .milliseconds(100))
  }

  @Test func `a login page is no funnel, and leaves the stored answer`() async throws {
    let catalog = try fixture.catalog()
    _ = try await catalog.funnel("f-0")
    fixture.clock.advance(by: .seconds(301))
    fixture.server.become { _ in
      let fields = ["Content-Type": "text/html", "Cache-Control": "max-age=600"]
      return .init(200, fields, text: "<html>log in")
    }
    for slug in ["f-0", "f-1"] {
      await #expect(throws: (any Error).self) { try await catalog.funnel(slug) }
    }
    fixture.recover()
    _ = fixture.asked()
    for slug in ["f-0", "f-1"] {
      #expect(try await catalog.funnel(slug).text == #"{"data": {}}"#)
    }
    #expect(fixture.asked() == (2, 1))
  }
}
