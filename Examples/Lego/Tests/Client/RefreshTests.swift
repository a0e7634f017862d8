import ExampleTesting

@testable import LegoCache

/// Passes over whole lists.
@Suite(.fixture(FakeRebrickable.self), .checkedStores) struct RefreshTests {
  private typealias Tally = ImportReport.Tally

  private let fake = FakeRebrickable.current

  @Test func `a refresh notices what is new, changed and gone`() async throws {
    fake.change { $0.lists["/lego/colors/"] = Body.colors(0..<25) }
    let lego = try LegoClient.tested(of: fake)
    let steps = Lines<[Int]>()
    let first = try await lego.refresh(.colors, pageSize: 10) { steps.add([$0.done, $0.total]) }
    #expect(first == Tally(added: 25) && steps.all == [[10, 25], [20, 25], [25, 25]])
    #expect(try await lego.color(7)?.value.name == "Colour 7")
    _ = try await lego.page(.colors)
    #expect(fake.server.count == 4, "all of them are there now")

    fake.change { state in
      state.lists["/lego/colors/"] =
        Body.colors(3..<24) + [Body.color(24, "Renamed"), Body.color(99)]
    }
    #expect(try await lego.page(.colors).value.results.count == 25)
    let second = try await lego.refresh(.colors, pageSize: 10)
    #expect(second == Tally(added: 1, changed: 1, unchanged: 21, removed: 3))
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
    let stopped = await #expect(throws: LegoImport.Stopped.self) { try await lego.refresh(.colors) }
    #expect(fake.asked == ["/lego/colors/?page_size=1000", next])
    #expect("\(try #require(stopped?.reason))".contains("one before it"))
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
    let report = try await lego.refresh([.sets, .sets])
    #expect(report.tallies == [.sets: Tally(added: 3)] && fake.server.count == 2)
    fake.change { $0.lists["/lego/sets/"] = [Body.set("2-1")] }
    #expect(try await lego.refresh(.sets) == Tally(unchanged: 2, removed: 1))
    fake.change { $0.lists["/lego/minifigs/"] = [] }
    #expect(
      try await lego.refresh(.sets) == Tally(unchanged: 1),
      "an empty list is a fault of the service")
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
    _ = try await lego.refresh([.parts, .sets])
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
    let report = try await lego.refresh([.colors])
    #expect(report.tallies == [.colors: Tally(changed: 1)] && report.skipped[.colors]?.count == 1)
  }

  @Test func `a detail form stays while the list has the same contents`() async throws {
    fake.change { $0.lists["/lego/parts/"] = [Body.part("3001"), Body.part("3002")] }
    fake.put(Body.part("3001", detail: true), at: "/lego/parts/3001/")
    let lego = try LegoClient.tested(of: fake)
    _ = try await lego.part("3001")
    #expect(try await lego.refresh(.parts) == Tally(added: 1, unchanged: 1))
    #expect(try await lego.part("3001")?.value.prints == ["3001pr0001"])
    #expect(fake.server.count == 2)
  }

  @Test func `an incomplete refresh removes nothing, and says how far it came`() async throws {
    fake.change {
      $0.lists["/lego/colors/"] = Body.colors(0..<20)
      $0.lists["/lego/themes/"] = [#"{"id": 4, "name": "Expert Builder"}"#]
    }
    let lego = try LegoClient.tested(of: fake)
    _ = try await lego.refresh(.colors, pageSize: 10)
    fake.change { $0.lists["/lego/colors/"] = Body.colors(5..<25) }
    let stopped = await #expect(throws: LegoImport.Stopped.self) {
      try await lego.refresh([.colors, .themes], pageSize: 10) { [fake] step in
        if step.done == 10 { fake.refuse(500, "") }
      }
    }
    #expect(stopped?.reason is ServiceError)
    #expect(stopped?.report.tallies == [.colors: Tally(unchanged: 10)])
    #expect(stopped?.report.failure?.kind == .colors)
    #expect(stopped?.report.omissions == [.themes: .notBegun])
    #expect(try lego.cache?.count() ?? 0 >= 20)
    // One goes between two pages, so that all move up and another is missed.
    let tally = try await lego.refresh(.colors, pageSize: 10) { [fake] step in
      if step.done == 10 { fake.change { $0.lists["/lego/colors/"]?.removeFirst() } }
    }
    #expect(tally == Tally(added: 5, unchanged: 14), "the list has changed")
    #expect(try await lego.refresh(.colors)?.removed == 6)
    #expect(try lego.cache?.counts().database == 19)
  }

  @Test func `entities that cannot be decoded are listed, and nothing is removed`() async throws {
    fake.change { $0.lists["/lego/colors/"] = Body.colors(0..<5) }
    let lego = try LegoClient.tested(of: fake)
    _ = try await lego.refresh(.colors)
    let bad = [#"{"id": 6, "rgb": "05131D", "is_trans": false}"#, "7", #"{"id": 1e99}"#]
    fake.change { $0.lists["/lego/colors/"] = Body.colors(1..<6) + bad }
    let report = try await lego.refresh([.colors])
    #expect(report.tallies == [.colors: Tally(added: 1, unchanged: 4)])
    #expect(report.skipped[.colors]?.count == 3)
    #expect(report.skipped[.colors]?.list.first == "/lego/colors/ 6: results[5].name is missing")
    #expect(try lego.cache?.counts().database == 6)
    let page = try await lego.page(.colors)
    #expect(page.value.results.count == 5 && page.value.skipped?.count == 3)
    #expect(try await lego.page(.colors).value == page.value, "the stored page tells it too")
  }

  @Test func `a failed refresh is an error, although an earlier one has a report`() async throws {
    fake.change { $0.lists["/lego/colors/"] = Body.colors(0..<3) }
    let lego = try LegoClient.tested(of: fake, plan: .memoryOnly)
    #expect(try await lego.refresh([.elements]).omissions == [.elements: .absent])
    #expect(fake.server.count == 0)
    #expect(try await lego.refresh(.colors) == Tally(added: 3))
    fake.refuse(500, "")
    await #expect(throws: LegoImport.Stopped.self) { try await lego.refresh(.colors) }
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
    #expect(try await lego.refresh(.colors) == Tally(added: 2))
    #expect(fake.asked == ["/lego/colors/?page_size=1000", "/lego/colors/?page=2"])
  }

  @Test(arguments: [Int.max, -1, 7, 0])
  func `a count that is wrong is told, and ends no program`(count: Int) async throws {
    let lego = try LegoClient.tested(of: fake)
    fake.server.become { _ in
      .init(200, text: #"{"count": \#(count), "next": null, "results": [\#(Body.set("1-1"))]}"#)
    }
    do {
      let report = try await lego.refresh([.sets])
      #expect(report.skipped[.sets]?.list.first?.contains("not as many as it says") == true)
      #expect((0...7).contains(count))
    } catch let stopped as LegoImport.Stopped {
      #expect("\(stopped.reason)".contains("count: \(count) is not possible"))
    }
  }
}
