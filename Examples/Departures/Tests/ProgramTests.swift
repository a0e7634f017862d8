import ExampleTesting
import Foundation
import Larder
import Testing

@testable import Departures

/// The built program, from outside, with the recorded answers in the place of the services.
@Suite struct ProgramTests {
  private let folder: TemporaryFolder
  private var store: String { folder.url.path + "/my store" }

  init() throws { folder = try TemporaryFolder() }

  private func run(_ arguments: String...) async throws -> Outcome {
    try await Outcome(of: ["larder-departures"] + arguments + ["--offline", "--store", store])
  }

  private struct Answer<Value: Decodable>: Decodable {
    var value: Value
    var source: String
  }

  @Test func `a board, with the ships, where it came from, and ways to look at it that work`()
    async throws
  {
    let first = try await run("board", "8503651")
    #expect(first.code == 0 && first.error == "")
    let lines = first.output.split(separator: "\n").map(String.init)
    #expect(lines[0] == "Z\u{FC}rich B\u{FC}rkliplatz (See), 2025-07-12: loaded, 0 s old")
    #expect(lines[1] == "08:05     BAT 101   Rapperswil SG (See)  platform 1AB  (Limmat)")
    #expect(lines.count == 13)
    #expect(try await run("board", "8503651").output.contains(": disk, 0 s old"))
    let held = try Store(at: store)
    let commands = try ShellLines.commands(in: first.output)
    let answers = try ShellLines.run(commands, in: held)
    #expect(answers[0].contains("8503651_2025-07-12"), "\(answers)")
    #expect(answers.allSatisfy { $0 != "" })
    try held.finish()
  }

  @Test func `a program waits for what is newer than it has, and keeps it`() async throws {
    let board = ["board", "8503651", "--day", "2025-07-12"]
    func said(at now: String) async throws -> String? {
      let outcome = try await Outcome(
        of: ["larder-departures"] + board + ["--offline", "--store", store, "--now", now])
      return outcome.output.split(separator: "\n").first.map(String.init)
    }
    #expect(try await said(at: "2025-07-12T03:00:00+0200")?.hasSuffix(": loaded, 0 s old") == true)
    #expect(try await said(at: "2025-07-12T03:30:00+0200")?.contains(": disk, ") == true)
    #expect(try await said(at: "2025-07-12T05:00:00+0200")?.hasSuffix(": loaded, 0 s old") == true)
    #expect(try await said(at: "2025-07-12T05:30:00+0200")?.contains(": disk, ") == true)
  }

  @Test func `the sample has the traps of the real bodies, and they are seen to`() async throws {
    let board = try JSONDecoder().decode(
      Answer<Board>.self, from: Data(try await run("board", "8503651", "--json").output.utf8)
    ).value
    #expect(board.departures.count == 8 && !board.isLive)
    for departure in board.departures {
      #expect(departure.calls.first?.station == board.station)
      #expect(departure.calls.count == 5, "no virtual stop")
      #expect(departure.calls[2].station.name == "8503677", "no name is said anywhere")
      #expect(departure.calls.last?.station.place?.latitude == 47, "a whole number")
    }
    let back = try await run("board", "8503669").output
    #expect(back.contains("platform 2!") && back.contains("BAT 202   Z\u{FC}rich"))
    let empty = try await run("board", "8503669", "--day", "2025-07-13")
    #expect(empty.code == 0 && empty.output.contains("nothing leaves"))
  }

