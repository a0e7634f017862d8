import ExampleTesting

@testable import Departures

/// The built program, from outside, over the recording in the repository.
@Suite struct ProgramTests {
  private let program: TestedProgram
  private var folder: TemporaryFolder { program.folder }
  init() throws { program = try TestedProgram("larder-departures", store: "my store") }

  private func run(_ arguments: String...) async throws -> Outcome {
    try await program.run(arguments + ["--offline"])
  }

  private func json(_ arguments: String...) async throws -> JSON {
    let outcome = try await program.run(arguments + ["--offline", "--json"])
    #expect(outcome.code == 0 && outcome.error == "", "\(outcome)")
    return try JSONDecoder().decode(JSON.self, from: Data(outcome.output.utf8))
  }

  @Test func `a board shows the ships and its source`() async throws {
    _ = try await run("board", "8503651")
    let upcoming = try await run("board", "8503651", "--upcoming")
    #expect(!upcoming.output.contains("08:05") && upcoming.output.contains("09:35"))
    let lake = try await run("board", "zuerichsee", "--log")
    #expect(lake.output.contains("B\u{FC}rkliplatz") && lake.output.contains("Rapperswil"))
    #expect(lake.error.contains("boat.boards.") && lake.error.contains("1_2025-07-12: disk, "))
  }

  @Test func `a command waits for newer data and stores it`() async throws {
    let day = "board 8503651 --offline --day 2025-07-12 --now 2025-07-12T"
    try await program.check(
      """
      \(day)03:00:00+0200 | : from the service_
      \(day)03:30:00+0200 | : from the store,
      \(day)05:00:00+0200 | : from the service_
      \(day)05:30:00+0200 | : from the store,
      """)
  }

  @Test func `the sample has the difficulties of real bodies`() async throws {
    let board = try await json("board", "8503651")
    guard case .array(let departures)? = board["value"]?["departures"] else {
      throw CocoaError(.coderReadCorrupt)
    }
    #expect(departures.count == 8 && board["source"]?.text == "loaded")
    #expect(departures[0]["time"]?.text == "2025-07-12T06:05:00.000Z")
    #expect(departures.compactMap { $0["ship"]?.text }.first == "Limmat")
    for departure in departures {
      guard case .array(let calls)? = departure["calls"] else { continue }
      #expect(calls.count == 5, "no virtual stop")
      #expect(calls[2]["station"]?["name"]?.text == "8503677", "it has no name anywhere")
      #expect(calls[4]["station"]?["place"]?["latitude"]?.number == 47, "a whole number")
    }
    let back = try await run("board", "8503669").output
    #expect(back.contains("platform 2!") && back.contains("BAT 202   Z\u{FC}rich"))
    let empty = try await run("board", "8503669", "--day", "2025-07-13")
    #expect(empty.code == 0 && empty.output.contains("no departures"))
  }

  @Test(arguments: [
    ["lake", "zuerichsee"], ["lake", "thunersee"], ["search", "Thal"],
    ["favourites", "8503651", "8503669"], ["publish", "8503651"], ["widget", "8503651"],
  ]) func `every command works, with closing lines and as JSON`(command: [String]) async throws {
    _ = try await run("favourites", "8503651", "8503669")
    _ = try await run("publish")
    let words = try await program.run(command + ["--offline"])
    #expect(words.code == 0 && words.error == "", "\(words)")
    let answers = try await program.lastAnswers(of: words)
    #expect(answers.count >= 2 && !answers.contains(""), "\(words)")
    let json = try await program.run(command + ["--offline", "--json"])
    #expect(json.code == 0 && json.error == "")
    _ = try JSONDecoder().decode(JSON.self, from: Data(json.output.utf8))
  }

