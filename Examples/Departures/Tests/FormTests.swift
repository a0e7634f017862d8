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

  @Test func `ways of which none can be read are a fault`() throws {
    func fault(_ ways: String) throws -> String? {
      let body = #"{"connections": [\#(ways)]}"#
      return try JSONDecoder().decode(ConnectionsBody.self, from: Data(body.utf8)).fault
    }
    let times = #""from": {"departureTimestamp": 1}, "to": {"arrivalTimestamp": 2}"#
    #expect(try fault("") == nil)
    #expect(try fault(#"{\#(times), "sections": null}"#) == nil)
    #expect(try fault(#""x", {\#(times), "sections": []}"#) == nil)
    #expect(try fault(#""x", {"from": {}, "to": {}, "sections": []}"#) != nil)
  }
}
