import ExampleTesting

@testable import LegoCache

/// Passes over whole lists.
@Suite(.fixture(FakeRebrickable.self), .checkedStores) struct RefreshTests {
  private let fake = FakeRebrickable.current

  @Test func `a refresh stores what is new or changed, and removes what is gone`() async throws {
    fake.change { $0.lists["/lego/colors/"] = Body.colors(0..<25) }
    let lego = try LegoClient.tested(of: fake)
    let steps = Lines<[Int]>()
    let first = try await lego.refresh(.colors, pageSize: 10) { steps.add([$0, $1]) }
    #expect(first == RefreshReport(listed: 25))
    #expect(steps.all == [[10, 25], [20, 25], [25, 25]])
    #expect(try await lego.color(7)?.value.name == "Colour 7")
    _ = try await lego.page(.colors)
    #expect(fake.server.count == 4, "all of them are there now")

    fake.change { state in
      state.lists["/lego/colors/"] =
        Body.colors(3..<24) + [Body.color(24, "Renamed"), Body.color(99)]
    }
    #expect(try await lego.page(.colors).value.results.count == 25)
    let second = try await lego.refresh(.colors, pageSize: 10)
    #expect(second == RefreshReport(listed: 23, removed: 3))
    #expect(try await lego.color(24)?.value.name == "Renamed")
    #expect(try await lego.color(2, .cacheElseLoad) == nil, "requested, and not there")
    #expect(try lego.cache?.cached(Color.self, key: "1") == nil)
    #expect(try await lego.page(.colors).value.results.count == 23, "stored pages were removed")
  }

  @Test func `addresses of next pages are followed as they are, and none twice`() async throws {
    let lego = try LegoClient.tested(of: fake)
    let next = "/lego/colors/?ordering=name%252Cid&page=2"
    fake.change { $0.lists["/lego/colors/"] = Body.colors(0..<1) }
    fake.server.become { [fake] request in
      let isFirst = request.path.hasSuffix("page_size=1000")
      let base = fake.base.replacing("http", with: "HTTP")
      let address = base + (isFirst ? next : "/lego/colors/?page_size=1000")
      return .init(
        200, text: #"{"count": 2, "next": "\#(address)", "results": [\#(Body.color(1))]}"#)
    }
    let error = await #expect(throws: ServiceError.self) { try await lego.refresh(.colors) }
    #expect(fake.asked == ["/lego/colors/?page_size=1000", next])
    #expect("\(try #require(error))".contains("one before it"))
    var walk = PageWalk(from: "0")
    for page in 1..<PageWalk.mostPages { try walk.follow("\(page)") }
    #expect(throws: ServiceError.self) { try walk.follow("\(PageWalk.mostPages)") }
  }

  @Test func `sets and minifigs are one kind of two lists`() async throws {
    fake.change {
      $0.lists["/lego/sets/"] = [Body.set("1-1"), Body.set("2-1")]
      $0.lists["/lego/minifigs/"] = [Body.set("fig-000018")]
    }
    let lego = try LegoClient.tested(of: fake)
    #expect(try await lego.refresh(.sets) == RefreshReport(listed: 3) && fake.server.count == 2)
    fake.change { $0.lists["/lego/sets/"] = [Body.set("2-1")] }
    #expect(try await lego.refresh(.sets) == RefreshReport(listed: 2, removed: 1))
    fake.change { $0.lists["/lego/minifigs/"] = [] }
    let report = try await lego.refresh(.sets)
    #expect(report.removed == 0 && report.faults.count == 1, "an empty list is a fault")
    #expect(try await lego.set("fig-000018")?.source != .loaded)
  }

  @Test func `only the pages of the list itself are removed`() async throws {
    fake.change { state in
      for path in ["/lego/sets/", "/lego/minifigs/"] { state.lists[path] = [Body.set("1-1")] }
      state.lists["/lego/sets/1-1/parts/"] = []
      state.lists["/lego/parts/"] = [Body.part("3001")]
      state.lists["/lego/parts/3001/colors/"] = []
    }
    let lego = try LegoClient.tested(of: fake)
    func look(_ policy: RequestPolicy) async throws {
      _ = try await lego.page(.inventory(of: "1-1"), policy: policy)
      _ = try await lego.page(.parts.searching("brick").sized(20), policy: policy)
      _ = try await lego.page(.colors(of: "3001"), policy: policy)
    }
    try await look(.standard)
    _ = try await lego.page(.parts.sized(20))
    for kind in [EntityKind.parts, .sets] { _ = try await lego.refresh(kind) }
    try await look(.cacheOnly)
    await #expect(throws: LarderError.self) {
      try await lego.page(.parts.sized(20), policy: .cacheOnly)
    }
  }

  @Test func `a list that does not say how many it has removes nothing`() async throws {
    fake.change { $0.lists["/lego/colors/"] = Body.colors(0..<2) }
    let lego = try LegoClient.tested(of: fake)
    _ = try await lego.refresh(.colors)
    fake.server.become { _ in
      .init(200, text: #"{"count": null, "next": null, "results": [\#(Body.color(0, "Black"))]}"#)
    }
    let report = try await lego.refresh(.colors)
    #expect(report.listed == 1 && report.removed == 0 && report.faults.count == 1)
  }

  @Test func `an incomplete refresh removes nothing`() async throws {
    fake.change { $0.lists["/lego/colors/"] = Body.colors(0..<20) }
    let lego = try LegoClient.tested(of: fake)
    _ = try await lego.refresh(.colors, pageSize: 10)
    fake.change { $0.lists["/lego/colors/"] = Body.colors(5..<25) }
    await #expect(throws: ServiceError.self) {
      try await lego.refresh(.colors, pageSize: 10) { [fake] done, _ in
        if done == 10 { fake.refuse(500, "") }
      }
    }
    #expect(try lego.cache?.count() == 20)
    // One goes between two pages, so that all move up and another is missed.
    let report = try await lego.refresh(.colors, pageSize: 10) { [fake] done, _ in
      if done == 10 { fake.change { $0.lists["/lego/colors/"]?.removeFirst() } }
    }
    #expect(report.listed == 19 && report.removed == 0 && report.faults.count == 1)
    #expect(try await lego.refresh(.colors) == RefreshReport(listed: 19, removed: 6))
    #expect(try lego.cache?.counts().database == 19)
  }

  @Test func `entities that cannot be decoded are listed, and nothing is removed`() async throws {
    fake.change { $0.lists["/lego/colors/"] = Body.colors(0..<5) }
    let lego = try LegoClient.tested(of: fake)
    _ = try await lego.refresh(.colors)
    let bad = [#"{"id": 6, "rgb": "05131D", "is_trans": false}"#, "7", #"{"id": 1e99}"#]
    fake.change { $0.lists["/lego/colors/"] = Body.colors(1..<6) + bad }
    let report = try await lego.refresh(.colors)
    #expect(report.listed == 5 && report.removed == 0 && report.faults.count == 3)
    #expect(report.faults.first == "/lego/colors/ 6: results[5].name is missing")
    #expect(try lego.cache?.counts().database == 6)
    let page = try await lego.page(.colors)
    #expect(page.value.results.count == 5 && page.value.skipped?.count == 3)
    #expect(try await lego.page(.colors).value == page.value, "the stored page tells it too")
  }

  @Test func `a failed refresh is an error, although an earlier one has a report`() async throws {
    fake.change { $0.lists["/lego/colors/"] = Body.colors(0..<3) }
    let lego = try LegoClient.tested(of: fake, plan: .memoryOnly)
    await #expect(throws: LarderError.self) { try await lego.refresh(.elements) }
    #expect(fake.server.count == 0)
    #expect(try await lego.refresh(.colors) == RefreshReport(listed: 3))
    fake.refuse(500, "")
    await #expect(throws: ServiceError.self) { try await lego.refresh(.colors) }
  }

  @Test(arguments: ["?page=2", "/api/v3/lego/colors/?page=2"])
  func `the address of a next page may be relative, and an empty one is none`(next: String)
    async throws
  {
    let lego = try LegoClient.tested(of: fake)
    fake.server.become { request in
      let isFirst = request.parameter("page") == nil
      let (id, next) = isFirst ? (1, next) : (2, "")
      return .init(200, text: #"{"count": 2, "next": "\#(next)", "results": [\#(Body.color(id))]}"#)
    }
    #expect(try await lego.refresh(.colors) == RefreshReport(listed: 2))
    #expect(fake.asked == ["/lego/colors/?page_size=1000", "/lego/colors/?page=2"])
  }

  @Test(arguments: [Int.max, -1, 7, 0])
  func `a count that is wrong is told, and ends no program`(count: Int) async throws {
    let lego = try LegoClient.tested(of: fake)
    fake.server.become { _ in
      .init(200, text: #"{"count": \#(count), "next": null, "results": [\#(Body.set("1-1"))]}"#)
    }
    do {
      let report = try await lego.refresh(.sets)
      #expect(report.faults.first?.contains("not as many as it says") == true)
      #expect((0...7).contains(count))
    } catch let error as ServiceError {
      #expect("\(error)".contains("count: \(count) is not possible"))
    }
  }
}
