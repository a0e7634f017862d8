import ExampleTesting
import Foundation
import Testing

@testable import Departures

/// The built program: stations by name, landings of a lake, the map, and what all of it takes.
@Suite struct PlaceProgramTests {
  private let program: TestedProgram

  init() throws { program = try TestedProgram("larder-departures", store: "my store") }

  private func run(_ arguments: String...) async throws -> Outcome {
    try await program.run(arguments + ["--offline"])
  }

  @Test func `a tile of the map is saved and stored, and the usage shows the limits`() async throws
  {
    let file = program.folder.url.path + "/tile.png"
    let tile = ["tile", "12", "2145", "1435", "--output", file]
    #expect(try await program.run(tile + ["--offline"]).code == 1, "not recorded")
    let fake = FakeServices()
    try await LocalServer.run { server in
      server.become { fake.answer($0.path) }
      let saved = try await program.run(tile + ["--base", server.base])
      #expect(saved.code == 0 && saved.output.hasPrefix("20000 bytes, from the service\n"))
    }
    #expect(try Data(contentsOf: URL(filePath: file)) == Data(repeating: 7, count: 20_000))
    let again = try await program.run(tile + ["--no-network"])
    #expect(again.output.hasPrefix("20000 bytes, from the store, "), "\(again)")
    let usage = try await run("usage")
    #expect(usage.output.contains("\nboat.tiles "))
    #expect(usage.output.contains(" of 100,000,000 bytes; memory: "), "\(usage)")
    #expect(usage.output.contains(" of 50,000,000 bytes\n"))
  }

  @Test func `a station is found by its name`() async throws {
    let fake = FakeServices()
    try await LocalServer.run { server in
      server.become { request in
        guard request.bare == "/v1/locations" else { return fake.answer(request.path) }
        let stations = #"""
          {"stations": [{"id": null, "name": "Thalwil, Weg 1"}, {"id": "1", "name": "Thalwil"},
            {"id": "2", "name": "Thalwil (See)"}]}
          """#
        return .init(
          200, text: request.parameter("query") == "Bern" ? "{\"stations\": []}" : stations)
      }
      for (name, id) in [("thalwil (see)", "2"), ("Thalwi", "1")] {
        let board = try await program.run(["board", name, "--base", server.base])
        #expect(board.code == 0, "\(board)")
        #expect(fake.asked.last { $0.contains("/stationboard") }?.contains("id=\(id)&") == true)
      }
      let none = try await program.run(["board", "Bern", "--base", server.base])
      #expect(none.code == 1 && none.error == "error: there is no station Bern\n")
    }
  }

  @Test func `a lake shows the landings that have a board, and names the others`() async throws {
    let lake = try await run("board", "zuerichsee")
    #expect(lake.code == 0 && lake.error.hasPrefix("8503681, 8503677, "))
    #expect(lake.error.hasSuffix(": not in the timetable\n"))
    let later = ["board", "zuerichsee", "--now", "2025-07-12T09:00:00+0200", "--no-network"]
    let offline = try await program.run(later)
    #expect(offline.code == 4 && offline.output.contains("B\u{FC}rkliplatz"), "\(offline)")
    #expect(offline.error.contains(", 8503653: the service cannot be reached: there is no network"))
    #expect(try await program.run(["board", "thunersee", "--no-network"]).code == 4)
  }
}
