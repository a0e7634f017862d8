import ExampleTesting
import Foundation
import Larder
import Testing

@testable import LegoCache

/// Whole dumps of the real service through the store.
///
/// Without optimisation all of it takes a while, so the largest kinds come along only with `LARDER_FULL=1` in the environment.
@Suite(.enabled(if: Folders.hasShared, "skipped: no dumps on this machine"), .checkedStores)
struct RealImportTests {
  typealias Tally = ImportReport.Tally

  private static let isFull = ProcessInfo.processInfo.environment["LARDER_FULL"] == "1"
  private let kinds: [EntityKind] =
    isFull ? EntityKind.allCases : [.colors, .themes, .categories, .parts]
  private let lego: LegoCache

  init() throws {
    if !Self.isFull { print("only colours, themes, categories and parts; LARDER_FULL=1 for all") }
    lego = try LegoCache.temporary(.longTerm, clock: ManualClock())
  }

  private func dump(_ date: String) throws -> RebrickableDump {
    RebrickableDump(directory: try Folders.shared("lego/csv/\(date)").path)
  }

  /// Every entity of the dump is stored, equal, and has a key of its own, byte for byte.
  private func check<Entity: LegoEntity>(_ type: Entity.Type, of dump: RebrickableDump) throws {
    let cache = try #require(lego.entities(type))
    var (keys, wrong) = (Set<[UInt8]>(), [String]())
    let skipped = try dump.read(type) { entity in
      let isNew = keys.insert(Array(entity.key.utf8)).inserted
      if try !isNew || cache.strictValue(for: entity.key) != entity { wrong.append(entity.key) }
    }
    #expect(wrong == [] && skipped.count == 0)
    #expect(try lego.count(of: Entity.kind) == keys.count)
  }

  /// What changed in eleven months. The numbers of rows added, removed and changed were counted from the tables alone; they
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
    let first = try LegoImport(into: lego).run(dump("2023-08-25"), kinds: kinds)
    let sizes = Self.sizes.filter { kinds.contains($0.key) }
    #expect(first.tallies == sizes.mapValues { Tally(added: $0) })
    let later = try dump("2024-07-26")
    let second = try LegoImport(into: lego).run(later, kinds: kinds)
    #expect(second.tallies == Self.changes.filter { kinds.contains($0.key) })
    for kind in kinds { try check(kind.type, of: later) }
  }

  @Test func `names arrive byte for byte, pairs have each element once`() throws {
    let dump = try dump("2024-07-26")
    var names: [String: String] = [:]
    _ = try dump.read(ModelSet.self) { names[$0.setNum] = $0.name }
    for (key, name) in [
      ("43217-1", "'Up' House\u{200B}"),
      ("752437W-1", "Minifigure Display Case Large Whit\u{FEFF}\u{FEFF}e"),
      ("BEIJINGSTANDEE-1", "I \u{2764}\u{FE0F} Beijing Standee"),
      ("42125-1", "Ferrari 488 GTE \"AF Corse #51\""),
    ] { #expect(Array(names[key, default: ""].utf8) == Array(name.utf8)) }
    var (elements, withoutDesign) = (0, 0)
    _ = try dump.read(PartColor.self) { elements += $0.elements.count }
    _ = try dump.read(Element.self) { if $0.designID == nil { withoutDesign += 1 } }
    #expect(elements == 91_916 && withoutDesign == 21_272)
  }

  @Test func `colours of 2025, unpacked and with more columns`() throws {
    let dump = try dump("2025-09-17-colors-only")
    #expect(dump.tables == [.colors, .categories])
    var colors: [Color] = []
    _ = try dump.read(Color.self) { colors.append($0) }
    #expect(colors.count == 273 && colors.allSatisfy { $0.isTransparent != nil })
    #expect(colors.contains { $0.isTransparent == true })
  }
}
