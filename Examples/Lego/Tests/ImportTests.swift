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

  let sample = RebrickableDump(directory: Folders.sample)
  var dump: RebrickableDump { RebrickableDump(directory: folder.url.path) }

  func write(_ table: String, _ lines: String...) throws {
    _ = try folder.write(table + ".csv", Array((lines.joined(separator: "\n") + "\n").utf8))
  }

  func imported(_ lego: LegoCache? = nil, batch: Int = 1000) throws -> ImportReport {
    var job = LegoImport(into: lego ?? self.lego)
    job.batch = batch
    return try job.run(dump)
  }

  func expiry(_ kind: EntityKind, _ key: String) throws -> Timestamp? {
    try lego.larder.namespace(kind.namespace).entry(for: key)?.expires
  }

  // MARK: The sample

  static let sizes: [EntityKind: Int] = [
    .colors: 64, .themes: 62, .categories: 67, .parts: 101, .sets: 63, .elements: 54,
    .partColors: 40,
  ]

  @Test func `every entity of the sample reads back equal, and again changes nothing`() throws {
    let report = try LegoImport(into: lego).run(sample)
    #expect(report.tallies == Self.sizes.mapValues { Tally(added: $0) })
    #expect(report.omissions.isEmpty)
    #expect(try lego.count() == 451)
    func check<Entity: LegoEntity>(_ type: Entity.Type) throws {
      let entities = try sample.all(type)
      #expect(entities.count == Self.sizes[Entity.kind])
      for entity in entities { #expect(try lego.cached(type, key: entity.key) == entity) }
      // Decoding the file's JSON loses nothing.
      let file = URL(filePath: Folders.sample).appending(path: "\(Entity.kind.word).json")
      #expect(try JSON(encoding: entities) == JSON(Data(contentsOf: file)))
    }
    for kind in EntityKind.allCases { try check(kind.type) }
    let transaction = try lego.larder.statistics().file.transaction
    let again = try LegoImport(into: lego).run(sample)
    #expect(again.tallies == Self.sizes.mapValues { Tally(unchanged: $0) })
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

  // MARK: One dump over another

  func writeFirst() throws {
    try write(
      "colors", "id,name,rgb,is_trans", "0,Black,05131D,f", "4,Red,C91A09,f", "7,Grey,9BA19D,f")
    try write("parts", "part_num,name,part_cat_id", "3001,Brick 2 x 4,11", "3002,Brick 2 x 3,11")
    try write(
      "elements", "element_id,part_num,color_id,design_id", "300126,3001,0,3001",
      "300121,3001,4,3001", "300226,3002,0,3002")
  }

  func writeSecond() throws {
    // Grey is gone, red another red, blue new.
    try write(
      "colors", "id,name,rgb,is_trans", "0,Black,05131D,f", "1,Blue,0055BF,f", "4,Red,B40000,f")
    try write(
      "parts", "part_num,name,part_cat_id", "3001,Brick 2 x 4,11", "3002,Brick 2 x 3,11",
      "3003,Brick 2 x 2,11")
    // One element is new for a stored pair, one pair has gone with its element, a red one follows its colour.
    try write(
      "elements", "element_id,part_num,color_id,design_id", "300126,3001,0,3001",
      "4211385,3001,0,3001", "300121,3001,4,3001")
  }

  @Test(arguments: [1, 2, 3, 1000]) func `the changes between two dumps are counted`(
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

    let reads = try lego.larder.statistics().reads
    #expect(reads.hits == 0 && reads.misses == 0 && reads.expired == 0, "an import is no reading")
    #expect(try lego.cached(Color.self, key: "7") == nil)
    #expect(try lego.cached(Color.self, key: "4")?.rgb == "B40000")
    #expect(try lego.cached(Element.self, key: "300121")?.color.rgb == "B40000")
    #expect(try lego.cached(PartColor.self, key: "3002/0") == nil)
    #expect(try lego.cached(PartColor.self, key: "3001/0")?.elements == ["300126", "4211385"])
    #expect(try lego.entities(Color.self)?.entry(for: "0") == black, "it was left untouched")
    #expect(try lego.count() == 3 + 3 + 3 + 2)
  }

  @Test func `the first row of a key counts, and others are listed`() throws {
    try write(
      "colors", "id,name,rgb,is_trans", "1,Blue,0055BF,f", "1,Bleu,0055BF,f", "1,Bleu,0055BF,f")
    try write("elements", "element_id,part_num,color_id", "9,3001,1", "9,3001,1")
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

  @Test func `a dump without a column or a table keeps what is known of it`() throws {
    try write("sets", "set_num,name,year,theme_id,num_parts,img_url", "1-1,A,2000,1,7,")
    #expect(try imported().omissions[.sets] == .absent, "sets need the minifigs beside them")
    #expect(try lego.count() == 0)
    try write("minifigs", "fig_num,name,num_parts,img_url", "fig-1,B,4,")
    #expect(try imported().tallies == [.sets: Tally(added: 2)])
    try write("sets", "set_num,name", "1-1,A")
    #expect(try imported().tallies[.sets] == Tally(unchanged: 2))
    #expect(try lego.cached(ModelSet.self, key: "1-1")?.partCount == 7)
    try write("minifigs", "fig_num,name,num_parts,img_url", "fig-2,B,4,")
    #expect(try imported().tallies == [.sets: Tally(added: 1, unchanged: 1, removed: 1)])
  }

  @Test func `kinds that are not wanted, not there or switched off are left alone`() throws {
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

  @Test func `an import never removes fields that only the API has`() throws {
    try writeFirst()
    var black = Color(id: 0, name: "Black", rgb: "05131D", isTransparent: false)
    black.externalIDs = ["LEGO": .init(ids: [26], descriptions: [["Black"]])]
    var brick = Part(partNum: "3001", name: "Brick, old name", categoryID: 11)
    (brick.prints, brick.molds, brick.alternates) = (["3001pr0001"], [], [])
    var red = Color(id: 4, name: "Red", rgb: "C91A09", isTransparent: false)
    red.externalIDs = [:]
    try lego.store(black)
    try lego.store(brick)
    try lego.store(Element(elementID: "300121", part: brick, color: red))
    try lego.larder.namespace("lego.colors").set(#"{"id": 7, "external_ids": 7}"#, for: "7")
    let report = try imported()
    #expect(report.tallies[.colors] == Tally(added: 1, changed: 1, unchanged: 1))
    #expect(report.tallies[.parts] == Tally(added: 1, changed: 1))
    #expect(try lego.cached(Color.self, key: "0") == black)
    #expect(try lego.cached(Color.self, key: "7")?.externalIDs == nil, "it was no colour")
    brick.name = "Brick 2 x 4"
    #expect(try lego.cached(Part.self, key: "3001") == brick)
    let element = try lego.cached(Element.self, key: "300121")
    #expect(element?.part == brick && element?.color == red && element?.designID == "3001")
    #expect(try imported().tallies[.parts] == Tally(unchanged: 2))
  }

  // MARK: Lifetimes

  @Test func `an entity is renewed after half of its lifetime`() throws {
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

  @Test(arguments: [false, true]) func `an expired entity counts as absent, purged or not`(
    isPurged: Bool
  ) throws {
    try writeFirst()
    _ = try imported()
    clock.advance(by: .days(7))
    if isPurged { #expect(try lego.clearExpired() == 2 + 3 + 3) }
    try write("parts", "part_num,name,part_cat_id", "3001,Brick 2 x 4,11")
    try write("elements", "element_id,part_num,color_id", "300126,3001,0")
    let report = try imported()
    #expect(report.tallies[.parts] == Tally(added: 1))
    #expect(report.tallies[.colors] == Tally(unchanged: 3))
    #expect(try lego.cached(Part.self, key: "3002") == nil)
  }

  @Test func `a stale entity keeps the fields that only the API has`() throws {
    try writeFirst()
    var brick = Part(partNum: "3001", name: "Brick, old name", categoryID: 11)
    (brick.prints, brick.molds, brick.alternates) = (["3001pr0001"], [], [])
    try lego.keep([brick])
    clock.advance(by: .days(8))
    #expect(try lego.cached(Part.self, key: "3001") == nil, "it is stale")
    #expect(try imported().tallies[.parts] == Tally(added: 2))
    brick.name = "Brick 2 x 4"
    #expect(try lego.cached(Part.self, key: "3001") == brick)
  }

  @Test func `another preset, or an operator's lifetime, decides what is renewed`() throws {
    try writeFirst()
    _ = try imported()
    let short = try imported(LegoCache(lego.larder, plan: CachePlan(disk: .shortTerm)))
    #expect(short.tallies.values.reduce(0) { $0 + $1.renewed } == 11)
    #expect(try expiry(.colors, "0") == clock.now.advanced(by: .days(1)))
    #expect(try expiry(.parts, "3001") == clock.now.advanced(by: .hours(2)))
    #expect(try imported().tallies.values.reduce(0) { $0 + $1.renewed } == 11, "and back")
    #expect(try expiry(.colors, "0") == nil)
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

  @Test(arguments: [
    "id,name,rgb,is_trans", "<!DOCTYPE html><html>", "id,name,is_trans\n0,Black,f",
    "id,name,rgb,is_trans\n1,Blue,0055BF,f\n4,Red,B40000,f\nx,Broken,000000,f",
  ]) func `a damaged table leaves its kind as it was, and the import is resumed`(
    text: String
  ) throws {
    try writeFirst()
    _ = try imported()
    try write("colors", text)
    let stopped = #expect(throws: LegoImport.Stopped.self) { try imported() }
    #expect(stopped?.reason is DumpError && stopped?.report.failure?.kind == .colors)
    #expect(stopped?.report.failure?.imported == 0)
    #expect(stopped?.report.omissions[.parts] == .notBegun)
    #expect(try lego.count() == 11)
    #expect(try lego.cached(Color.self, key: "4")?.rgb == "C91A09")
    try writeSecond()
    #expect(
      try imported().tallies[.colors] == Tally(added: 1, changed: 1, unchanged: 1, removed: 1))
  }

  @Test func `entities that others store during an import stay, and its failure is reported`()
    throws
  {
    struct Enough: Error {}
    try writeFirst()
    let late = Color(id: 99, name: "Late", rgb: "000000")
    var job = LegoImport(into: lego)
    job.batch = 1
    var seen: [Int] = []
    _ = try job.run(dump, kinds: [.colors]) { progress in
      seen.append(progress.done)
      #expect(progress.total == 3)
      try lego.store(late)
    }
    #expect(seen == [1, 2, 3])
    #expect(try lego.cached(Color.self, key: "99") == late)
    let stopped = #expect(throws: LegoImport.Stopped.self) {
      try job.run(dump) { progress in if progress.done == 2 { throw Enough() } }
    }
    #expect(stopped?.reason is Enough && stopped?.report.failure?.imported == 2)
    #expect(try lego.cached(Color.self, key: "99") == late)
    #expect(try imported().tallies[.colors] == Tally(unchanged: 3, removed: 1))
  }

  @Test func `invalid JSON is reported with its place, and a read-only store refuses`() throws {
    _ = try folder.write("colors.json", Array("[{\"id\":1,\"name\":\"Blue\"}]".utf8))
    let stopped = #expect(throws: LegoImport.Stopped.self) { try imported() }
    let error = stopped?.reason as? DumpError
    #expect(error?.kind == .malformed && error?.description == "colors.json: [0].rgb is missing")
    let path = folder.url.path + "/store"
    _ = try LegoCache(at: path)
    var options = Store.Options()
    options.readOnly = true
    let reader = try #require(try LegoCache(at: path, options: options))
    let refused = #expect(throws: LegoImport.Stopped.self) {
      try LegoImport(into: reader).run(sample)
    }
    #expect((refused?.reason as? LarderError)?.code == .readOnly)
  }
}