  @Test func `every command says what it is for, in words and for programs`() async throws {
    for command in [
      ["lake", "zuerichsee"], ["lake", "thunersee"], ["search", "Thal"],
      ["search", "--near", "47.3,8.5"],
      ["way", "8503651", "8503669"], ["favourites", "8503651", "8503669"], ["publish"], ["widget"],
      ["usage"],
    ] {
      let words = try await Outcome(
        of: ["larder-departures"] + command + ["--offline", "--store", store])
      #expect(words.code == 0 && words.error == "", "\(command): \(words.error)")
      let held = try Store(at: store)
      let commands = try ShellLines.commands(in: words.output)
      #expect(commands.count >= 2)
      #expect(try ShellLines.run(commands, in: held).allSatisfy { $0 != "" }, "\(commands)")
      try held.finish()
      let json = try await Outcome(
        of: ["larder-departures"] + command + ["--offline", "--store", store, "--json"])
      #expect(json.code == 0 && json.error == "")
      for line in json.output.split(separator: "\n") {
        _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
      }
    }
    #expect(
      try await run("widget", "--rows", "1").output.hasPrefix(
        "09:35  102   Rapperswil SG (See)  (Linth)")
    )
    #expect(try await run("lake", "thunersee").output.contains("18.7 C, by a simulation"))
    #expect(try await run("clear-tiles").code == 0)
  }

  /// A recording in which some requests fail.
  private func recording(failing paths: [String: Int]) throws -> String {
    let sample = Folders.examples.appending(path: "Departures/Sample")
    let answers = try JSONSerialization.jsonObject(
      with: Data(contentsOf: sample.appending(path: "answers.json")))
    var list = paths.map { ["path": $0.key, "status": $0.value] as [String: Any] }
    list += (answers as? [[String: Any]] ?? []).map { answer in
      answer.merging(["file": "\(sample.path)/\(answer["file"] ?? "")"]) { $1 }
    }
    for index in list.indices where list[index]["file"] != nil {
      // Files are looked for in the folder of the recording.
      let file = URL(filePath: list[index]["file"] as? String ?? "")
      let bytes = try Data(contentsOf: file)
      _ = try folder.write(file.lastPathComponent, bytes)
      list[index]["file"] = file.lastPathComponent
    }
    _ = try folder.write("now", Data(contentsOf: sample.appending(path: "now")))
    _ = try folder.write("answers.json", JSONSerialization.data(withJSONObject: list))
    return folder.url.path
  }

  @Test func `without names of ships there are boards all the same, and it is said why`()
    async throws
  {
    let broken = ["--recording", try recording(failing: ["/boats/*": 503])]
    func run(_ arguments: String...) async throws -> Outcome {
      try await Outcome(
        of: ["larder-departures"] + arguments + broken + ["--offline", "--store", store])
    }
    let board = try await run("board", "8503651")
    #expect(board.code == 0 && board.output.contains("08:05     BAT 101   Rapperswil SG (See)"))
    #expect(!board.output.contains("(Limmat)"))
    #expect(board.error == "names of ships: the service answered 503: no reason given\n")
    #expect(try await run("favourites", "8503651", "8503669").code == 0)
    let publish = try await run("publish")
    #expect(publish.code == 0 && publish.error.hasPrefix("names of ships: "))
    #expect(publish.output.contains("8503651: 7 departures for the widget"))
    let lake = try await run("lake", "thunersee")
    #expect(lake.code == 0 && lake.output.contains("water  18.7 C, by a simulation"))
    #expect(lake.output.contains("air    20.0 C") && !lake.output.contains("  level"))
    #expect(lake.error == "level: the service answered 503: no reason given\n")
  }

  @Test func `the policy is that of the ships as well`() async throws {
    #expect(try await run("board", "8503651").output.contains("(Limmat)"))
    let broken = ["--recording", try recording(failing: ["/boats/*": 503])]
    for (policy, error) in [("cacheOnly", ""), ("cacheElseLoad", ""), ("revalidate", "names of")] {
      let board = try await Outcome(
        of: ["larder-departures", "board", "8503651", "--policy", policy] + broken + [
          "--offline", "--store", store,
        ])
      #expect(board.code == 0 && board.output.contains("(Limmat)"), "\(policy)")
      #expect(error == "" ? board.error == "" : board.error.hasPrefix(error), "\(policy)")
    }
  }

  @Test func `where no station is named it is said how to`() async throws {
    for command in ["publish", "favourites"] {
      let outcome = try await run(command)
      #expect(outcome.code == 2 && outcome.output == "", "\(command)")
      #expect(
        outcome.error.hasPrefix("error: no station is named, and none is saved\nhint: larder-"))
    }
    let widget = try await run("widget")
    #expect(widget.code == 0 && widget.error == "no station is named, and none is saved\n")
  }

  @Test func `figures stand in columns`() async throws {
    _ = try await run("lake", "thunersee")
    let lines = try await run("usage").output.split(separator: "\n")
    let table = lines.prefix { $0 != "Look at it:" }
    #expect(table.count > 3 && Set(table.map(\.count)).count == 1, "\(table)")
    #expect(table.contains { $0.hasPrefix("temperatures ") })
  }

  @Test func `a station that fails keeps no other one from the widget`() async throws {
    let publish = try await run("publish", "1", "8503651")
    #expect(publish.code == 4 && publish.output.contains("8503651: 7 departures"))
    #expect(publish.error == "1: the station 1 is not in the timetable\n")
  }

  @Test func `of a lake that nobody tells anything of there is nothing to show`() async throws {
    let broken = try recording(failing: ["/boats/*": 503, "/weather/*": 401, "/simulations/*": 500])
    let lake = try await run("lake", "thunersee", "--recording", broken)
    #expect(lake.code == 4 && lake.output == "")
    #expect(lake.error.contains("weather: the service answered 401"))
    #expect(lake.error.contains("error: nobody tells anything of Thunersee"))
  }

  @Test func `a lake from a file`() async throws {
    let file = try folder.write(
      "lakes.json",
      Array(
        #"""
        [{"id": "sarnersee", "name": "Sarnersee", "place": {"latitude": 46.87, "longitude": 8.21},
          "simulation": "sarnen", "stations": []}]
        """#.utf8))
    let outcome = try await run("lake", "sarnersee", "--lakes", file)
    #expect(outcome.code == 0 && outcome.output.contains("water  18.7 C"))
  }

  @Test func `what is not there is exit code 1, and what cannot be asked for is 2`() async throws {
    let station = try await run("board", "1")
    #expect(station.code == 1 && station.error.contains("the station 1 is not in the timetable"))
    let lake = try await run("lake", "loch-ness")
    #expect(lake.code == 1 && lake.error.contains("one of zuerichsee, "))
    for arguments in [
      ["board"], ["board", "1", "--policy", "never"], ["board", "1", "--day", "2025-02-30"],
      ["search"],
      ["board", "1", "--now", "yesterday"], ["frobnicate"], ["lake", "x", "--lakes", "/none"],
      ["board", "1", "--recording", "/none", "--offline"],
    ] {
      let outcome = try await Outcome(of: ["larder-departures"] + arguments + ["--store", store])
      #expect(outcome.code == 2 && outcome.output == "", "\(arguments): \(outcome.code)")
    }
    let help = try await Outcome(of: ["larder-departures", "--help"])
    #expect(help.code == 0 && help.output.contains("SUBCOMMANDS"))
  }

  @Test func `without the service what is stored is shown, or there is a hint`() async throws {
    let gone = [
      "--base", "http://127.0.0.1:1", "--store", store, "--now", "2025-07-12T09:00:00+0200",
    ]
    let nothing = try await Outcome(of: ["larder-departures", "board", "8503651"] + gone)
    #expect(nothing.code == 4 && nothing.error.contains("cannot be reached"))
    #expect(nothing.error.contains("hint: "))
    #expect(try await run("board", "8503651").code == 0)
    let stale = try await Outcome(
      of: [
        "larder-departures", "board", "8503651", "--day", "2025-07-12", "--policy", "revalidate",
      ]
        + gone)
    #expect(stale.output.contains(": stale, past its freshness, "))
    #expect(
      stale.output.contains("the service cannot be reached") && stale.output.contains("BAT 101"))
  }

  @Test(.enabled(if: Outcome.canFakeTerminal, "skipped: no script command"))
  func `at a terminal favourites show how far they are`() async throws {
    let outcome = try await Outcome(atTerminal: [
      "larder-departures", "favourites", "8503651", "8503669", "--offline", "--store", store,
    ])
    #expect(outcome.code == 0)
    #expect(
      outcome.output.contains("boards      [") && outcome.output.contains("2 loaded, 0 fresh"))
  }
}
