import ExampleTesting

@testable import Departures

/// Forms of the service's fields that are rare.
@Suite struct FormTests {
  private func departure(_ stop: String) throws -> Departure? {
    let body = #"{"stop": {"departure": "2026-07-11T15:05:00+0200", \#(stop)}}"#
    return try JSONDecoder().decode(JourneyBody.self, from: Data(body.utf8))
      .departure(from: Station(id: "1", name: "A"), names: [:])
  }

  @Test func `a time of 0 is none, and X cancels`() throws {
    let time = try moment("2026-07-11T15:05:00+0200")
    #expect(try departure(#""departureTimestamp": 0"#)?.time == time)
    let cancelled = try departure(#""cancelled": false, "delay": "X""#)
    #expect(cancelled?.isCancelled == true)
    #expect(try departure(#""cancelled": false, "delay": 3"#)?.isCancelled == nil)
  }

  @Test func `a run may be cancelled as a whole, and a flag may be a number`() throws {
    func isCancelled(_ run: String) throws -> Bool? {
      let body = #"{"stop": {"departure": "2026-07-11T15:05:00+0200"}, \#(run)}"#
      return try JSONDecoder().decode(JourneyBody.self, from: Data(body.utf8))
        .departure(from: Station(id: "1", name: "A"), names: [:])?.isCancelled
    }
    #expect(try isCancelled(#""cancelled": true"#) == true)
    #expect(try isCancelled(#""cancelled": 1"#) == true)
    #expect(try isCancelled(#""cancelled": "true""#) == true)
    #expect(try isCancelled(#""cancelled": 0"#) == nil)
    #expect(try departure(#""cancelled": 1"#)?.isCancelled == true)
  }

  @Test func `an expected time is a delay`() throws {
    let late = #""prognosis": {"departure": "2026-07-11T16:35:00+0200"}"#
    #expect(try departure(late)?.minutesLate == 90)
    #expect(try departure(#""delay": 4"#)?.minutesLate == 4)
    #expect(try departure(#""delay": null"#)?.minutesLate == nil)
  }

  @Test(arguments: [
    "0001-01-01T00:00:00+0000", "1970-01-01T00:00:00Z", "9999-12-31T00:00:00Z", "x",
  ])
  func `an expected time more than a day away is none`(time: String) throws {
    let odd = try #require(try departure(#""prognosis": {"departure": "\#(time)"}"#))
    #expect(odd.expected == nil && odd.leaves == odd.time)
  }

  @Test(arguments: ["null", "{}", "[]", #""A""#])
  func `runs make a board whatever the field of the station has`(station: String) throws {
    let run = #"{"stop": {"departure": "2026-07-11T15:05:00+0200"}, "number": "1"}"#
    func board(_ runs: String) throws -> Board? {
      let text = #"{"station": \#(station), "stationboard": [\#(runs)]}"#
      let body = try JSONDecoder().decode(BoardBody.self, from: Data(text.utf8))
      return try body.board(asked: "7", on: day("2026-07-11"), limit: 200)
    }
    #expect(try board(run)?.departures.count == 1 && board(run)?.station.id == "7")
    #expect(try board("") == nil)
  }

  @Test func `only boats of Lake Zurich have ships, by their course first`() throws {
    let day = ShipDay(ships: ["1": "Linth", "777": "Limmat"])
    func ship(
      _ category: String, _ line: String, _ course: String, _ company: String = #""ZSG""#
    ) throws -> String? {
      let body =
        #"{"stop": {"departure": "2026-07-11T15:05:00+0200"}, "category": "\#(category)", "number": "\#(line)", "name": "\#(course)", "operator": \#(company)}"#
      let run = try JSONDecoder().decode(JourneyBody.self, from: Data(body.utf8))
        .departure(from: Station(id: "1", name: "A"), names: [:])
      return day.ship(of: try #require(run))
    }
    #expect(try ship("BAT", "1", "000777") == "Limmat")
    #expect(try ship("BAT", "1", "000002") == "Linth")
    #expect(try ship("S", "1", "000777") == nil && ship("IC", "IC 1", "1") == nil)
    #expect(try ship("BAT", "1", "000777", #""ZSG    F""#) == "Limmat")
    #expect(try ["null", #""""#, #""BLS""#].allSatisfy { try ship("BAT", "1", "1", $0) == nil })
  }
}
