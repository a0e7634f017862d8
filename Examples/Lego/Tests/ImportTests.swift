import ExampleTesting
import Foundation
import Larder
import Service
import Testing

@testable import LegoCache

/// Imports of the sample and of small dumps, one over the other.
@Suite(.checkedStores) struct ImportTests {
  typealias Tally = ImportReport.Tally

  let clock = ManualClock()
  let lego: LegoCache
  let folder: TemporaryFolder

  init() throws {
    lego = try LegoCache.temporary(.longTerm, clock: clock)
    folder = try TemporaryFolder()
  }

  var sample: EntityFolder { EntityFolder(directory: Folders.sample) }
  var dump: RebrickableDump { RebrickableDump(directory: folder.url.path) }

  func write(_ table: RebrickableDump.Table, _ lines: String...) throws {
    _ = try folder.write(
      "\(table.rawValue).csv", Array((lines.joined(separator: "\n") + "\n").utf8))
  }

  func imported(_ lego: LegoCache? = nil, batch: Int = 2000) throws -> ImportReport {
    var job = LegoImport(into: lego ?? self.lego)
    job.batch = batch
    return try job.run(dump)
  }

  func expiry(_ kind: EntityKind, _ key: String) throws -> Timestamp? {
    try lego.larder.namespace(kind.namespace).entry(for: key)?.expires
  }

  // MARK: the sample

  static let sizes: [EntityKind: Int] = [
    .colors: 64, .themes: 62, .categories: 67, .parts: 101, .sets: 63, .elements: 54,
    .partColors: 40,
  ]

  @Test func `every entity of the sample reads back equal`() throws {
    let report = try LegoImport(into: lego).run(sample)
    #expect(report.tallies == Self.sizes.mapValues { Tally(added: $0) })
    #expect(report.omissions.isEmpty)
    #expect(try lego.count() == 451)
    func check<Entity: LegoEntity>(_ type: Entity.Type) throws {
      let entities = try sample.read(type)
      #expect(entities.count == Self.sizes[Entity.kind])
      #expect(try lego.count(of: Entity.kind) == entities.count)
      for entity in entities { #expect(try lego.cached(type, key: entity.key) == entity) }
      // Decoding the file's JSON loses nothing.
      let file = URL(filePath: Folders.sample).appending(path: "\(Entity.kind.word).json")
      #expect(try JSON(encoding: entities) == JSON(Data(contentsOf: file)))
    }
    for kind in EntityKind.allCases { try check(kind.type) }
    #expect(try lego.larder.verify().isSound)
  }

  @Test func `the sample again changes nothing`() throws {
    _ = try LegoImport(into: lego).run(sample)
    let transaction = try lego.larder.statistics().file.transaction
    let report = try LegoImport(into: lego).run(sample)
    #expect(report.tallies == Self.sizes.mapValues { Tally(unchanged: $0) })
    let entry = try lego.entities(Part.self)?.entry(for: "3001")
    #expect(entry?.version ?? 0 <= 101, "no entity was written twice")
    #expect(try lego.larder.statistics().file.transaction - transaction <= 7)
  }

  @Test func `the sample expires by the preset`() throws {
    _ = try LegoImport(into: lego).run(sample)
    clock.advance(by: .days(1))
    #expect(try lego.clearExpired() == 63)
    clock.advance(by: .days(6))
    #expect(try lego.clearExpired() == 101 + 54 + 40)
    clock.advance(by: .days(23))
    #expect(try lego.clearExpired() == 62 + 67)
    clock.advance(by: .days(365))
    #expect(try lego.clearExpired() == 0)
    #expect(try lego.count() == 64)
  }

  // MARK: one dump over another

  func writeFirst() throws {
    try write(
      .colors, "id,name,rgb,is_trans", "0,Black,05131D,f", "4,Red,C91A09,f", "7,Grey,9BA19D,f")
    try write(.parts, "part_num,name,part_cat_id", "3001,Brick 2 x 4,11", "3002,Brick 2 x 3,11")
    try write(
      .elements, "element_id,part_num,color_id,design_id", "300126,3001,0,3001",
      "300121,3001,4,3001", "300226,3002,0,3002")
  }

  func writeSecond() throws {
    // Grey is gone, red another red, blue new.
    try write(
      .colors, "id,name,rgb,is_trans", "0,Black,05131D,f", "1,Blue,0055BF,f", "4,Red,B40000,f")
    try write(
      .parts, "part_num,name,part_cat_id", "3001,Brick 2 x 4,11", "3002,Brick 2 x 3,11",
      "3003,Brick 2 x 2,11")
    // One element is new for a pair that is there, one pair has gone with its element, a red one follows its colour.
    try write(
      .elements, "element_id,part_num,color_id,design_id", "300126,3001,0,3001",
      "4211385,3001,0,3001", "300121,3001,4,3001")
  }

  @Test(arguments: [1, 2, 3, 2000]) func `the next dump is told apart from the last, row by row`(
    batch: Int
  ) throws {
    try writeFirst()
    let first = try imported(batch: batch)
    #expect(
      first.tallies == [
        .colors: Tally(added: 3), .parts: Tally(added: 2), .elements: Tally(added: 3),
        .partColors: Tally(added: 3),
      ])
    #expect(first.omissions == [.themes: .absent, .categories: .absent, .sets: .absent])
    let black = try lego.entities(Color.self)?.entry(for: "0")

    try writeSecond()
    clock.advance(by: .hours(1))
    let second = try imported(batch: batch)
    #expect(second.tallies[.colors] == Tally(added: 1, changed: 1, unchanged: 1, removed: 1))
    #expect(second.tallies[.parts] == Tally(added: 1, unchanged: 2))
    #expect(second.tallies[.elements] == Tally(added: 1, changed: 1, unchanged: 1, removed: 1))
    #expect(second.tallies[.partColors] == Tally(changed: 1, unchanged: 1, removed: 1))
    #expect(second.total == Tally(added: 3, changed: 3, unchanged: 5, removed: 3))

    #expect(try lego.cached(Color.self, key: "7") == nil)
    #expect(try lego.cached(Color.self, key: "4")?.rgb == "B40000")
    #expect(try lego.cached(Element.self, key: "300121")?.color.rgb == "B40000")
    #expect(try lego.cached(PartColor.self, key: "3002/0") == nil)
    #expect(try lego.cached(PartColor.self, key: "3001/0")?.elements == ["300126", "4211385"])
    #expect(try lego.entities(Color.self)?.entry(for: "0") == black, "it was left untouched")
    #expect(try lego.count() == 3 + 3 + 3 + 2)
    #expect(try lego.larder.verify().isSound)
  }

