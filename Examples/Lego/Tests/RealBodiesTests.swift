import ExampleTesting
import Foundation
import Service
import Testing

@testable import LegoCache

/// Answers of the real API, decoded and encoded again without loss.
@Suite(.enabled(if: Folders.hasShared, "skipped: no recorded answers on this machine"))
struct RealBodiesTests {
  private func body(_ name: String) throws -> Data {
    try Data(contentsOf: Folders.shared("lego/api/\(name)"))
  }

  private func roundTrip<Value: Codable & Equatable>(_ type: Value.Type, _ name: String) throws
    -> Value
  {
    let data = try body(name)
    let value = try JSONDecoder().decode(type, from: data)
    #expect(try JSON(encoding: value) == JSON(data), "\(name) lost something")
    #expect(try JSONDecoder().decode(type, from: JSONEncoder().encode(value)) == value)
    return value
  }

  @Test func `single answers`() throws {
    #expect(try roundTrip(Color.self, "color.json").key == "1")
    #expect(try roundTrip(Theme.self, "theme-response.json").parentID == 1)
    #expect(try roundTrip(ModelSet.self, "minifig.json").key == "fig-000018")
    #expect(try roundTrip(ModelSet.self, "set_10294-1.json").partCount == 9092)
    let element = try roundTrip(Element.self, "element_6290502.json")
    #expect(element.key == "6290502" && element.part.prints?.count == 5)
    #expect(element.color.externalIDs?["Peeron"]?.ids == [nil])
  }

  @Test func lists() throws {
    let colors = try roundTrip(Listing<Color>.self, "colors.json")
    #expect(colors.count == 223 && colors.results.count == 2)
    #expect(colors.next?.contains("%252C") == true)
    #expect(try roundTrip(Listing<Theme>.self, "themes.json").results.first?.parentID == nil)
    #expect(try roundTrip(Listing<ModelSet>.self, "minifigs.json").results.count == 10)
    #expect(try roundTrip([ModelSet].self, "sets_sample.json").count == 2)
  }

  @Test func `every colour there is`() throws {
    let colors = try roundTrip(Listing<Color>.self, "colors_all_275_merged.json").results
    #expect(colors.count == 275 && Set(colors.map(\.key)).count == 275)
    #expect(colors.count { $0.externalIDs == [:] } == 38)
  }

  @Test func `a part in its colours`() throws {
    let decoder = JSONDecoder()
    decoder.userInfo[PartColor.askedPart] = "3941"
    let data = try body("part_3941_colors.json")
    let pairs = try decoder.decode(Listing<PartColor>.self, from: data)
    #expect(pairs.results.count == 46 && Set(pairs.results.map(\.key)).count == 46)
    guard case .array(let rows)? = try JSON(data)["results"] else {
      throw CocoaError(.coderReadCorrupt)
    }
    for (row, pair) in zip(rows, pairs.results) {
      #expect(try JSON(encoding: pair).without("part_num") == row)
    }
  }

  @Test func `a part in one colour`() throws {
    let decoder = JSONDecoder()
    decoder.userInfo[PartColor.askedPart] = "3941"
    decoder.userInfo[PartColor.askedColor] = 0
    let data = try body("part_3941_color_0.json")
    let pair = try decoder.decode(PartColor.self, from: data)
    #expect(pair.key == "3941/0" && pair.elements == ["394126", "614326"])
    #expect(try JSON(encoding: pair).without("part_num", "color_id") == JSON(data))
  }
}

extension JSON {
  /// Without members that are null: they count as absent.
  init(_ data: Data) throws { self = try JSONDecoder().decode(JSON.self, from: data).compact }

  init(encoding value: some Encodable) throws { try self.init(JSONEncoder().encode(value)) }

  private var compact: JSON {
    switch self {
    case .array(let values): .array(values.map(\.compact))
    case .object(let members): .object(members.filter { $0.value != .null }.mapValues(\.compact))
    default: self
    }
  }

  func without(_ names: String...) -> JSON {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { !names.contains($0.key) })
  }
}
