import ExampleTesting
import Foundation
import Larder
import Service
import Testing

@testable import LegoCache

/// Imports beside what is stored already, and imports that fail.
extension ImportTests {
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
    let short = LegoCache(lego.larder, plan: CachePlan(disk: .shortTerm))
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
  }

  @Test(arguments: [1, 2, 2000]) func `a damaged table is reported, and the import resumed`(
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
    let reader = try #require(try LegoCache(at: path, options: options))
    let refused = #expect(throws: LegoImport.Stopped.self) {
      try LegoImport(into: reader).run(sample)
    }
    #expect((refused?.reason as? LarderError)?.code == .readOnly)
  }
}
