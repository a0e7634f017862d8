import ExampleTesting
import Foundation
import Larder
import Service
import Testing

@testable import LegoCache

/// Lists and their pages.
@Suite(.fixture(FakeRebrickable.self), .checkedStores) struct ListTests {
  private let fake = FakeRebrickable.current
  private func colors(_ count: Int) -> [String] {
    (0..<count).map { Body.color($0, "Colour \($0)") }
  }

  @Test func `addresses of next pages are followed as they stand`() async throws {
    fake.change { $0.lists["/lego/colors/"] = colors(5) }
    let lego = try LegoClient.temporary(of: fake)
    let list = LegoList.colors.sized(2).ordered(by: "-name,id")
    var steps: [[Int]] = []
    let all = try await lego.all(list) { steps.append([$0, $1]) }
    #expect(all.map(\.id) == [0, 1, 2, 3, 4])
    #expect(steps == [[2, 5], [4, 5], [5, 5]])
    #expect(
      fake.asked == [
        "/lego/colors/?ordering=-name%2Cid&page_size=2",
        "/lego/colors/?page=2&ordering=-name%252Cid&page_size=2",
        "/lego/colors/?page=3&ordering=-name%252Cid&page_size=2",
      ])
    #expect(try await lego.all(list) == all)
    #expect(try await lego.color(3)?.value.name == "Colour 3", "a list brings what is in it")
    #expect(fake.server.count == 3)
  }

  @Test func `an inventory has quantities, which its parts do not have alone`() async throws {
    let row = Body.element.dropLast() + #", "quantity": 12, "is_spare": false}"#
    for path in ["/lego/sets/1-1/parts/", "/lego/minifigs/fig-1/parts/"] {
      fake.change { $0.lists[path] = [String(row)] }
    }
    let lego = try LegoClient.temporary(of: fake)
    for set in ["1-1", "fig-1"] {
      let page = try await lego.page(.inventory(of: set))
      #expect(page.value.results.map(\.quantity) == [12])
    }
    #expect(try lego.cache?.count(of: .elements) == 0)
  }

  @Test func `every list is kept under its own words`() async throws {
    fake.change { $0.lists["/lego/parts/"] = [Body.part("3001")] }
    let lego = try LegoClient.temporary(of: fake)
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

  @Test func `the part of a list is not all there is to know of it`() async throws {
    fake.change { $0.lists["/lego/parts/"] = [Body.part("3001")] }
    fake.put(Body.part("3001", detail: true), at: "/lego/parts/3001/")
    let lego = try LegoClient.temporary(of: fake)
    _ = try await lego.page(.parts)
    #expect(try await lego.part("3001", policy: .cacheOnly)?.value.prints == nil)
    #expect(try await lego.part("3001")?.value.prints == ["3001pr0001"])
    #expect(try await lego.part("3001")?.source == .memory)
    #expect(fake.server.count == 2)

    _ = try await lego.page(.parts.sized(5))
    #expect(try await lego.part("3001")?.value.prints == ["3001pr0001"], "the list says the same")
    fake.change { $0.lists["/lego/parts/"] = [Body.part("3001", "Brick, renamed")] }
    fake.put(Body.part("3001", "Brick, renamed", detail: true), at: "/lego/parts/3001/")
    _ = try await lego.page(.parts.sized(6))
    #expect(try await lego.part("3001")?.value.name == "Brick, renamed")
    #expect(fake.server.count == 5)
  }

  @Test func `a part of a list will do while the service is gone`() async throws {
    let store = try Store.tested(clock: ManualClock())
    let fresh = try await FakeRebrickable.run { fake in
      fake.change { $0.lists["/lego/parts/"] = [Body.part("3001")] }
      let lego = LegoClient.over(store, of: fake)
      _ = try await lego.page(.parts)
      fake.refuse(503, "<html>down</html>")
      return try await lego.part("3001")
    }
    #expect(fresh?.source == .stale && fresh?.error is ServiceError)
    #expect(fresh?.value.name == "Brick 2 x 4")
  }

  @Test func `pages stay as long as their kind, and go when it is switched off`() async throws {
    fake.change {
      $0.lists["/lego/colors/"] = colors(2)
      $0.lists["/lego/sets/"] = [Body.set("1-1")]
    }
    let clock = ManualClock()
    let lego = try LegoClient.temporary(of: fake, clock: clock)
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
    #expect(fake.asked.last == "/lego/sets/" && fake.server.count == 3, "colours never end")
    try lego.cache?.clear()
    try await look()
    #expect(fake.server.count == 5)
  }

  @Test func `a page that is none, a circle, and a list that is not there`() async throws {
    let lego = try LegoClient.temporary(of: fake)
    await #expect(throws: ServiceError.self) { try await lego.page(.minifigs) }
    fake.put(
      #"{"count": 2, "next": "\#(fake.base)/lego/themes/", "results": []}"#, at: "/lego/themes/")
    let error = await #expect(throws: ServiceError.self) { try await lego.all(.themes) }
    #expect(error?.description.contains("one before it") == true)
    var walk = PageWalk(from: "0")
    for page in 1..<PageWalk.mostPages { try walk.follow("\(page)") }
    #expect(throws: ServiceError.self) { try walk.follow("\(PageWalk.mostPages)") }
    #expect(fake.server.count == 2)
    fake.put(#"{"detail": "no list"}"#, at: "/lego/sets/")
    await #expect(throws: ServiceError.self) { try await lego.page(.sets) }
  }
}
