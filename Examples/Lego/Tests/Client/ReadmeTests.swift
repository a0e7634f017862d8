import ExampleTesting
import Foundation
import Larder
import LarderURLSession
import LegoCache
import Testing

/// The program of the page is compiled and does what it says.
@Suite(.fixture(FakeRebrickable.self)) struct ReadmeTests {
  private let fake = FakeRebrickable.current

  @Test func `the program of the page asks once for a part and a list`() async throws {
    #expect(try PageProgram(of: "Lego/README.md").isIn(#filePath))
    fake.put(Body.part("3001", detail: true), at: "/lego/parts/3001/")
    fake.change {
      $0.lists["/lego/parts/"] = ["3001", "3002"].map { Body.part($0) }
      $0.lists["/lego/colors/"] = Body.colors(0..<5)
    }
    let folder = try TemporaryFolder()
    let (path, key) = (folder.url.path + "/store", FakeRebrickable.credential)
    let transport = LocalTransport(to: fake.server, over: URLSessionTransport())

    let lego = try LegoClient(at: path, plan: .default, credential: key, over: transport)
    let brick = try await lego.entity(Part.self, "3001")
    let bricks = try await lego.page(.parts.searching("brick 2 x").sized(20))
    let changes = try await lego.refresh([.colors])

    #expect(brick?.value.partNum == "3001" && bricks.value.results.count == 2)
    #expect(changes.tallies[.colors]?.added == 5)
    let asked = fake.asked.count
    #expect(try await lego.entity(Part.self, "3001")?.value == brick?.value)
    #expect(fake.asked.count == asked)
    try lego.cache?.larder.close()
  }
}
