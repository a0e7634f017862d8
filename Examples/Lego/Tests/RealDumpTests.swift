import ExampleTesting
import Foundation
import Testing

@testable import LegoCache

/// Whole dumps of the real service, every row of them.
@Suite(.enabled(if: Folders.hasShared, "skipped: no dumps on this machine"))
struct RealDumpTests {
  struct Vintage: Sendable, CustomTestStringConvertible {
    let date: String
    let colors, themes, categories, parts, elements, sets, minifigs, partColors: Int
    var testDescription: String { date }
  }

  static let vintages = [
    Vintage(
      date: "2023-08-25", colors: 223, themes: 465, categories: 66, parts: 51_009,
      elements: 80_019, sets: 21_240, minifigs: 13_148, partColors: 62_500),
    Vintage(
      date: "2024-07-26", colors: 267, themes: 464, categories: 67, parts: 55_263,
      elements: 91_916, sets: 23_113, minifigs: 14_641, partColors: 71_033),
  ]

  private func dump(_ date: String) throws -> RebrickableDump {
    RebrickableDump(directory: try Folders.shared("lego/csv/\(date)").path)
  }

  /// The keys of all that `read` hands over. Two keys that differ only in their bytes are two.
  private func keys<Entity: LegoEntity>(
    _ type: Entity.Type, in dump: RebrickableDump, _ body: (Entity) -> Void = { _ in }
  ) throws -> Set<[UInt8]> {
    var keys: Set<[UInt8]> = []
    let skipped = try dump.read(type) { entity in
      let (isNew, _) = keys.insert(Array(entity.key.utf8))
      if !isNew { Issue.record("\(Entity.kind.word) \(entity.key) twice") }
      body(entity)
    }
    #expect(skipped.count == 0)
    return keys
  }

  @Test(arguments: vintages)
  func `every row is an entity with a key of its own`(vintage: Vintage) throws {
    let dump = try dump(vintage.date)
    #expect(try keys(Color.self, in: dump).count == vintage.colors)
    #expect(try keys(Theme.self, in: dump).count == vintage.themes)
    #expect(try keys(PartCategory.self, in: dump).count == vintage.categories)
    #expect(try keys(Part.self, in: dump).count == vintage.parts)
    #expect(try keys(ModelSet.self, in: dump).count == vintage.sets + vintage.minifigs)
    #expect(try keys(Element.self, in: dump).count == vintage.elements)
  }

  @Test(arguments: vintages)
  func `pairs of part and colour hold every element once`(vintage: Vintage) throws {
    let dump = try dump(vintage.date)
    var elements = 0
    #expect(
      try keys(PartColor.self, in: dump) { elements += $0.elements.count }.count
        == vintage.partColors)
    #expect(elements == vintage.elements)
  }

  @Test func `the names arrive byte for byte`() throws {
    var names: [String: String] = [:]
    let wanted: Set = ["43217-1", "752437W-1", "BEIJINGSTANDEE-1", "42125-1"]
    _ = try dump("2024-07-26").read(ModelSet.self) {
      if wanted.contains($0.setNum) { names[$0.setNum] = $0.name }
    }
    #expect(Array(names["43217-1", default: ""].utf8) == Array("'Up' House\u{200B}".utf8))
    #expect(
      Array(names["752437W-1", default: ""].utf8)
        == Array("Minifigure Display Case Large Whit\u{FEFF}\u{FEFF}e".utf8))
    #expect(
      Array(names["BEIJINGSTANDEE-1", default: ""].utf8)
        == Array("I \u{2764}\u{FE0F} Beijing Standee".utf8))
    #expect(names["42125-1"] == "Ferrari 488 GTE \"AF Corse #51\"")
  }

  @Test func `elements without a design are as many as the dump leaves empty`() throws {
    var without = 0
    _ = try dump("2024-07-26").read(Element.self) { if $0.designID == nil { without += 1 } }
    #expect(without == 21_272)
  }

  @Test func `colours of 2025, unpacked and with more columns`() throws {
    let dump = try dump("2025-09-17-colors-only")
    #expect(dump.tables == [.colors, .categories])
    var colors: [Color] = []
    _ = try dump.read(Color.self) { colors.append($0) }
    #expect(colors.count == 273)
    #expect(colors.allSatisfy { $0.isTransparent != nil })
    #expect(colors.contains { $0.isTransparent == true })
  }
}
