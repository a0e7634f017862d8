import ExampleTesting

@testable import LegoCache

/// Pages of lists, and their entities.
@Suite(.fixture(FakeRebrickable.self), .checkedStores) struct ListTests {
  private let fake = FakeRebrickable.current

  @Test func `an inventory has quantities, which its parts do not have alone`() async throws {
    let element = try Body.recorded("element-300121").trimmingBlanks
    let row = element.dropLast() + #", "quantity": 12, "is_spare": false}"#
    let lego = try LegoClient.tested(of: fake)
    for (set, path) in [("1-1", "/lego/sets/1-1/parts/"), ("fig-1", "/lego/minifigs/fig-1/parts/")]
    {
      fake.change { $0.lists[path] = [String(row)] }
      #expect(try await lego.page(.inventory(of: set)).value.results.map(\.quantity) == [12])
    }
    #expect(try lego.cache?.count(of: .elements) == 0)
  }

  @Test func `the count of a list may be text, null, missing or of another form`() throws {
    func count(_ json: String) throws -> Int? {
      let text = #"{\#(json) "next": null, "results": [\#(Body.color(4))]}"#
      let list = try JSONDecoder().decode(Listing<Color>.self, from: Data(text.utf8))
      #expect(list.results.count == 1)
      return list.count
    }
    #expect(try count(#""count": "275","#) == 275)
    for json in [#""count": null,"#, #""count": "many","#, #""count": 1.5,"#, ""] {
      #expect(try count(json) == nil)
    }
    for json in [#""-1""#, "-1"] {
      #expect(throws: DecodingError.self, "\(json)") { try count(#""count": \#(json),"#) }
    }
  }

  @Test func `a list is stored under its own words`() async throws {
    fake.change { $0.lists["/lego/parts/"] = [Body.part("3001")] }
    let lego = try LegoClient.tested(of: fake)
    let lists = [
      LegoList.parts, .parts.with("a", "1&b=2"), .parts.with("a", "1").with("b", "2"),
      .parts.with("a", "1\u{0}"), .parts.with("a", "1\u{0}2"), .parts.searching("brick 2 x 4"),
      .parts.with("part_nums", (0..<200).map { "300\($0)pr00" }.joined(separator: ",")),
    ]
    for list in lists { _ = try await lego.page(list) }
    #expect(Set(fake.asked).count == lists.count)
    #expect(fake.asked[1] == "/lego/parts/?a=1%26b%3D2" && fake.asked[2] == "/lego/parts/?a=1&b=2")
    #expect((fake.asked.map(\.utf8.count).max() ?? 0) > 2000)
    for list in lists { _ = try await lego.page(list) }
    _ = try await lego.page(LegoList.parts.with("b", "2").with("a", "1"))
    #expect(fake.server.count == lists.count)
  }

  @Test func `the list form of a part does not stand in for its detail form`() async throws {
    fake.change { $0.lists["/lego/parts/"] = [Body.part("3001")] }
    fake.put(Body.part("3001", detail: true), at: "/lego/parts/3001/")
    let lego = try LegoClient.tested(of: fake)
    _ = try await lego.page(.parts)
    #expect(try await lego.part("3001", .cacheOnly)?.value.prints == nil)
    #expect(try await lego.part("3001")?.value.prints == ["3001pr0001"])
    #expect(try await lego.part("3001")?.source == .memory)
    #expect(fake.server.count == 2)

    _ = try await lego.page(.parts.sized(5))
    #expect(try await lego.part("3001")?.value.prints == ["3001pr0001"], "the list says the same")
    fake.change { $0.lists["/lego/parts/"] = [Body.part("3001", "Brick, renamed")] }
    _ = try await lego.page(.parts.sized(6))
    let renamed = try await lego.part("3001")?.value
    #expect(renamed?.name == "Brick, renamed" && renamed?.prints == ["3001pr0001"])
    #expect(fake.server.count == 4)

    fake.change { $0.lists["/lego/parts/"] = [Body.part("3002")] }
    _ = try await lego.page(.parts.searching("newer"))
    fake.refuse(503, "<html>down</html>")
    let stale = try await lego.part("3002")
    #expect(stale?.source == .stale && stale?.error is ServiceError, "but without the service")
  }

  @Test(arguments: [false, true])
  func `a list leaves what only the detail form has, whose lifetime goes on`(isWhole: Bool)
    async throws
  {
    let clock = ManualClock()
    let lego = try LegoClient.tested(of: fake, clock: clock)
    func list(_ name: String) async throws {
      fake.change { $0.lists["/lego/parts/"] = [Body.part("3001", name)] }
      if isWhole {
        #expect(try await lego.refresh(.parts) == RefreshReport(listed: 1))
      } else {
        _ = try await lego.page(.parts, policy: .reload)
      }
    }
    fake.put(Body.part("3001", detail: true), at: "/lego/parts/3001/")
    fake.change { $0.lists["/lego/parts/"] = [Body.part("3001")] }
    _ = try await lego.part("3001")
    let end = clock.now.advanced(by: .days(7))
    clock.advance(by: .hours(1))
    _ = try await lego.page(.parts.sized(1))
    clock.advance(by: .days(6))
    try await list("Renamed")
    let entry = try lego.cache?.entities(Part.self)?.entry(for: "3001")
    #expect(entry?.expires == end && entry?.state == .fresh)
    clock.advance(by: .days(1))
    fake.refuse(503, "")
    let stale = try await lego.part("3001")
    #expect(stale?.source == .stale && stale?.value.name == "Renamed")
    #expect(stale?.value.prints == ["3001pr0001"] && stale?.value.alternates == ["3001old"])
    #expect(try await lego.part("3001")?.source == .loaded, "the detail form has its own time")
  }

  @Test func `a pair keeps the years that only an answer about one colour has`() async throws {
    fake.put(try Body.recorded("partcolor-3001-4"), at: "/lego/parts/3001/colors/4/")
    let row = #"{"color_id": 4, "color_name": "Red", "num_sets": 1, "elements": ["300121"]}"#
    fake.change { $0.lists["/lego/parts/3001/colors/"] = [row] }
    let lego = try LegoClient.tested(of: fake)
    _ = try await lego.entity(PartColor.self, "3001/4")
    _ = try await lego.page(.colors(of: "3001"))
    let pair = try await lego.entity(PartColor.self, "3001/4")?.value
    #expect(pair?.setCount == 1 && pair?.yearFrom == 1958 && pair?.yearTo == 2025)
    #expect(fake.server.count == 2)
  }

  @Test func `a pair keeps the colour's name that only lists tell`() async throws {
    let row = #"{"color_id": 4, "color_name": "Red", "part_img_url": null, "elements": ["300121"]}"#
    fake.change { $0.lists["/lego/parts/3001/colors/"] = [row] }
    fake.put(try Body.recorded("partcolor-3001-4"), at: "/lego/parts/3001/colors/4/")
    let lego = try LegoClient.tested(of: fake)
    _ = try await lego.page(.colors(of: "3001"))
    let pair = try await lego.entity(PartColor.self, "3001/4")?.value
    #expect(pair?.colorName == "Red" && pair?.yearFrom == 1958)
    #expect(try await lego.entity(PartColor.self, "3001/4")?.source == .memory)
    #expect(fake.server.count == 2)
  }

  @Test func `pages live as long as their kind, and are removed with it`() async throws {
    fake.change {
      $0.lists["/lego/colors/"] = Body.colors(0..<2)
      $0.lists["/lego/sets/"] = [Body.set("1-1")]
    }
    let clock = ManualClock()
    let lego = try LegoClient.tested(of: fake, clock: clock)
    func look() async throws {
      _ = try await lego.page(.colors)
      _ = try await lego.page(.sets)
    }
    try await look()
    clock.advance(by: .hours(24) - .milliseconds(1))
    try await look()
    #expect(fake.server.count == 2)
    clock.advance(by: .milliseconds(1))
    try await look()
    #expect(fake.asked.last == "/lego/sets/" && fake.server.count == 3, "colours never expire")
    try lego.cache?.clear()
    try await look()
    #expect(fake.server.count == 5)
    await #expect(throws: ServiceError.self) { try await lego.page(.minifigs) }
    fake.put(#"{"detail": "no list"}"#, at: "/lego/themes/")
    await #expect(throws: ServiceError.self) { try await lego.page(.themes) }
  }
}
