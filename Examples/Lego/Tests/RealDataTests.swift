import ExampleTesting

@testable import LegoCache

/// Answers of the real API.
@Suite(.enabled(if: Folders.hasShared, "skipped: no recorded data on this machine"))
struct RealDataTests {
  private func body(_ name: String) throws -> Data {
    try Data(contentsOf: Folders.shared("lego/api/\(name)"))
  }

  /// Decodes an answer, which loses nothing.
  private func roundTrip<Value: Codable & Equatable>(
    _ type: Value.Type, _ name: String
  ) throws -> Value {
    let data = try body(name)
    let value = try JSONDecoder().decode(type, from: data)
    #expect(try JSON(encoding: value) == JSON(data), "\(name) lost something")
    #expect(try JSONDecoder().decode(type, from: JSONEncoder().encode(value)) == value)
    return value
  }

  @Test func `single answers and lists`() throws {
    #expect(try roundTrip(Color.self, "color.json").key == "1")
    #expect(try roundTrip(Theme.self, "theme-response.json").parentID == 1)
    #expect(try roundTrip(ModelSet.self, "minifig.json").key == "fig-000018")
    #expect(try roundTrip(ModelSet.self, "set_10294-1.json").partCount == 9092)
    let element = try roundTrip(Element.self, "element_6290502.json")
    #expect(element.key == "6290502" && element.part.prints?.count == 5)
    #expect(element.color.externalIDs?["Peeron"]?.ids == [nil])

    let page = try roundTrip(Listing<Color>.self, "colors.json")
    #expect(page.count == 223 && page.results.count == 2 && page.next?.contains("%252C") == true)
    #expect(try roundTrip(Listing<Theme>.self, "themes.json").results.first?.parentID == nil)
    #expect(try roundTrip(Listing<ModelSet>.self, "minifigs.json").results.count == 10)
    #expect(try roundTrip([ModelSet].self, "sets_sample.json").count == 2)
    let colors = try roundTrip(Listing<Color>.self, "colors_all_275_merged.json").results
    #expect(colors.count == 275 && Set(colors.map(\.key)).count == 275)
    #expect(colors.count { $0.externalIDs == [:] } == 38)
  }

  @Test func `a part in its colours, and in one`() throws {
    let data = try body("part_3941_colors.json")
    let pairs = try JSONDecoder(part: "3941").decode(Listing<PartColor>.self, from: data)
    #expect(pairs.results.count == 46 && Set(pairs.results.map(\.key)).count == 46)
    guard case .array(let rows)? = try JSON(data)["results"] else {
      throw CocoaError(.coderReadCorrupt)
    }
    for (row, pair) in zip(rows, pairs.results) {
      #expect(try JSON(encoding: pair).without(["part_num"]) == row)
    }
    let one = try body("part_3941_color_0.json")
    let pair = try JSONDecoder(part: "3941", color: 0).decode(PartColor.self, from: one)
    #expect(pair.key == "3941/0" && pair.elements == ["394126", "614326"])
    #expect(try JSON(encoding: pair).without(["part_num", "color_id"]) == JSON(one))
  }
}
