import ExampleTesting

@testable import Departures

/// The decoding of the services' bodies, and faults in such bodies.
@Suite struct BodyTests {
  private func read<Body: Decodable>(_ type: Body.Type, _ json: String) throws -> Body {
    try JSONDecoder().decode(type, from: Data(json.utf8))
  }

  private func run(_ stop: String, _ more: String = "") throws -> Departure? {
    let time = #""departure": "2026-07-11T15:05:00+0200""#
    return try read(BoardBody.Run.self, #"{"stop": {\#(time)\#(stop)}\#(more)}"#)
      .departure(from: "A")
  }

  @Test func `fields that nothing uses never fail, and others of another form are nil`() throws {
    let board = try read(
      BoardBody.self,
      #"""
      {"station": {"id": 1, "name": null, "coordinate": []}, "stationboard": [7, null, {}, {"stop": "x"},
        {"stop": {"departure": "2025-07-12T09:00:00+0200", "delay": "+3", "prognosis": []}, "number": 16, "to": null, "passList": {}},
        {"stop": {"departure": null}, "number": "8"}]}
      """#
    ).board(on: day("2025-07-12"))
    let departure = try #require(board?.departures.first)
    #expect(board?.departures.count == 1 && board?.station == "1")
    #expect(departure.delay == 3 && departure.name == "16")
    #expect(try run(#", "delay": 4"#)?.delay == 4 && run(#", "delay": null"#)?.delay == nil)
    #expect(try run(#", "delay": "X""#)?.isCancelled == true)
  }

  @Test func `only boats of Lake Zurich have ships`() throws {
    func ship(_ category: String, _ company: String) throws -> String? {
      let fields =
        #", "category": "\#(category)", "number": "1", "name": "000777", "operator": \#(company)"#
      return try run("", fields)?.named(by: ["777": "Limmat", "1": "Linth"]).ship
    }
    #expect(try ship("BAT", #""ZSG    F""#) == "Limmat")
    #expect(try ship("S", #""ZSG""#) == nil && ship("BAT", "null") == nil)
    #expect(try ship("BAT", #""BLS""#) == nil)
  }

  @Test func `a simulated temperature is the last known one that is not in the future`() throws {
    let body = try read(
      SimulationBody.self, Repository.text("Examples/Departures/Sample/simulation.json"))
    let expected: [String: Double?] = [
      "01:59:59": nil, "02:00:00": 18.9, "07:59:00": 18.7, "10:59:59": 18.7, "11:00:00": 19.6,
      "23:59:00": 19.6,
    ]
    for (time, celsius) in expected {
      #expect(try body.celsius(at: moment("2025-07-12T\(time)+0200")) == celsius, "\(time)")
    }
  }
}
