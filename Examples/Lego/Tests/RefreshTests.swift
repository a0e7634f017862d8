import ExampleTesting

@testable import LegoCache

/// Passes over whole lists.
@Suite(.fixture(Fixture.self)) struct RefreshTests {
  private let fixture: Fixture
  private let lego: LegoClient
  private var fake: FakeRebrickable { fixture.fake }
  init() throws {
    fixture = .current
    lego = try fixture.client()
    fake.change { $0.lists["/lego/colors/"] = Body.colors(0..<25) }
  }

  private func count() throws -> Int? { try lego.cache?.namespace(of: .colors).count() }

  @Test func `a refresh stores what is new or changed, and removes what is gone`() async throws {
    let steps = Lines<[Int]>()
    let first = try await lego.refresh(.colors, pageSize: 10) { steps.add([$0, $1]) }
    #expect(first == RefreshReport(listed: 25) && steps.all == [[10, 25], [20, 25], [25, 25]])
    #expect(try await lego.color(7)?.source != .loaded)
    _ = try await lego.page(.colors.sized(3))
    fake.change { $0.lists["/lego/colors/"] = Body.colors(3..<24) + [Body.color(24, "Renamed")] }
    #expect(
      try await lego.refresh(.colors, pageSize: 10) == RefreshReport(listed: 22, removed: 3))
    #expect(try await lego.color(24)?.value.name == "Renamed" && count() == 22)
    #expect(try await lego.page(.colors.sized(3)).source == .loaded, "stored pages were removed")
    fake.change {
      $0.lists["/lego/sets/"] = [Body.set("1-1")]
      $0.lists["/lego/minifigs/"] = [Body.set("fig-1")]
    }
    #expect(try await lego.refresh(.sets) == RefreshReport(listed: 2))
    await #expect(throws: LarderError.self) { try await lego.refresh(.elements) }
  }

  @Test func `an incomplete refresh removes nothing`() async throws {
    _ = try await lego.refresh(.colors)
    fake.change { $0.lists["/lego/colors/"] = Body.colors(5..<30) }
    await #expect(throws: ServiceError.self) {
      try await lego.refresh(.colors, pageSize: 10) { [fake] done, _ in
        if done == 10 { fake.refuse(500, "") }
      }
    }
    #expect(try count() == 25)
    // One goes between two pages, so that all move up and another is missed.
    let report = try await lego.refresh(.colors, pageSize: 10) { [fake] done, _ in
      if done == 10 { fake.change { $0.lists["/lego/colors/"]?.removeFirst() } }
    }
    #expect(report.removed == 0 && report.faults.count == 1)
    fake.change { $0.lists["/lego/colors/"] = Body.colors(5..<7) + [#"{"id": 6}"#, "7"] }
    let other = try await lego.refresh(.colors)
    #expect(
      other.removed == 0 && other.faults.first == "/lego/colors/ 6: results[2].name is missing")
  }

  @Test(arguments: ["null", "7", "0", "-1", "\(Int.max)"])
  func `a count that is missing or wrong removes nothing`(count: String) async throws {
    _ = try await lego.refresh(.colors)
    fake.server.become { _ in
      .init(text: #"{"count": \#(count), "next": "", "results": [\#(Body.color(1))]}"#)
    }
    let report = try await lego.refresh(.colors)
    #expect(report.listed == 1 && report.removed == 0 && report.faults.count == 1)
  }

  @Test(arguments: ["?page=2", "/api/v3/lego/colors/?page=2", "?page_size=1000"])
  func `the address of a next page may be relative, and none comes twice`(next: String)
    async throws
  {
    fake.server.become { request in
      let isFirst = request.parameter("page") == nil
      let (id, next) = isFirst ? (1, next) : (2, "")
      return .init(text: #"{"count": 2, "next": "\#(next)", "results": [\#(Body.color(id))]}"#)
    }
    if next.hasSuffix("1000") {
      await #expect(throws: ServiceError.self) { try await lego.refresh(.colors) }
      #expect(fake.server.count == 1)
    } else {
      #expect(try await lego.refresh(.colors) == RefreshReport(listed: 2))
      #expect(fake.asked == ["/lego/colors/?page_size=1000", "/lego/colors/?page=2"])
    }
  }
}
