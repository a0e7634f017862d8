import ExampleTesting
import Foundation
import Larder
import Service
import Testing

@testable import LegoCache

/// Imports of the sample and of small dumps, one over the other.
@Suite struct ImportTests {
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

  @Test(arguments: [1, 2, 3, 2000])
  func `the next dump is told apart from the last, row by row`(batch: Int) throws {
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

  @Test func `a key that comes twice holds what came last`() throws {
    try write(
      .colors, "id,name,rgb,is_trans", "1,Blue,0055BF,f", "1,Bleu,0055BF,f", "1,Bleu,0055BF,f")
    #expect(try imported().tallies[.colors] == Tally(added: 1, changed: 1, unchanged: 1))
    #expect(try lego.cached(Color.self, key: "1")?.name == "Bleu")
    #expect(try lego.count() == 1)
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
    let other = LegoCache(lego.larder, lifetimes: lifetimes)
    let report = try LegoImport(into: other).run(dump, kinds: [.colors, .parts, .themes])
    #expect(Set(report.tallies.keys) == [.colors])
    #expect(report.omissions == [.parts: .off, .themes: .absent])
    #expect(try lego.count(of: .parts) == 2 && lego.count(of: .elements) == 3)
  }

  // MARK: lifetimes

  @Test func `an entity whose time is half over is renewed, one with more ahead is left alone`()
    throws
  {
    try writeFirst()
    _ = try imported()
    let first = try #require(try expiry(.parts, "3001"))
    #expect(first == clock.now.advanced(by: .days(7)))

    clock.advance(by: .hours(84))
    #expect(try imported().tallies[.parts] == Tally(unchanged: 2))
    #expect(try expiry(.parts, "3001") == first)

    clock.advance(by: .milliseconds(1))
    let report = try imported()
    #expect(report.tallies[.parts] == Tally(renewed: 2))
    #expect(report.tallies[.colors] == Tally(unchanged: 3), "they stay for ever")
    #expect(try expiry(.parts, "3001") == clock.now.advanced(by: .days(7)))
    #expect(try expiry(.colors, "0") == nil)
  }

  @Test(arguments: [false, true])
  func `what expired counts as absent, purged or not`(isPurged: Bool) throws {
    try writeFirst()
    _ = try imported()
    clock.advance(by: .days(7))
    if isPurged { #expect(try lego.clearExpired() == 2 + 3 + 3) }
    try write(.parts, "part_num,name,part_cat_id", "3001,Brick 2 x 4,11")
    try write(.elements, "element_id,part_num,color_id", "300126,3001,0")
    let report = try imported()
    #expect(report.tallies[.parts] == Tally(added: 1))
    #expect(report.tallies[.colors] == Tally(unchanged: 3))
    #expect(try lego.cached(Part.self, key: "3002") == nil)
  }

  @Test func `another preset takes hold of what is stored already`() throws {
    try writeFirst()
    _ = try imported()
    let short = LegoCache(lego.larder, lifetimes: .shortTerm)
    #expect(try imported(short).total == Tally(renewed: 11))
    #expect(try expiry(.colors, "0") == clock.now.advanced(by: .days(1)))
    #expect(try expiry(.parts, "3001") == clock.now.advanced(by: .hours(2)))
    #expect(try imported().total == Tally(renewed: 11), "and back")
    #expect(try expiry(.colors, "0") == nil)
  }

  @Test func `an operator's lifetime decides what is renewed`() throws {
    try writeFirst()
    _ = try imported()
    let parts = EntityKind.parts.namespace
    try lego.larder.override(Rules.Overrides(expires: .never), for: parts)
    #expect(try imported().tallies[.parts] == Tally(renewed: 2))
    #expect(try expiry(.parts, "3001") == nil)
    let moment = clock.now.advanced(by: .hours(1))
    try lego.larder.override(Rules.Overrides(expires: .at(moment)), for: parts)
    #expect(try imported().tallies[.parts] == Tally(renewed: 2))
    #expect(try imported().tallies[.parts] == Tally(unchanged: 2))
    #expect(try expiry(.parts, "3001") == moment)
  }

  // MARK: Failures

  @Test func `rows that refer to nothing do not end an import`() throws {
    try writeFirst()
    try write(
      .elements, "element_id,part_num,color_id,design_id", "300126,3001,0,3001", "9,gone,0,",
      "300121,3001,4,3001")
    let report = try imported()
    #expect(report.tallies[.elements] == Tally(added: 2) && report.skipped[.elements]?.count == 1)
    #expect(report.tallies[.partColors] == Tally(added: 3), "a pair needs no part")
    #expect(report.failure == nil)
    try lego.larder.finish()
  }

  @Test(arguments: [1, 2, 2000])
  func `a damaged table removes nothing, is reported with its position, and is resumed`(
    batch: Int
  ) throws {
    try writeFirst()
    _ = try imported()
    try write(
      .colors, "id,name,rgb,is_trans", "1,Blue,0055BF,f", "4,Red,B40000,f", "x,Broken,000000,f")
    let stopped = #expect(throws: LegoImport.Stopped.self) { try imported(batch: batch) }
    #expect((stopped?.reason as? DumpError)?.line == 4)
    let complete = 2 / batch * batch
    #expect(stopped?.report.failure?.kind == .colors)
    #expect(stopped?.report.failure?.imported == complete)
    #expect(stopped?.report.omissions[.parts] == .notBegun)
    #expect(try (lego.cached(Color.self, key: "1") != nil) == (complete > 0))
    #expect(try lego.cached(Color.self, key: "7") != nil, "it is gone from the table")
    try writeSecond()
    let tally = try imported().tallies[.colors]
    #expect(tally?.read == 3 && tally?.removed == 1 && tally?.unchanged == 1 + complete)
    try lego.larder.finish()
  }

  @Test func `an import never removes fields that only the API has`() throws {
    try writeFirst()
    var black = Color(id: 0, name: "Black", rgb: "05131D", isTransparent: false)
    black.externalIDs = ["LEGO": .init(ids: [26], descriptions: [["Black"]])]
    var brick = Part(partNum: "3001", name: "Brick, old name", categoryID: 11)
    (brick.prints, brick.molds, brick.alternates) = (["3001pr0001"], [], [])
    try lego.store(black)
    try lego.store(brick)
    let report = try imported()
    #expect(report.tallies[.colors] == Tally(added: 2, unchanged: 1))
    #expect(report.tallies[.parts] == Tally(added: 1, changed: 1))
    #expect(try lego.cached(Color.self, key: "0") == black)
    brick.name = "Brick 2 x 4"
    #expect(try lego.cached(Part.self, key: "3001") == brick)
    #expect(try imported().tallies[.parts] == Tally(unchanged: 2))
    try lego.larder.finish()
  }

  @Test func `entities that others store during an import stay`() throws {
    try writeFirst()
    let late = Color(id: 99, name: "Late", rgb: "000000")
    var job = LegoImport(into: lego)
    job.batch = 1
    let lego = lego
    var seen: [Int] = []
    _ = try job.run(dump, kinds: [.colors]) { progress in
      seen.append(progress.done)
      try lego.store(late)
    }
    #expect(seen == [1, 2, 3, 3])
    #expect(try lego.cached(Color.self, key: "99") == late)
    #expect(try imported().tallies[.colors] == Tally(unchanged: 3, removed: 1))
    #expect(try dump.estimate(.colors) == 3 && dump.estimate(.elements) == 3)
  }

  @Test func `invalid JSON is reported with its place, and a read-only store refuses`() throws {
    let broken = EntityFolder(directory: folder.url.path)
    _ = try folder.write("colors.json", Array("[{\"id\":1,\"name\":\"Blue\"}]".utf8))
    let stopped = #expect(throws: LegoImport.Stopped.self) {
      try LegoImport(into: lego).run(broken)
    }
    let error = stopped?.reason as? DumpError
    #expect(error?.kind == .malformed && error?.description == "colors.json: [0].rgb is missing")
    let path = folder.url.path + "/store"
    _ = try LegoCache(at: path)
    var options = Store.Options()
    options.readOnly = true
    let reader = try LegoCache(at: path, options: options)
    let refused = #expect(throws: LegoImport.Stopped.self) {
      try LegoImport(into: reader).run(sample)
    }
    #expect((refused?.reason as? LarderError)?.code == .readOnly)
  }

