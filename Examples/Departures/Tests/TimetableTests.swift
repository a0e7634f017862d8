import ExampleTesting

@testable import Departures

/// Bodies of the timetable, with what is wrong with them.
@Suite struct TimetableTests {
  private func board(_ text: String, on day: String) throws -> Board {
    let body = try JSONDecoder().decode(BoardBody.self, from: Data(text.utf8))
    return try #require(try body.board(asked: "1", on: CalendarDay(day)!, limit: 200))
  }

  private static let body = #"""
    {"station": {"id": "8503000", "name": "Z\u00fcrich HB", "coordinate": {"type": "WGS84", "x": 47, "y": 8.54}},
     "stationboard": [
      {"stop": {"station": {"id": "8503000", "name": "Z\u00fcrich HB"},
        "departure": "2018-12-05T14:30:00+0100", "departureTimestamp": 1544016600, "delay": 3, "platform": "43/44",
        "prognosis": {"platform": "41", "arrival": "2018-12-05T14:21:07+0100", "departure": "2018-12-05T14:33:00+0100"},
        "location": {"id": "8501120", "name": null, "coordinate": {"x": null, "y": null}}},
       "name": "019651", "category": "S", "subcategory": null, "categoryCode": 5, "number": "16", "operator": null,
       "to": "G\u00f6schenen", "passList": [
        {"station": {"id": "8501120", "name": null, "coordinate": {"type": "WGS84", "x": null, "y": null}},
         "departure": "2018-12-05T14:30:00+0100", "departureTimestamp": 1544016600},
        {"station": {"id": "0000140", "name": "Gotthard-Panoramastrecke"}, "arrival": null, "departure": null},
        {"station": {"id": "8500001", "name": null, "coordinate": {"x": 46.5, "y": 8}},
         "arrival": "2018-12-05T15:00:00+0100", "departure": "2018-12-05T15:01:00+0100"},
        {"station": {"id": "8501120", "name": "G\u00f6schenen"}, "arrival": "2018-12-05T16:00:00+0100"}]},
      {"stop": {"station": {"id": "8503000", "name": "Z\u00fcrich HB"}, "arrival": "2018-12-05T14:40:00+0100",
        "departure": null, "departureTimestamp": null, "platform": ""},
       "name": "NFT 8", "category": "NFT", "number": "8", "to": "Z\u00fcrich HB", "passList": []}]}
    """#

  @Test func `a board is read with all that is wrong with it`() throws {
    let board = try board(Self.body, on: "2018-12-05")
    #expect(board.station.name == "Z\u{FC}rich HB")
    #expect(board.station.place == Coordinates(latitude: 47, longitude: 8.54), "x is the latitude")
    #expect(board.departures.count == 1, "what only arrives does not leave")
    let departure = try #require(board.departures.first)
    #expect(departure.course == "019651" && departure.line == "16" && departure.operatedBy == nil)
    #expect(departure.time == (try moment("2018-12-05T14:30:00+0100")))
    #expect(departure.leaves == (try moment("2018-12-05T14:33:00+0100")))
    #expect(departure.platform?.description == "41!")
    #expect(
      departure.calls.map(\.station.name) == ["Z\u{FC}rich HB", "8500001", "G\u{F6}schenen"],
      "the first is this station, the virtual one is none, and a name that is not said is its number"
    )
    #expect(departure.calls.map(\.station.id) == ["8503000", "8500001", "8501120"])
    #expect(departure.calls[1].station.place == Coordinates(latitude: 46.5, longitude: 8))
    #expect(board.isLive)
  }

  @Test func `a name left out in one place is taken from another`() throws {
    let text = Self.body.replacingOccurrences(
      of: #""to": "Z\u00fcrich HB", "passList": []"#,
      with: #"""
        "to": "Z\u00fcrich HB", "passList": [{"station": null},
         {"station": {"id": "8500001", "name": "Arth-Goldau"}, "arrival": "2018-12-05T15:00:00+0100"}]
        """#)
    #expect(try board(text, on: "2018-12-05").departures[0].calls[1].station.name == "Arth-Goldau")
  }

  @Test func `the clock of the server in a prognosis is no news about delays`() throws {
    var text = Self.body.replacingOccurrences(
      of: #", "departure": "2018-12-05T14:33:00+0100"}"#, with: "}")
    text = text.replacingOccurrences(of: #""delay": 3"#, with: #""delay": null"#)
    let one = try board(text, on: "2018-12-05")
    #expect(!one.isLive)
    #expect(
      one
        == (try board(text.replacingOccurrences(of: "14:21:07", with: "14:21:08"), on: "2018-12-05")),
      "bodies differ at each call, boards do not")
  }

  @Test(arguments: [
    (nil, nil, nil), ("", nil, nil), ("", "", nil), ("3AB", nil, "3AB"), ("3!", nil, "3!"),
    ("43/44", "43", "43!"), ("6", "7", "7!"), ("31", "31", "31"), ("", "5", "5"),
    ("12 CD!", nil, "12CD!"),
  ]) func `forms of a platform`(planned: String?, prognosis: String?, shown: String?) {
    #expect(Platform(planned, prognosis: prognosis)?.description == shown)
  }

  @Test(arguments: [("BAT", "101", "BAT 101"), ("ICN", "ICN 1524", "ICN 1524"), ("", "16", "16")])
  func `a departure is named by its category and its line, each once`(
    category: String, line: String, name: String
  ) throws {
    let board = try board(
      #"""
      {"station": {"id": "1", "name": "Thun"}, "stationboard": [
        {"stop": {"departureTimestamp": 1544000000}, "category": "\#(category)", "number": "\#(line)"}]}
      """#, on: "2018-12-05")
    #expect(board.departures.map(\.name) == [name])
  }

  @Test func `wrong fields of a board do not lose the rest of it`() throws {
    let stops = [
      #""departureTimestamp": "1752303600", "delay": "+3", "platform": 7"#,
      #""departure": "2025-07-12T09:05:00+0200", "departureTimestamp": 9223372036854775807"#,
      #""departureTimestamp": 1752304200, "delay": "X", "prognosis": []"#,
      #""departureTimestamp": 1752304500, "delay": 999999999, "cancelled": true"#,
      #""departureTimestamp": 1752304600, "delay": -9223372036854775808, "station": []"#,
      #""departureTimestamp": 1752304800, "delay": "soon", "station": {"name": 5, "coordinate": {"x": "47.5", "y": 1e99}}"#,
      #""departureTimestamp": -1"#, #""departure": "yesterday""#,
    ]
    let journeys = stops.map {
      #"{"stop": {\#($0)}, "number": 16, "to": null, "passList": \#($0.contains("X") ? "{}" : "[7, {}]")}"#
    }
    let text = """
      {"station": {"id": 1, "name": "A", "coordinate": []}, "stationboard": [7, null, {}, {"stop": "x"}, \(journeys.joined(separator: ", "))]}
      """
    let board = try board(text, on: "2025-07-12")
    #expect(board.station.id == "1" && board.skipped?.count == 6)
    #expect(
      try board.gap
        == "6 left out: stationboard[0] is not an object; [1] is null; stationboard[2].stop is missing"
    )
    #expect(board.skipped?.last == "16 has no time")
    #expect(board.departures.map(\.delay) == [3, nil, nil, nil, nil, nil])
    #expect(
      board.departures.map { $0.isCancelled == true } == [false, false, true, true, false, false])
    #expect(board.departures[0].platform?.name == "7" && board.departures[0].line == "16")
    let now = try moment("2025-07-12T08:00:00+0200")
    #expect(board.upcoming(at: now).count == 4, "no cancelled ones")
    #expect(throws: DecodingError.self) {
      try self.board(#"{"station": {"id": "1"}, "stationboard": [7, 8]}"#, on: "2025-07-12")
    }
  }

  @Test func `runs that cannot be told apart are counted`() throws {
    let run = #"{"stop": {"departureTimestamp": 1752303600}, "to": "X"}"#
    let runs = #"\#(run), \#(run), {"name": "8"}, {"stop": {}, "number": 16}, {}"#
    let board = try board(
      #"{"station": {"id": "1"}, "stationboard": [\#(runs)]}"#, on: "2025-07-12")
    #expect(board.departures.count == 1)
    #expect(
      board.skipped == [
        "8: stationboard[2].stop is missing", "stationboard[4].stop is missing", "16 has no time",
        "1752303600///X is there twice",
      ])
  }

  @Test func `a station that is not known is no empty board`() throws {
    let unknown = #"{"station": null, "stationboard": []}"#
    let body = try JSONDecoder().decode(BoardBody.self, from: Data(unknown.utf8))
    #expect(try body.board(asked: "1", on: CalendarDay("2025-07-12")!, limit: 10) == nil)
    let empty = try board(
      #"{"station": {"id": "1", "name": "A"}, "stationboard": []}"#, on: "2025-07-12")
    #expect(empty.departures == [] && empty.isWhole)
  }
}

@Suite(.enabled(if: Folders.recordedDepartures, "skipped: no recorded data"))
struct RecordedTimetableTests {
  private func files(_ folder: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
      at: Folders.shared("departures/" + folder), includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == "json" }
  }

  private func read<Body: Decodable>(_ type: Body.Type, _ file: URL) throws -> Body {
    try JSONDecoder().decode(type, from: Data(contentsOf: file))
  }

  @Test func `every recorded board is read in full`() throws {
    let files = try files("stationboard") + files("synthetic_ship")
    #expect(files.count == 10)
    var (all, moments) = (0, 0)
    for file in files {
      let body = try read(BoardBody.self, file)
      for stop in body.stationboard.elements.flatMap({ [$0.stop] + ($0.passList?.elements ?? []) })
      {
        for (text, second) in [
          (stop.arrival, stop.arrivalTimestamp), (stop.departure, stop.departureTimestamp),
        ] {
          guard let text, let second else { continue }
          #expect(SwissTime.moment(text)?.milliseconds == second * 1000)
          moments += 1
        }
      }
      let leaving = body.stationboard.elements.compactMap(\.stop.departureTime)
      guard let first = leaving.first else {
        #expect(file.lastPathComponent == "nft_2017-01-12.json")
        continue
      }
      let board = try #require(try body.board(asked: "", on: CalendarDay(of: first), limit: 420))
      #expect(board.departures.count == leaving.count, "\(file.lastPathComponent)")
      all += board.departures.count
      for departure in board.departures {
        #expect(!departure.destination.isEmpty && !departure.course.isEmpty)
        // Bodies of 2015 and 2016 name the part of a large station that it is.
        let isOld = departure.time < (try moment("2016-02-01T00:00:00+0100"))
        #expect(isOld || departure.calls.first?.station == board.station)
        #expect(departure.calls.first?.departure == departure.time)
        #expect(
          departure.calls.allSatisfy { !$0.station.name.isEmpty && $0.station.id != "0000140" })
        #expect(departure.calls.allSatisfy { $0.arrival != nil || $0.departure != nil })
        let times = departure.calls.compactMap { $0.arrival ?? $0.departure }
        #expect(times == times.sorted())
      }
      let again = try JSONDecoder().decode(Board.self, from: JSONEncoder().encode(board))
      #expect(again == board)
    }
    #expect(all == 103 && moments > 1500)
  }

  @Test func `recorded places`() throws {
    for file in try files("locations") {
      let body = try read(LocationsBody.self, file)
      let stations = body.stations.elements.compactMap(\.station)
      #expect(stations.count == 10)
      #expect(stations.allSatisfy { $0.place == nil || $0.place!.latitude > $0.place!.longitude })
      if file.lastPathComponent.hasPrefix("nearby") {
        #expect(stations[0].id == nil && stations[0].place == nil)
        #expect(stations.contains { $0.icon == "ship" })
      }
    }
  }

  @Test func `recorded weather, and the samples of the lakes`() throws {
    for file in try files("weather") {
      let forecast = try read(ForecastBody.self, file).forecast
      #expect(forecast.steps.count == 40 && forecast.place == "London")
      #expect(forecast.steps.contains { $0.rain > 0 } && forecast.steps.contains { $0.rain == 0 })
    }
    let lakes = try read(
      LakeReport.self, Folders.shared("departures/lakes/sample_water_levels.json"))
    #expect(lakes.lakes.elements.map(\.temperature) == [14, 13, nil])
    #expect(lakes.lakes.elements.map { $0.level?.metres } == [405.96, 433.53, nil])
    let ships = try read(DeploymentsBody.self, Folders.shared("departures/lakes/sample_ships.json"))
    #expect(ships.days == [CalendarDay("2025-10-26")!: ShipDay(ships: ["1": "Stadt Z\u{FC}rich"])])
  }

  @Test func `recorded errors say what the service said`() throws {
    for file in try files("errors") where file.lastPathComponent.hasPrefix("500") {
      let words = Services.words(of: try read(JSON.self, file))
      #expect(words?.contains("from timetable.search.ch") == true && words?.last != "\n")
    }
  }
}
