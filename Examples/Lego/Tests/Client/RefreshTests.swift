import ExampleTesting
import Foundation
import Larder
import Service
import Testing

@testable import LegoCache

/// Whole lists anew.
@Suite(.fixture(FakeRebrickable.self), .checkedStores) struct RefreshTests {
  private let fake = FakeRebrickable.current
  private func colors(_ ids: some Sequence<Int>) -> [String] {
    ids.map { Body.color($0, "Colour \($0)") }
  }

  @Test func `a refresh notices what is new, changed and gone`() async throws {
    fake.change { $0.lists["/lego/colors/"] = colors(0..<25) }
    let lego = try LegoClient.temporary(of: fake)
    var steps: [[Int]] = []
    let first = try await lego.refresh(.colors, pageSize: 10) { steps.append([$0, $1]) }
    #expect(first == ImportReport.Tally(added: 25))
    #expect(steps == [[10, 25], [20, 25], [25, 25]])
    #expect(try await lego.color(7)?.value.name == "Colour 7")
    #expect(fake.server.count == 3, "all of them are there now")

    fake.change { state in
      state.lists["/lego/colors/"] = colors(3..<24) + [Body.color(24, "Renamed"), Body.color(99)]
    }
    let second = try await lego.refresh(.colors, pageSize: 10)
    #expect(second == ImportReport.Tally(added: 1, changed: 1, unchanged: 21, removed: 3))
    #expect(try await lego.color(24)?.value.name == "Renamed")
    #expect(try await lego.color(2, policy: .cacheElseLoad) == nil, "asked for, and not there")
    #expect(try lego.cache?.cached(Color.self, key: "1") == nil)
  }

  @Test func `pages from before are not given after a refresh`() async throws {
    fake.change { $0.lists["/lego/colors/"] = colors(0..<3) }
    let lego = try LegoClient.temporary(of: fake)
    _ = try await lego.page(.colors)
    fake.change { $0.lists["/lego/colors/"] = colors(1..<3) }
    #expect(try await lego.page(.colors).value.results.map(\.id) == [0, 1, 2])
    _ = try await lego.refresh(.colors)
    #expect(try await lego.page(.colors).value.results.map(\.id) == [1, 2])
  }

  @Test func `sets and minifigs are one kind of two lists`() async throws {
    fake.change {
      $0.lists["/lego/sets/"] = [Body.set("1-1"), Body.set("2-1")]
      $0.lists["/lego/minifigs/"] = [Body.set("fig-000018")]
    }
    let lego = try LegoClient.temporary(of: fake)
    #expect(try await lego.refresh(.sets) == ImportReport.Tally(added: 3))
    fake.change { $0.lists["/lego/sets/"] = [Body.set("2-1")] }
    #expect(try await lego.refresh(.sets) == ImportReport.Tally(unchanged: 2, removed: 1))
    fake.change { $0.lists["/lego/minifigs/"] = [] }
    #expect(
      try await lego.refresh(.sets) == ImportReport.Tally(unchanged: 1),
      "an empty list is a fault of the service")
    #expect(try await lego.set("fig-000018")?.source != .loaded)
  }

  @Test func `a detail form stays while the list has the same contents`() async throws {
    fake.change { $0.lists["/lego/parts/"] = [Body.part("3001"), Body.part("3002")] }
    fake.put(Body.part("3001", detail: true), at: "/lego/parts/3001/")
    let lego = try LegoClient.temporary(of: fake)
    _ = try await lego.part("3001")
    #expect(try await lego.refresh(.parts) == ImportReport.Tally(added: 1, unchanged: 1))
    #expect(try await lego.part("3001")?.value.prints == ["3001pr0001"])
    #expect(fake.server.count == 2)
  }

  @Test func `an incomplete refresh removes nothing`() async throws {
    fake.change { $0.lists["/lego/colors/"] = colors(0..<20) }
    let lego = try LegoClient.temporary(of: fake)
    _ = try await lego.refresh(.colors, pageSize: 10)
    fake.change { $0.lists["/lego/colors/"] = colors(5..<25) }
    await #expect(throws: ServiceError.self) {
      try await lego.refresh(.colors, pageSize: 10) { done, _ in
        if done == 10 { fake.refuse(500, "") }
      }
    }
    #expect(try lego.cache?.count() ?? 0 >= 20)
    // One goes between two pages, so that all move up and another is missed.
    let tally = try await lego.refresh(.colors, pageSize: 10) { done, _ in
      if done == 10 { fake.change { $0.lists["/lego/colors/"]?.removeFirst() } }
    }
    #expect(tally == ImportReport.Tally(added: 5, unchanged: 14), "the list has changed")
    #expect(try await lego.refresh(.colors)?.removed == 6)
    #expect(try lego.cache?.counts().database == 19)
  }

  @Test func `a refresh that loses the service midway stores what came, and says how far it came`()
    async throws
  {
    fake.change {
      $0.lists["/lego/colors/"] = colors(0..<20)
      $0.lists["/lego/themes/"] = [Body.theme]
    }
    let lego = try LegoClient.temporary(of: fake)
    let stopped = await #expect(throws: LegoImport.Stopped.self) {
      try await lego.refresh([.colors, .themes], pageSize: 10) { step in
        if step.done == 10 { fake.refuse(500, "") }
      }
    }
    #expect(stopped?.report.tallies == [.colors: ImportReport.Tally(added: 10)])
    #expect(stopped?.report.omissions == [.themes: .notBegun])
    #expect(try lego.cache?.count() == 10)

    let program = try TestedProgram("larder-lego", store: "store")
    let refused = fake.server.received.count
    fake.server.become { [server = fake.server, fake] request in
      server.count > refused + 1 ? .init(503) : fake.answer(request)
    }
    let outcome = try await program.run(
      "refresh", "colors", "themes", "--page-size", "10", "--base", fake.base, "--key", "k")
    #expect(outcome.code == 4 && outcome.error.hasPrefix("error: the service answered 503"))
    #expect(outcome.output.contains("colors: stopped after 10 entities"), "\(outcome)")
    #expect(outcome.output.contains("themes left alone: it stopped before them"))
  }

  @Test func `entities that cannot be decoded are skipped and listed, and nothing is removed`()
    async throws
  {
    fake.change { $0.lists["/lego/colors/"] = colors(0..<5) }
    let lego = try LegoClient.temporary(of: fake)
    _ = try await lego.refresh(.colors)
    let bad = [#"{"id": 6, "rgb": "05131D", "is_trans": false}"#, "7", #"{"id": 1e99}"#]
    fake.change { $0.lists["/lego/colors/"] = colors(1..<6) + bad }
    let report = try await lego.refresh([.colors])
    #expect(report.tallies == [.colors: ImportReport.Tally(added: 1, unchanged: 4)])
    #expect(report.skipped[.colors]?.count == 3)
    #expect(report.skipped[.colors]?.list.first == "/lego/colors/ 6: results[5].name is missing")
    #expect(try lego.cache?.counts().database == 6)
    let page = try await lego.page(.colors)
    #expect(page.value.results.count == 5 && page.value.skipped?.count == 3)
    #expect(try await lego.page(.colors).value == page.value, "the stored page tells it too")

    let program = try TestedProgram("larder-lego", store: "store")
    let refresh = try await program.run(
      "refresh", "colors", "--base", fake.base, "--key", FakeRebrickable.credential)
    #expect(refresh.code == 4)
    #expect(refresh.output.contains("\ncolors: 3 rows skipped\n  /lego/colors/ 6: "))
    #expect(refresh.error.hasPrefix("error: 3 listed entities cannot be read"), "\(refresh)")
  }

  @Test func `kinds without a list cannot be refreshed, a plan without a disk can`() async throws {
    fake.change { $0.lists["/lego/colors/"] = colors(0..<3) }
    let lego = try LegoClient.temporary(of: fake)
    #expect(try await lego.refresh(.elements) == nil)
    #expect(fake.server.count == 0)
    let memory = try LegoClient.temporary(of: fake, plan: .memoryOnly)
    #expect(try await memory.refresh(.colors) == ImportReport.Tally(added: 3))
  }
}
