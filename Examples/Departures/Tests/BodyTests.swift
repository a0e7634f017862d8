import ExampleTesting

@testable import Departures

/// Bodies of the services, with what is wrong with them.
@Suite struct BodyTests {
  private func read<Body: Decodable>(_ type: Body.Type, _ json: String) throws -> Body {
    try JSONDecoder().decode(type, from: Data(json.utf8))
  }

  @Test func `fields that nothing uses never fail, and others of another form are nil`() throws {
    let board = try read(
      BoardBody.self,
      #"""
      {"station": {"id": 1, "name": null, "coordinate": []}, "stationboard": [7, null, {}, {"stop": "x"},
        {"stop": {"departureTimestamp": 1752303600, "delay": "+3", "platform": 7, "prognosis": []}, "number": 16, "to": null, "passList": {}},
        {"stop": {"departure": null, "departureTimestamp": null}, "number": "8"}]}
      """#
    ).board(asked: "1", on: day("2025-07-12"))
    let departure = try #require(board?.departures.first)
    #expect(board?.departures.count == 1 && board?.station == "1")
    #expect(departure.delay == 3 && departure.platform == "7" && departure.name == "16")
    let unknown = try read(BoardBody.self, #"{"station": null, "stationboard": []}"#)
    #expect(try unknown.board(asked: "1", on: day("2025-07-12")) == nil, "no empty board")
  }

  @Test(arguments: [("405,96 m", 405.96), ("405.96 m.\u{FC}.M.", 405.96), ("405.96", 405.96)])
  func `levels have a point or a comma`(text: String, metres: Double) throws {
    let body = try read(LakeReport.self, #"{"lakes": [{"name": "x", "waterLevel": "\#(text)"}]}"#)
    #expect(body.lakes.elements[0].level == metres)
  }
}
