import ExampleTesting

@testable import Departures

/// The forms in which services send measurements and forecasts.
@Suite struct MeasurementTests {
  @Test(arguments: [
    ("405,96 m", 405.96), ("405.96 m.\u{FC}.M.", 405.96), ("405.96", 405.96),
    ("1'405.96 m", 1405.96), ("1\u{2019}405,96", 1405.96),
  ]) func `levels have a point or a comma, and an apostrophe between thousands`(
    text: String, metres: Double
  ) throws {
    let report = try JSONDecoder().decode(
      LakeReport.self, from: Data(#"{"lakes": [{"name": "x", "waterLevel": "\#(text)"}]}"#.utf8))
    #expect(report.lakes.elements.first?.level == WaterLevel(metres: metres))
    let number = Data(#"{"lakes": [{"name": "x", "waterLevel": 405.96}]}"#.utf8)
    #expect(try JSONDecoder().decode(LakeReport.self, from: number).lakes.elements[0].level != nil)
  }

  @Test func `a temperature just below zero is none below zero`() throws {
    let text = #"{"list": [{"dt": 1752300000, "main": {"temp": 273.149}}]}"#
    let body = try JSONDecoder().decode(ForecastBody.self, from: Data(text.utf8))
    #expect(body.forecast.steps.map { "\($0.celsius)" } == ["0.0"])
  }

  @Test(arguments: ["1e308", "-1e308", "1e17", "273000"])
  func `measurements that cannot be are none`(number: String) throws {
    func read<Body: Decodable>(_ type: Body.Type, _ json: String) throws -> Body {
      try JSONDecoder().decode(type, from: Data(json.utf8))
    }
    let forecast = try read(
      ForecastBody.self,
      #"""
      {"list": [{"dt": 1752300000, "main": {"temp": \#(number)}}, {"dt": 1752310800, "main": {"temp": 290},
        "wind": {"speed": \#(number), "gust": "\#(number)"}, "rain": {"3h": \#(number)}, "snow": {"3h": \#(number)}}]}
      """#
    ).forecast
    #expect(forecast.steps.map(\.celsius) == [16.85])
    let step = try #require(forecast.steps.first)
    #expect(step.wind == nil && step.gusts == nil && step.rain == 0 && step.snow == 0)
    let row = try #require(
      read(
        LakeReport.self,
        #"{"lakes": [{"name": "x", "temperature": \#(number), "waterLevel": "\#(number)"}]}"#
      ).lakes.elements.first)
    #expect(row.celsius == nil && row.level == nil)
    let simulation = try read(
      SimulationBody.self,
      #"{"time": ["2025-07-12T00:00:00Z"], "variables": {"T": {"data": [\#(number)]}}}"#)
    #expect(simulation.celsius(at: try moment("2025-07-12T09:00:00+0200")) == nil)
  }

  @Test(arguments: [
    ("1, 2", "3, 4", "no time can be read"),
    (#""2025-07-12T00:00:00Z""#, "[]", "no value can be read"),
    (#""2025-07-12T00:00:00Z""#, "1, 2", "times and values differ in number: 1, 2"),
    (#""2025-07-12T00:00:00Z""#, "null", nil), ("", "", nil),
  ]) func `a simulation of which nothing can be read is a fault`(
    time: String, data: String, fault: String?
  ) throws {
    let json = #"{"time": [\#(time)], "variables": {"T": {"data": [\#(data)]}}}"#
    let body = try JSONDecoder().decode(SimulationBody.self, from: Data(json.utf8))
    #expect(body.fault == fault)
  }

  @Test func `the order of a simulation's times does not matter, nor an odd city`() throws {
    let json =
      #"{"time": ["2025-07-12T06:00:00Z", "2025-07-12T00:00:00Z"], "variables": {"T": {"data": [12, 10]}}}"#
    let simulation = try JSONDecoder().decode(SimulationBody.self, from: Data(json.utf8))
    #expect(simulation.celsius(at: try moment("2025-07-12T09:00:00+0200")) == 12)
    let weather = #"{"list": [{"dt": 1752300000, "main": {"temp": 290}}], "city": []}"#
    let body = try JSONDecoder().decode(ForecastBody.self, from: Data(weather.utf8))
    #expect(body.forecast.steps.count == 1)
  }

  @Test func `a simulation may have numbers as text, nulls and times that are none`() throws {
    let json =
      #"{"time": ["2025-07-12T00:00:00Z", 7, null, "2025-07-12T03:00:00Z"], "variables": {"T": {"data": [18, 1, 2, "18.7"]}}}"#
    let simulation = try JSONDecoder().decode(SimulationBody.self, from: Data(json.utf8))
    #expect(simulation.celsius(at: try moment("2025-07-12T09:00:00+0200")) == 18.7)
    #expect(simulation.celsius(at: try moment("2025-07-12T04:00:00+0200")) == 18)
  }

  @Test(arguments: ["", #", "wind": {}, "rain": []"#, #", "weather": {}, "wind": {"speed": null}"#])
  func `a forecast without wind has the rest, also with numbers as text`(wind: String) throws {
    let json = #"{"list": [{"dt": "1752300000", "main": {"temp": "290"}\#(wind)}]}"#
    let step = try JSONDecoder().decode(ForecastBody.self, from: Data(json.utf8)).forecast.steps[0]
    #expect(step.celsius == 16.85 && step.wind == nil && step.gusts == nil)
  }
}