  // MARK: The sample's contents

  @Test func `the sample is consistent and has the difficult cases`() throws {
    let colors = Dictionary(uniqueKeysWithValues: try sample.read(Color.self).map { ($0.id, $0) })
    let themes = Set(try sample.read(Theme.self).map(\.id))
    let categories = Set(try sample.read(PartCategory.self).map(\.id))
    let parts = Dictionary(
      uniqueKeysWithValues: try sample.read(Part.self).map { ($0.partNum, $0) })
    let sets = try sample.read(ModelSet.self)
    let elements = try sample.read(Element.self)
    let pairs = try sample.read(PartColor.self)
    for theme in try sample.read(Theme.self) {
      #expect(theme.parentID.map(themes.contains) ?? true)
    }
    for part in parts.values { #expect(categories.contains(part.categoryID), "\(part.key)") }
    for set in sets { #expect(set.themeID.map(themes.contains) ?? set.setNum.hasPrefix("fig-")) }
    for element in elements {
      #expect(parts[element.part.partNum] == element.part, "\(element.key)")
      #expect(colors[element.color.id] == element.color, "\(element.key)")
    }
    for pair in pairs {
      let own = elements.filter { $0.part.partNum == pair.partNum && $0.color.id == pair.colorID }
      #expect(Set(own.map(\.key)) == Set(pair.elements), "\(pair.key)")
    }
    #expect(colors[-1] != nil && colors[9999] != nil)
    #expect(colors.values.contains { $0.externalIDs?["Peeron"]?.ids.contains(nil) == true })
    #expect(Set(parts.keys).isSuperset(of: ["003381", "5102c01.875", "134916-740"]))
    #expect(Set(sets.map(\.key)).isSuperset(of: ["0003977811-1", "CINDERELLASCASTLE-1", "001-1"]))
    let scalars = Set((parts.values.map(\.name) + sets.map(\.name)).flatMap(\.unicodeScalars))
    for scalar in ["\u{200B}", "\u{FEFF}", "\u{200E}", "\u{FE0F}", "\"", "'"] as [Unicode.Scalar] {
      #expect(scalars.contains(scalar), "U+\(String(scalar.value, radix: 16))")
    }
  }
}