  @Test func `commands print source and age, and the widget obeys its settings`() async throws {
    try await program.check(
      """
      lake thunersee --offline                  | C, clear sky (from the service)
      lake thunersee --offline                  | C, clear sky (from the store,
      lake thunersee --offline --json           | "origin":"simulation" | "isStale":false
      search Thal --offline                     | stations, from the service
      search Thal --offline                     | stations, from the store,
      lake thunersee --offline --no-network --now 2025-07-12T08:50:00+0200 --json | "age":1
      search Thal --offline --no-network --now 2025-07-12T08:50:00+0200 --json    | "age":1
      favourites 8503651 --rows 1 --no-ships --offline | 1 loaded
      favourites --offline --json               | {"failed":0,"fresh":1,"loaded":0}
      publish --offline                         | 7 departures for the widget
      widget --offline                          | ^09:35  102   Rapperswil SG (See)  from Z\u{FC}rich
      board zuerichsee --offline                | B\u{FC}rkliplatz | ! ^8503681, 8503677, | ! : not in the timetable_
      board zuerichsee --now 2025-07-12T09:00:00+0200 --offline --no-network = 4 | B\u{FC}rkliplatz | ! , 8503653: the service cannot be reached: there is no network
      board thunersee --no-network = 4          | ! cannot be reached
      """)
  }

