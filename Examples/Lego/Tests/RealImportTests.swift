import ExampleTesting
import Foundation
import Larder
import Testing

@testable import LegoCache

/// Whole dumps of the real service through the store.
///
/// Without optimisation all of it takes a while, so the largest kinds come along only with `LARDER_FULL=1` in the
/// environment.
@Suite(.enabled(if: Folders.hasShared, "skipped: no dumps on this machine"))
struct RealImportTests {
  typealias Tally = ImportReport.Tally

  static let isFull = ProcessInfo.processInfo.environment["LARDER_FULL"] == "1"
  private let kinds: [EntityKind] =
    isFull ? EntityKind.allCases : [.colors, .themes, .categories, .parts]

  init() {
    if !Self.isFull { print("only colours, themes, categories and parts; LARDER_FULL=1 for all") }
  }

  private func dump(_ date: String) throws -> RebrickableDump {
    RebrickableDump(directory: try Folders.shared("lego/csv/\(date)").path)
  }

  private static let sizes: [EntityKind: Int] = [
    .colors: 267, .themes: 464, .categories: 67, .parts: 55_263, .sets: 23_113 + 14_641,
    .elements: 91_916, .partColors: 71_033,
  ]

  /// Every entity of the dump is stored, equal.
  private func check<Entity: LegoEntity>(
    _ type: Entity.Type, of dump: RebrickableDump, in lego: LegoCache
  ) throws {
    let cache = try #require(lego.entities(type))
    var (count, wrong) = (0, [String]())
    _ = try dump.read(type) { entity in
      count += 1
      if try cache.strictValue(for: entity.key) != entity { wrong.append(entity.key) }
    }
    #expect(wrong == [])
    #expect(try lego.count(of: Entity.kind) == count)
  }

  private func check(_ lego: LegoCache, against dump: RebrickableDump) throws {
    for kind in kinds { try check(kind.type, of: dump, in: lego) }
  }

  @Test func `every row of a dump reads back equal`() throws {
    let lego = try LegoCache.temporary(.longTerm, clock: ManualClock())
    let dump = try dump("2024-07-26")
    let report = try LegoImport(into: lego).run(dump, kinds: kinds)
    #expect(
      report.tallies
        == Self.sizes.filter { kinds.contains($0.key) }.mapValues { Tally(added: $0) })
    try check(lego, against: dump)
    #expect(try lego.larder.verify().faults == [])
  }

  /// What changed in eleven months. The numbers of rows added, removed and changed were counted from the tables alone;
  /// they differ from ours in two places:
  ///
  /// - of 1,486 parts with a changed row 138 changed in `part_material` only, a column the API does not have;
  /// - of 7,466 elements with a changed row each is one here, and 2,430 more name a part or a colour that changed.
  static let changes: [EntityKind: Tally] = [
    .colors: Tally(added: 44, changed: 8, unchanged: 215),
    .themes: Tally(added: 17, changed: 24, unchanged: 423, removed: 18),
    .categories: Tally(added: 1, unchanged: 66),
    .parts: Tally(added: 4913, changed: 1486 - 138, unchanged: 49_002, removed: 659),
    .sets: Tally(
      added: 2028 + 1495, changed: 1608 + 261, unchanged: 32_362, removed: 155 + 2),
    .elements: Tally(added: 11_907, changed: 7466 + 2430, unchanged: 70_113, removed: 10),
    .partColors: Tally(added: 9578, changed: 3909, unchanged: 57_546, removed: 1045),
  ]

  @Test func `the next dump over the last one`() throws {
    let lego = try LegoCache.temporary(.longTerm, clock: ManualClock())
    let first = try LegoImport(into: lego).run(dump("2023-08-25"), kinds: kinds)
    #expect(first.total.added == first.total.read)
    let second = try LegoImport(into: lego).run(dump("2024-07-26"), kinds: kinds)
    #expect(second.tallies == Self.changes.filter { kinds.contains($0.key) })
    for (kind, tally) in second.tallies {
      #expect(tally.read == Self.sizes[kind])
      #expect(try lego.count(of: kind) == tally.read)
    }
    if Self.isFull { try check(lego, against: dump("2024-07-26")) }
  }
}