  @Test func `an import is no reading: hits and misses stay as they were`() throws {
    try writeFirst()
    _ = try imported()
    _ = try imported()
    let reads = try lego.larder.statistics().reads
    #expect(reads.hits == 0 && reads.misses == 0 && reads.expired == 0)
  }

  @Test func `the first row of a key counts, and others are listed`() throws {
    try write(
      .colors, "id,name,rgb,is_trans", "1,Blue,0055BF,f", "1,Bleu,0055BF,f", "1,Bleu,0055BF,f")
    try write(.elements, "element_id,part_num,color_id", "9,3001,1", "9,3001,1")
    for tally in [Tally(added: 1), Tally(unchanged: 1)] {
      let report = try imported()
      #expect(report.tallies[.colors] == tally && report.tallies[.partColors] == tally)
      #expect(report.skipped[.colors]?.list.first == "colors: a second row of 1")
      #expect(report.skipped[.colors]?.count == 2)
    }
    #expect(try lego.cached(Color.self, key: "1")?.name == "Blue")
    #expect(try lego.cached(PartColor.self, key: "3001/1")?.elements == ["9"])
    #expect(try lego.count() == 2)
  }

  @Test(arguments: [
    "id,name,rgb,is_trans", "<!DOCTYPE html><html>", "id,name,is_trans\n0,Black,f",
  ]) func `a table without rows or columns removes nothing`(text: String) throws {
    try writeFirst()
    _ = try imported()
    try write(.colors, text)
    let stopped = #expect(throws: LegoImport.Stopped.self) { try imported() }
    #expect(stopped?.report.failure?.kind == .colors && stopped?.reason is DumpError)
    #expect(try lego.count() == 11)
  }

  @Test func `a dump without a column keeps what is known of it`() throws {
    try write(.sets, "set_num,name,year,theme_id,num_parts,img_url", "1-1,A,2000,1,7,")
    try write(.minifigs, "fig_num,name,num_parts,img_url", "fig-1,B,4,")
    _ = try imported()
    try write(.sets, "set_num,name", "1-1,A")
    #expect(try imported().tallies[.sets] == Tally(unchanged: 2))
    #expect(try lego.cached(ModelSet.self, key: "1-1")?.partCount == 7)
  }

  @Test func `sets need the minifigs beside them`() throws {
    try write(.sets, "set_num,name,year,theme_id,num_parts,img_url", "1-1,A,2000,1,1,")
    #expect(try imported().omissions[.sets] == .absent)
    #expect(try lego.count() == 0)
    try write(.minifigs, "fig_num,name,num_parts,img_url", "fig-1,B,4,")
    #expect(try imported().tallies == [.sets: Tally(added: 2)])
    try write(.minifigs, "fig_num,name,num_parts,img_url", "fig-2,B,4,")
    #expect(try imported().tallies == [.sets: Tally(added: 1, unchanged: 1, removed: 1)])
  }

  @Test func `kinds that are not asked for, not there or switched off are left alone`() throws {
    try writeFirst()
    _ = try imported()
    try writeSecond()
    var lifetimes = Lifetimes.longTerm
    lifetimes[.parts] = .off
    let other = LegoCache(lego.larder, plan: CachePlan(disk: lifetimes))
    let report = try LegoImport(into: other).run(dump, kinds: [.colors, .parts, .themes])
    #expect(Set(report.tallies.keys) == [.colors])
    #expect(report.omissions == [.parts: .off, .themes: .absent])
    #expect(try lego.count(of: .parts) == 2 && lego.count(of: .elements) == 3)
  }
}