  @Test func `a station is found by its name, which breaks no row`() async throws {
    let fake = FakeServices()
    try await LocalServer.run { server in
      server.become { request in
        guard request.bare == "/v1/locations" else { return fake.answer(request.path) }
        let stations = #"""
          {"stations": [{"id": null, "name": "Thalwil, Weg 1"}, {"id": "1", "name": "Thalwil\n\u001b[2J"},
            {"id": "2", "name": "Thalwil (See)"}]}
          """#
        return .init(
          200, text: request.parameter("query") == "Bern" ? "{\"stations\": []}" : stations)
      }
      try await program.check(
        """
        board 'thalwil (see)' --base \(server.base)  | Landing 2 (See)
        board Thalwi --base \(server.base)           | Landing 1 (See) | ! of 2 stations
        search Thalwi --base \(server.base)          | _1        Thalwil \u{FFFD}[2J_2
        board Bern --base \(server.base) = 1         | ! ^error: there is no station Bern_
        """)
      server.become { request in
        guard request.bare == "/v1/locations" else { return fake.answer(request.path) }
        return .init(200, text: #"{"stations": [{"id": "3", "name": "Bern"}]}"#)
      }
      try await program.check(
        """
        board Bern --base \(server.base) = 1                | ! ^error: there is no station Bern_
        board Bern --policy reload --base \(server.base)    | Landing 3 (See)
        """)
    }
  }

  @Test func `a departure of yesterday that is late is among the upcoming ones`() async throws {
    let fake = FakeServices()
    fake.change { ($0.times, $0.delay) = (["23:50"], 20) }
    try await LocalServer.run { server in
      server.become { fake.answer($0.path) }
      let board = "board 8503651 --upcoming --base \(server.base) --boats \(server.base)/boats"
      // Of each day, at midnight: with the one that is late there are two.
      for (time, count) in [
        ("12T21:40:00Z", 1), ("12T22:02:00Z", 2), ("12T22:11:00Z", 1),
        ("12T22:02:00Z --day 2025-07-13", 1),
      ] {
        let words = "\(board) --now 2025-07-\(time)".split(separator: " ").map(String.init)
        let shown = try await program.run(words)
        #expect(
          shown.output.components(separatedBy: "23:50 +20").count == count + 1, "\(time): \(shown)")
      }
    }
  }

  @Test func `a late departure has the ship of the day at which it was due`() async throws {
    let fake = FakeServices()
    fake.change {
      ($0.times, $0.delay, $0.shipsByDay) = (["09:00"], 15 * 60 + 10, ["2025-07-12": "Linth"])
    }
    try await LocalServer.run { server in
      server.become { fake.answer($0.path) }
      let board = "board 1 --upcoming --base \(server.base) --boats \(server.base)/boats --now"
      try await program.check(
        """
        \(board) 2025-07-12T08:00:00+0200 | _09:00 +910 BAT 90 | (See)  (Linth)_
        \(board) 2025-07-13T00:05:00+0200 | (See)  (Linth)_09:00 | (See)  (Limmat)_
        """)
    }
  }

  @Test func `the recording changes nothing of the user's`() async throws {
    let fake = FakeServices()
    try await LocalServer.run { server in
      server.become { fake.answer($0.path) }
      let now = "--now 2025-07-12T08:30:00+0200"
      try await program.check(
        """
        favourites 8503651 --rows 1 \(now) --base \(server.base) | ^1 loaded
        publish \(now) --base \(server.base)      | ^8503651: 12 departures
        favourites 8503669 --rows 2 --offline      | ^1 loaded
        publish 8503651 --offline                  | ^8503651: 7 departures
        widget \(now) --base \(server.base) --json | ^[{ | "station":"Landing 8503651 (See)" | }]_
        widget \(now) = 2                          | ! none is saved
        favourites \(now) --base \(server.base) --no-network | ^0 loaded, 1 fresh
        board 8503651 \(now) --base \(server.base) --no-network | ^Landing 8503651 (See)
        board 8503669 \(now) --base \(server.base) --no-network = 4 | ! there is no network
        """)
    }
  }

  @Test func `a favourite counts once, and has a number`() async throws {
    try await program.check(
      """
      favourites 8503651 8503651 8503651 --rows 1 --offline | 1 loaded
      favourites 8503651 '' --offline = 2       | ! ^Error: The value '' is invalid
      publish '' --offline = 2                  | ! ^Error: The value '' is invalid
      publish 8503651 8503651 --offline         | ^8503651: 7 departures for the widget_
      widget --offline --json                   | ^[{
      favourites 'Zuerich HB' --offline = 2     | ! ^error: "Zuerich HB" is not the number of a station
      publish time --json --offline = 2         | ! is not the number
      widget 8503681 --offline = 1              | ! ^error: 8503681: nothing is published yet_hint:
      widget 8503651 8503681 --offline          | 09:35 | ! ^8503681: nothing is published yet
      widget --rows 0 --offline = 2             | ! 0 rows are not possible
      """)
    let shown = try await program.run("widget", "--offline")
    #expect(shown.output.components(separatedBy: "09:35").count == 2, "\(shown)")
  }

  @Test func `a record of a lake that is known is named`() async throws {
    let record =
      #"[{"id": "thunersee", "name": "Mine", "place": {"latitude": 46, "longitude": 8}, "stations": []}]"#
    let file = try folder.write("more.json", Array(record.utf8))
    let far = try folder.write("far.json", Array(record.replacing("8}", with: "1e40}").utf8))
    try await program.check(
      """
      lake thunersee --offline --lakes '\(file)' | Thunersee | ! there is a lake thunersee already
      lake thunersee --offline --lakes '\(far)' = 2 | ! no records of lakes: [0].place.longitude: 1e+40 degrees do not exist
      """)
  }

  @Test func `errors have their codes`() async throws {
    try await program.check(
      """
      board 1 --offline = 1                        | ! the station 1 is not in the timetable
      lake loch-ness --offline = 1                 | ! one of zuerichsee,
      lake '' --offline = 2                        | ! invalid
      board --offline = 2                          | ! ^Error:
      board 1 --boats ' ' --offline = 2            | ! ^Error: The value ' ' is invalid for '--boats
      board 1 --policy never --offline = 2         | ! ^Error:
      board 1 --day 2025-02-30 --offline = 2       | ! ^Error:
      board '' --offline = 2                       | ! invalid
      search --offline = 2                         | ! ^Error:
      search '' --offline = 2                      | ! ^Error: The value '' is invalid for '<name>'
      board 1 --now yesterday --offline = 2        | ! "yesterday" is not a time
      lake x --lakes /none --offline = 2           | ! /none has no records of lakes
      publish --offline = 2                        | ! no station is given
      favourites --offline = 2                     | ! no station is given
      favourites --rows 99 --offline = 2           | ! 99 rows are not possible
      widget --offline = 2                         | ! ^error: no station is given, and none is saved_
      """)
  }
}
