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

  private func count() throws -> Int { try lego.cache.namespace(of: .colors).count() }

  @Test func `a refresh stores what is new or changed, and removes what is gone`() async throws {
    #expect(try await lego.refresh(.colors, pageSize: 10) == RefreshReport(listed: 25))
    #expect(try await lego.color(7)?.source != .loaded && fake.asked.count == 3)
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
    fake.change { $0.lists["/lego/colors/"] = Body.colors(5..<7) + [#"{"id": 6}"#, "7"] }
    let report = try await lego.refresh(.colors)
    #expect(
      report.removed == 0 && report.faults[0] == "/lego/colors/ 6: results[2].name is missing")
    fake.refuse(500, "")
    await #expect(throws: ServiceError.self) { try await lego.refresh(.colors) }
    #expect(try count() == 25)
  }

  @Test func `a list that changes between two pages is read anew`() async throws {
    let isFirst = Atomic(true)
    fake.server.become { [fake] request in
      let answer = fake.answer(request)
      if isFirst.exchange(false, ordering: .relaxed) {
        fake.change { $0.lists["/lego/colors/"] = Body.colors(1..<25) }
      }
      return answer
    }
    #expect(try await lego.refresh(.colors, pageSize: 10) == RefreshReport(listed: 24))
    #expect(fake.asked.count == 5, "two of the old list, three of the new one")
  }

  @Test(arguments: ["null", "7", "0", "-1", "\(Int.max)"])
  func `a count that is missing or wrong removes nothing`(count: String) async throws {
    _ = try await lego.refresh(.colors)
    fake.server.become { _ in
      .init(json: #"{"count": \#(count), "next": "", "results": [\#(Body.color(1))]}"#)
    }
    let report = try await lego.refresh(.colors)
    #expect(report.listed == 1 && report.removed == 0 && report.faults.count == 1)
  }
}
