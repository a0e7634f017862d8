import ExampleTesting

@testable import Departures

/// The bodies of the services, and faults in these bodies.
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
        {"stop": {"departure": "2025-07-12T09:00:00+0200", "delay": "+3", "platform": 7, "prognosis": []}, "number": 16, "to": null, "passList": {}},
        {"stop": {"departure": null}, "number": "8"}]}
      """#
    ).board(asked: "1", on: day("2025-07-12"))
    let departure = try #require(board?.departures.first)
    #expect(board?.departures.count == 1 && board?.station == "1")
    #expect(departure.delay == 3 && departure.platform == "7" && departure.name == "16")
    let unknown = try read(BoardBody.self, #"{"station": null, "stationboard": []}"#)
    #expect(try unknown.board(asked: "1", on: day("2025-07-12")) == nil, "no empty board")
  }

  @Test func `delays, cancelled runs and platforms`() throws {
    let late =
      #", "delay": 4, "prognosis": {"departure": "2026-07-11T16:35:00+0200", "platform": "2!"}"#
    #expect(try run(late)?.delay == 90 && run(late)?.platform == "2!")
    #expect(try run(#", "delay": 4"#)?.delay == 4 && run(#", "delay": null"#)?.delay == nil)
    for year in ["0001", "1970", "9999"] {
      let odd = try run(#", "prognosis": {"departure": "\#(year)-01-01T00:00:00Z"}"#)
      #expect(odd?.delay == nil && odd?.leaves == odd?.time, "\(year)")
    }
    for stop in [#", "delay": "X""#, #", "cancelled": true"#, #", "cancelled": 1"#] {
      #expect(try run(stop)?.isCancelled == true)
    }
    #expect(try run("", #", "cancelled": "true""#)?.isCancelled == true)
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

  @Test(arguments: ["1e308", "-1e308", "1e17", "273000", #""nan""#, "[]"])
  func `measurements that cannot be are none`(number: String) throws {
    let weather =
      #"{"list": [{"dt": 1752300000, "main": {"temp": \#(number)}}, {"dt": "1752310800", "main": {"temp": "290"}}]}"#
    #expect(try read(ForecastBody.self, weather).forecasts.map(\.celsius) == [16.85])
    let lakes = #"{"lakes": [{"name": "x", "temperature": \#(number), "waterLevel": \#(number)}]}"#
    let row = try read(LakeReport.self, lakes).lakes.elements[0]
    #expect(row.celsius == nil && row.level == nil)
    let simulation =
      #"{"time": ["2025-07-12T00:00:00Z", 7, null], "variables": {"T": {"data": [\#(number), 1, 2]}}}"#
    #expect(try read(SimulationBody.self, simulation).celsius(at: .init(milliseconds: .max)) == nil)
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

  @Test(arguments: [("405,96 m", 405.96), ("405.96 m.\u{FC}.M.", 405.96), ("405.96", 405.96)])
  func `levels have a point or a comma`(text: String, metres: Double) throws {
    let body = try read(LakeReport.self, #"{"lakes": [{"name": "x", "waterLevel": "\#(text)"}]}"#)
    #expect(body.lakes.elements[0].level == metres)
  }
}
