import ExampleTesting

@testable import Departures

/// The built program, when a service refuses or fails.
@Suite struct FaultProgramTests {
  private let program: TestedProgram
  private var folder: TemporaryFolder { program.folder }
  init() throws { program = try TestedProgram("larder-departures", store: "my store") }

  /// A recording in which some requests fail.
  private func recording(failing paths: [String: Int]) throws -> String {
    let sample = Folders.examples.appending(path: "Departures/Sample")
    let answers = try JSONSerialization.jsonObject(
      with: Data(contentsOf: sample.appending(path: "answers.json")))
    let list = paths.map { ["path": $0.key, "status": $0.value] as [String: Any] }
    for file in try FileManager.default.contentsOfDirectory(atPath: sample.path) {
      _ = try folder.write(file, Data(contentsOf: sample.appending(path: file)))
    }
    _ = try folder.write(
      "answers.json",
      JSONSerialization.data(withJSONObject: list + (answers as? [[String: Any]] ?? [])))
    return folder.url.path
  }

  @Test(arguments: [401, 403])
  func `a refused board is exit code 5, also where a stored one is shown`(status: Int) async throws
  {
    #expect(try await program.run(["board", "8503651", "--offline"]).code == 0)
    let board = "board 8503651 --offline --policy revalidate --recording "
    let failing = board + "'\(try recording(failing: ["/v1/*": status]))'"
    let refused = "--offline --now 2025-07-13T04:30:00+0200 --recording '\(folder.url.path)'"
    let (reason, end) = ("answered \(status)", "error: the service answered \(status): no reason")
    try await program.check(
      """
      \(failing) = 5        | Rapperswil SG (See) | stale | \(reason) | ! ^\(end)
      \(failing) --json = 5 | Rapperswil SG (See) | stale | \(reason) | ! ^\(end)
      publish 8503651 \(refused) = 5    | ! 8503651: the service \(reason)
      favourites 8503669 \(refused) = 5 | 0 loaded, 0 fresh already, 1 failed | ! 8503669: the service \(reason)
      """)
  }

  @Test func `a refused key of the weather is named, and no other part needs it`() async throws {
    let lake = "lake thunersee --offline --recording '\(folder.url.path)'"
    let hint = "hint: give a valid credential: --weather-key_"
    _ = try recording(failing: ["/weather/*": 401])
    try await program.check(
      "\(lake) = 5 | water  18.7 C | ! ^weather: the service answered 401 | ! \(hint)")
    _ = try recording(failing: ["/weather/*": 403, "/boats/*": 503, "/simulations/*": 503])
    try await TestedProgram("larder-departures", store: "other").check(
      "\(lake) = 5 | ! \(hint)")
  }

  @Test func `runs left out are counted and named, at any spelling of the address`() async throws {
    try await LocalServer.run { server in
      server.become { _ in
        .init(
          200,
          text: #"""
            {"station": {"id": "1", "name": "A"}, "stationboard": [7,
              {"stop": {"departure": "2025-07-12T09:05:00+0200"}, "number": "16", "to": "B"}]}
            """#)
      }
      let board = "board 1 --now 2025-07-12T08:30:00+0200 --base"
      let gap = "1 left out: stationboard[0] is not an object"
      try await program.check(
        """
        \(board) ' \(server.base.uppercased())/ '    | 09:05 | ! 1: \(gap)_
        \(board) \(server.base) --json              | "skipped":["stationboard[0] is not an object"] | ! 1: \(gap)_
        """)
      #expect(server.received.first?.path.hasPrefix("/v1/") == true)
    }
  }

  @Test func `a board that ends before its day says so`() async throws {
    let fake = FakeServices()
    fake.change { $0.atOnce = 300 }
    try await LocalServer.run { server in
      server.become { fake.answer($0.path) }
      let board = "board 1 --now 2025-07-12T08:30:00+0200 --base \(server.base)"
      try await program.check(
        """
        \(board)         | 09:00     BAT | ! ^1: reaches until 09:00 only_
        \(board) --json  | "reaches":"2025-07-12T07:00:00.000Z" | ! ^1: reaches until
        """)
    }
  }

  @Test func `without ship names there are boards all the same, with the reason`() async throws {
    let broken = "--offline --recording '\(try recording(failing: ["/boats/*": 503]))'"
    let other = try TestedProgram("larder-departures", store: "other")
    let reason = "the service answered 503: no reason given"
    let day = "board 8503669 --day 2025-07-13"
    try await program.check(
      """
      \(day) --offline
      \(day) --policy cacheOnly \(broken)
      \(day) --policy cacheElseLoad \(broken)
      \(day) --policy revalidate \(broken) | ! ^names of ships
      """)
    try await other.check(
      """
      board 8503651 \(broken)     | 08:05     BAT 101   Rapperswil SG (See)  platform 1AB_ | ! ^names of ships: \(reason)_
      lake thunersee \(broken)    | water  18.7 C, by a simulation | ! ^level: \(reason)_
      publish 1 8503651 \(broken) = 4 | 8503651: 7 departures | ! 1: the station 1 is not in the timetable_
      """)
  }

  @Test func `what two addresses of boats have is apart, and what neither has is named`()
    async throws
  {
    try await LocalServer.run { server in
      let fake = FakeServices()
      server.become { request in
        let parts = request.bare.split(separator: "/")
        switch parts.last {
        case "ships":
          return .init(
            200,
            text:
              #"{"dailyDeployments": [{"date": "2025-07-12", "routes": [{"shipName": "Ship \#(parts[0])", "courseNumber": "90"}]}]}"#
          )
        case "lakes":
          let level = parts[0] == "c" ? "null" : #""\#(parts[0].count)0\#(parts[0].count) m""#
          return .init(
            200, text: #"{"lakes": [{"name": "Z\u00fcrichsee", "waterLevel": \#(level)}]}"#)
        default: return fake.answer(request.path)
        }
      }
      func row(_ command: String, _ boats: String) -> String {
        "\(command) --now 2025-07-12T08:30:00+0200 --base \(server.base) --boats \(server.base)/\(boats)"
      }
      fake.change { $0.simulated = [nil, nil, nil, nil] }
      let water = "! temperature: neither source has a value of Z\u{FC}richsee_"
      try await program.check(
        """
        \(row("board 1", "a"))           | (Ship a)
        \(row("board 1", "bb"))          | (Ship bb)
        \(row("board 1", "bb")) --json   | "ship":"Ship bb"
        \(row("lake zuerichsee", "a"))   | level  101.0 m | \(water)
        \(row("lake zuerichsee", "bb"))  | level  202.0 m | \(water)
        \(row("lake zuerichsee", "c")) --json  | "level":"the report has no value of Z | \(water)
        """)
    }
  }

  @Test func `a lake without any data is an error, one from a file is known`() async throws {
    _ = try recording(failing: ["/boats/*": 503, "/weather/*": 503, "/simulations/*": 500])
    let record = #"""
      [{"id": "sarnersee", "name": "Sarnersee", "place": {"latitude": 46.87, "longitude": 8.21},
        "simulation": "sarnen", "stations": []}]
      """#
    let file = try folder.write("more.json", Array(record.utf8))
    let twice = record.replacing("sarnersee", with: "obersee")
      .replacing(#""stations": []"#, with: #""stations": ["8503651", "08503651"]"#)
    let landings = try folder.write("twice.json", Array(twice.utf8))
    let board = try await program.run([
      "board", "obersee", "--offline", "--lakes", landings, "--json",
    ])
    #expect(board.code == 0 && board.output.split(separator: "\n").count == 1, "\(board)")
    try await program.check(
      """
      lake thunersee --offline --recording '\(folder.url.path)' = 4 | ! weather: the service answered 503 | ! error: there is no data about Thunersee
      lake sarnersee --offline --lakes '\(file)'                    | water  18.7 C | ! ^level: the report has no value of Sarnersee_
      board sarnersee --offline --lakes '\(file)' = 1               | ! has no stations
      """)
  }
}
