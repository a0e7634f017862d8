import ExampleTesting

@testable import Catalog

/// What is stored of a user who has signed out, and where there is no room.
@Suite(.fixture(Fixture.self)) struct SignOutTests {
  private let fixture = Fixture.current

  enum Late: CaseIterable { case funnel, page, pageAhead, refresh }

  @Test
  func `a user of the same name at another server stays signed in, also after a gateway's 401`()
    async throws
  {
    fixture.fake.fill(3)
    let here = fixture.catalog()
    let other = Catalog(
      at: fixture.server.base.replacing("127.0.0.1", with: "localhost") + "/api", user: "one",
      token: "one", over: fixture.cache, sleep: { _ in })
    _ = try await here.all()
    _ = try await other.filtered(by: "plus").all()
    try await other.signOut()
    fixture.server.become { _ in .init(401, ["Content-Type": "text/html"], text: "<html>") }
    await #expect(throws: ServiceError.self) { try await here.status(of: "a1", in: "f-1") }
    _ = fixture.asked()
    #expect(try await here.all().slugs.count == 3)
    #expect(fixture.asked().all == 0)
  }

  @Test(arguments: Late.allCases, [true, false])
  func `an answer that arrives after a sign-out is not stored`(late: Late, isElsewhere: Bool)
    async throws
  {
    fixture.fake.fill(150)
    let catalog = fixture.catalog().filtered(by: "basic")
    _ = try await catalog.funnel("f-1")
    let reader = try catalog.reader(limit: 20)
    try await reader.more()
    #expect(try fixture.count() == 5, "two answers, versions, filter, session")
    _ = fixture.asked()
    let gate = fixture.hold()
    let reading = Task {
      switch late {
      case .funnel: _ = try await catalog.funnel("f-2")
      case .page: #expect(try await reader.more())
      case .pageAhead:
        await reader.shows(19)
        await reader.settle()
      case .refresh: try await reader.refresh()
      }
    }
    try await fixture.server.wait(for: 1)
    try await (isElsewhere ? fixture.elsewhere() : fixture.catalog()).signOut()
    #expect(try fixture.count() == 0)
    gate.open()
    try await reading.value
    #expect(try fixture.count() == 0)
  }

  @Test(arguments: [true, false])
  func `a late 401 leaves a later session alone`(isElsewhere: Bool) async throws {
    fixture.fake.fill(10)
    let old = fixture.catalog()
    let gate = fixture.server.hold { _ in .init(401) }
    let reading = Task { try await old.funnel("f-1") }
    try await fixture.server.wait(for: 1)
    fixture.recover()
    let new = isElsewhere ? fixture.elsewhere() : old
    try await new.signIn()
    _ = try await new.filtered(by: "plus").all()
    gate.open()
    await #expect(throws: CatalogError.signedOut(status: 401, message: "no reason given")) {
      try await reading.value
    }
    #expect(try await new.funnel("f-1").body.isEmpty == false)
    #expect(try fixture.store.namespace("catalog.filters").count() == 1)
  }

  @Test(arguments: [true, false])
  func `in a full store everything is read and nothing stored`(hasSession: Bool) async throws {
    fixture.fake.fill(120)
    let catalog = fixture.catalog()
    if hasSession { _ = try await catalog.status(of: "a", in: "f-1") }
    try fixture.store.fill()
    let count = try fixture.count()
    _ = fixture.asked()
    for _ in 0..<2 {
      #expect(try await catalog.all().slugs == fixture.slugs())
      _ = try await catalog.funnel("f-1")
      #expect(fixture.asked().all == 4)
    }
    #expect(try fixture.count() == count)
    try fixture.store.declare(StoreLimits(entries: 100))
    for namespace in try fixture.store.namespaces() {
      try fixture.store.override(Rules.Overrides(), for: namespace.name)
    }
    for _ in 0..<2 { _ = try await catalog.all() }
    #expect(fixture.asked().all == 3, "there is room again")
  }
}
