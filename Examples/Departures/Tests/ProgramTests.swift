import ExampleTesting

@testable import Departures

/// The built program, from outside, over the recording in the repository.
@Suite struct ProgramTests {
  private let program: TestedProgram
  init() throws { program = try TestedProgram("larder-departures", store: "my store") }

  @Test func `commands print what they found, its source and its age`() async throws {
    try await program.check(
      """
      board 8503651 --offline          | : from the service_08:05     BAT 101   Rapperswil SG (See)  platform 1AB  (Limmat)_
      board 8503651 --offline --upcoming | : from the store, | 09:35     BAT 102
      board 8503651 --offline --json   | "ship":"Limmat" | "source":"disk"
      board 8503669 --offline          | platform 2! | BAT 201   Z\u{FC}rich
      board 8503669 --offline --day 2025-07-13 | no departures
      lake thunersee --offline         | weather      20.0 C, clear sky (from the service) | temperature  18.7 C, by a simulation | sun          05:4
      lake thunersee --offline         | clear sky (from the store,
      lake thunersee --offline --json  | "origin":"simulation" | "isStale":false
      search Thal --offline            | 2 stations, from the service
      search Thal --offline --no-network --now 2025-07-12T08:50:00+0200 --json | "age":1
      favourites 8503651 8503651 08503651 --rows 1 --offline | 0 loaded, 1 fresh already, 0 failed
      favourites --offline --json      | {"failed":0,"fresh":1,"loaded":0}
      publish --offline                | ^8503651: 7 departures for the widget_
      widget --offline                 | ^09:35  BAT 102  Rapperswil SG (See)  (Linth)  from Z\u{FC}rich
      widget --offline --json          | ^[{
      board 8503651 --no-network = 4   | ! cannot be reached
      """)
    let words = try await program.run("board", "8503651", "--offline", "--log")
    #expect(words.error.contains(" 8503651_2025-07-12: disk, "), "\(words)")
    let answers = try await program.lastAnswers(of: words)
    #expect(answers.count == 3 && !answers.contains(""), "\(words)")
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

  @Test func `errors have their codes`() async throws {
    try await program.check(
      """
      board 1 --offline = 1                        | ! ^error: the station 1 is not in the timetable
      lake loch-ness --offline = 1                 | ! one of zuerichsee,
      lake '' --offline = 2                        | ! invalid
      board 1 --boats ' ' --offline = 2            | ! ^Error: The value ' ' is invalid for '--boats
      board 1 --policy never --offline = 2         | ! ^Error:
      board 1 --day 2025-02-30 --offline = 2       | ! ^Error:
      board 1 --now yesterday --offline = 2        | ! "yesterday" is not a time
      favourites 'Zuerich HB' --offline = 2        | ! ^error: "Zuerich HB" is not the number of a station
      publish --offline = 2                        | ! no station is given, and none is saved
      widget 8503681 --offline = 1                 | ! ^error: nothing is published of 8503681_hint:
      """)
  }

  @Test func `a service that fails or refuses is named, and hides no other`() async throws {
    let fake = FakeServices()
    try await LocalServer.run { server in
      server.become { request in
        if request.path.contains("forecast") { return .init(401, text: #"{"message": "no key"}"#) }
        return fake.answer(request.path)
      }
      fake.change { $0.down = "/boats" }
      let now = "--now 2025-07-12T08:30:00+0200 --base"
      try await program.check(
        """
        lake thunersee \(now) \(server.base) = 5 | temperature  18.7 C | ! ^weather: the service answered 401: no key_level: | ! hint: give a valid credential: --weather-key_
        board 1 \(now) ' \(server.base.uppercased())/ ' | 09:00     BAT 90 | ! ^names of ships: the service answered 500
        publish 1 \(now) \(server.base)      | ^1: 20 departures | ! ^names of ships: the service
        """)
      fake.change { ($0.down, $0.answer) = (nil, .init(403, text: "no")) }
      try await program.check(
        """
        board 1 \(now) \(server.base) --policy revalidate = 5 | 09:00     BAT 90 | stale: the service answered 403 | ! ^names of ships: | ! error: the service answered 403: no
        favourites 2 \(now) \(server.base) = 5 | ! ^2: the service answered 403
        """)
    }
  }

  @Test func `what the recording and two addresses have is apart`() async throws {
    let fake = FakeServices()
    try await LocalServer.run { server in
      server.become { request in
        guard request.bare.hasSuffix("/ships") else { return fake.answer(request.path) }
        let ship = request.bare.dropFirst().prefix(2)
        return .init(
          text:
            #"{"dailyDeployments": [{"date": "2025-07-12", "routes": [{"shipName": "\#(ship)", "courseNumber": "90"}]}]}"#
        )
      }
      let user = "--now 2025-07-12T08:30:00+0200 --base \(server.base)"
      try await program.check(
        """
        favourites 8503651 --rows 1 \(user)      | ^1 loaded
        favourites 8503669 --rows 2 --offline    | ^1 loaded
        favourites \(user) --no-network          | ^0 loaded, 1 fresh
        board 8503669 \(user) --no-network = 4   | ! there is no network
        board 1 \(user) --boats \(server.base)/aa | (aa)
        board 1 \(user) --boats \(server.base)/bb | (bb)
        widget --now 2025-07-12T08:30:00+0200 = 2 | ! none is saved
        """)
    }
  }

  @Test func `the page shows the lines that matter as they are`() throws {
    let file = Folders.examples.appending(path: "Departures/Departures/DeparturesCache.swift")
    #expect(try PageProgram(of: "Departures/README.md").isIn(file.path))
  }
}
