import ExampleTesting

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
      // Decoding the files' JSON loses nothing.
      let files = Entity.kind == .sets ? ["sets", "minifigs"] : [Entity.kind.word]
      let json = try files.flatMap { name in
        let file = URL(filePath: Folders.sample).appending(path: name + ".json")
        return try JSONDecoder().decode([JSON].self, from: Data(contentsOf: file))
      }
      #expect(try JSON(encoding: entities) == JSON(encoding: json))
    }
    for kind in EntityKind.allCases { try check(kind.type) }
    let transaction = try lego.larder.statistics().file.transaction
    let again = try LegoImport(into: lego).run(sample)
    #expect(again.tallies == Self.sizes.mapValues { Tally(unchanged: $0) })
    let entry = try lego.entities(Part.self)?.entry(for: "3001")
    #expect(entry?.version ?? 0 <= 101, "no entity was written twice")
    #expect(try lego.larder.statistics().file.transaction - transaction <= 7)
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

  @Test(arguments: [1, 2, 3, 1000])
  func `the changes between two dumps are counted`(batch: Int) throws {
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
      #expect(report.skipped[.colors]?.list.first == "colors.csv:3: a second row of 1")
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
    try lego.larder.namespace("lego.colors").set(
      Array(#"{"id": 7, "external_ids": 7}"#.utf8), for: "7")
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
}
