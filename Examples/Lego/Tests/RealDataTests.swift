import ExampleTesting

@testable import LegoCache

/// Answers of the real API, and whole dumps of the service through the store.
///
/// Without optimization all of it takes a while, so the largest kinds are imported only with `LARDER_FULL=1` in the environment.
@Suite(.enabled(if: Folders.hasShared, "skipped: no recorded data on this machine"), .checkedStores)
struct RealDataTests {
  typealias Tally = ImportReport.Tally

  // MARK: Answers

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

  // MARK: Dumps

  private static let isFull = ProcessInfo.processInfo.environment["LARDER_FULL"] == "1"
  private let kinds: [EntityKind] =
    isFull ? EntityKind.allCases : [.colors, .themes, .categories, .parts]

  private func dump(_ date: String) throws -> RebrickableDump {
    RebrickableDump(directory: try Folders.shared("lego/csv/\(date)").path)
  }

  /// The changes of eleven months. The numbers of rows added, removed and changed were counted from the tables alone; they
  /// differ from ours in two places:
  ///
  /// - of 1,486 parts with a changed row 138 changed in `part_material` only, a column the API does not have;
  /// - of 7,466 elements with a changed row each is one here, and 2,430 more name a part or a colour that changed.
  private static let changes: [EntityKind: Tally] = [
    .colors: Tally(added: 44, changed: 8, unchanged: 215),
    .themes: Tally(added: 17, changed: 24, unchanged: 423, removed: 18),
    .categories: Tally(added: 1, unchanged: 66),
    .parts: Tally(added: 4913, changed: 1486 - 138, unchanged: 49_002, removed: 659),
    .sets: Tally(added: 2028 + 1495, changed: 1608 + 261, unchanged: 32_362, removed: 155 + 2),
    .elements: Tally(added: 11_907, changed: 7466 + 2430, unchanged: 70_113, removed: 10),
    .partColors: Tally(added: 9578, changed: 3909, unchanged: 57_546, removed: 1045),
  ]
  private static let sizes: [EntityKind: Int] = [
    .colors: 223, .themes: 465, .categories: 66, .parts: 51_009, .sets: 21_240 + 13_148,
    .elements: 80_019, .partColors: 62_500,
  ]

  @Test func `a dump is stored row by row, and the next one over it`() throws {
    if !Self.isFull { print("only colours, themes, categories and parts; LARDER_FULL=1 for all") }
    let lego = try LegoCache.temporary(.longTerm, clock: ManualClock())
    let first = try LegoImport(into: lego).run(dump("2023-08-25"), kinds: kinds)
    let sizes = Self.sizes.filter { kinds.contains($0.key) }
    #expect(first.tallies == sizes.mapValues { Tally(added: $0) })
    let later = try dump("2024-07-26")
    let second = try LegoImport(into: lego).run(later, kinds: kinds)
    #expect(second.tallies == Self.changes.filter { kinds.contains($0.key) })
    /// Every entity of the dump is stored, equal, and has a key of its own, byte for byte.
    func check<Entity: LegoEntity>(_ type: Entity.Type) throws {
      let cache = try #require(lego.entities(type))
      var skipped = SkippedRows()
      let entities = try later.read(type, skipped: &skipped)
      let wrong = try entities.filter { try cache.strictValue(for: $0.key) != $0 }
      #expect(wrong.map(\.key) == [] && skipped.count == 0)
      #expect(try lego.count(of: Entity.kind) == Set(entities.map { Key($0.key) }).count)
    }
    for kind in kinds { try check(kind.type) }
  }

  @Test func `names arrive byte for byte, pairs have each element once`() throws {
    let dump = try dump("2024-07-26")
    let names = try Dictionary(dump.all(ModelSet.self).map { ($0.setNum, $0.name) }) { $1 }
    for (key, name) in [
      ("43217-1", "'Up' House\u{200B}"),
      ("752437W-1", "Minifigure Display Case Large Whit\u{FEFF}\u{FEFF}e"),
      ("BEIJINGSTANDEE-1", "I \u{2764}\u{FE0F} Beijing Standee"),
      ("42125-1", "Ferrari 488 GTE \"AF Corse #51\""),
    ] { #expect(Array(names[key, default: ""].utf8) == Array(name.utf8)) }
    #expect(try dump.all(PartColor.self).reduce(0) { $0 + $1.elements.count } == 91_916)
    #expect(try dump.all(Element.self).count { $0.designID == nil } == 21_272)
  }

  @Test func `colours of 2025, unpacked and with more columns`() throws {
    let dump = try dump("2025-09-17-colors-only")
    #expect(dump.kinds == [.colors, .categories])
    let colors = try dump.all(Color.self)
    #expect(colors.count == 273 && colors.allSatisfy { $0.isTransparent != nil })
    #expect(colors.contains { $0.isTransparent == true })
  }
}
