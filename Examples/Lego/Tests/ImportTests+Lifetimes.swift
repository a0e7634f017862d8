import ExampleTesting

@testable import LegoCache

/// The lifetimes of imported entities, and imports that fail.
extension ImportTests {
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

  @Test(arguments: [false, true])
  func `an expired entity counts as absent, purged or not`(isPurged: Bool) throws {
    try writeFirst()
    _ = try imported()
    clock.advance(by: .days(isPurged ? 37 : 7))
    if isPurged { #expect(try lego.clearExpired() == 2 + 3 + 3) }
    try write("parts", "part_num,name,part_cat_id", "3001,Brick 2 x 4,11")
    try write("elements", "element_id,part_num,color_id", "300126,3001,0")
    let report = try imported()
    #expect(report.tallies[.parts] == Tally(added: 1, removed: isPurged ? 0 : 1))
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
    "id,name,rgb,is_trans\n1,Blue\nx,Broken,000000,f",
  ])
  func `a damaged table leaves its kind as it was, and the import is resumed`(text: String) throws {
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

  @Test func `rows that cannot be read are skipped and listed, and nothing is removed`() throws {
    try writeFirst()
    _ = try imported()
    try write(
      "colors", "id,name,rgb,is_trans", "0,Black", "1,Blue,0055BF,f", "4,\"Red\"x,B40000,f",
      "x,Broken,000000,f", "\"5,Unclosed,B40000,f", "6,\"Two", "lines\",000000,f",
      "8,Green,237841,f")
    let report = try imported()
    #expect(report.tallies[.colors] == Tally(added: 3))
    #expect(try lego.cached(Color.self, key: "6")?.name == "Two\nlines")
    #expect(
      report.skipped[.colors]?.list == [
        "colors.csv:2: 2 fields, but the first row names 4 columns",
        "colors.csv:4:8: text after the quote that closes a field",
        "colors.csv:5: id: \"x\" is not a number",
        "colors.csv:7:4: text after the quote that closes a field",
      ])
    #expect(try lego.count(of: .colors) == 6, "the rows of three may be those that cannot be read")
    // The red and black elements refer to such rows.
    #expect(report.skipped[.elements]?.count == 3 && report.failure == nil)
    #expect(try lego.count(of: .elements) == 3 && lego.count(of: .partColors) == 3)
    try writeSecond()
    #expect(try imported().tallies[.colors]?.removed == 3)
  }

  @Test func `entities that others store meanwhile stay, and a failure is reported`() throws {
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
    let mixed = #"[{"id": 1, "name": "Blue"}, {"id": 2, "name": "Green", "rgb": "237841"}]"#
    _ = try folder.write("colors.json", Array(mixed.utf8))
    let report = try imported()
    #expect(report.tallies[.colors] == Tally(added: 1))
    #expect(report.skipped[.colors]?.list == ["colors.json: 1: [0].rgb is missing"])
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

  @Test func `a list as the API answers it is imported, null is a skipped row`() throws {
    let colors =
      #"{"id": 1, "name": "Blue", "rgb": "0055BF"}, null, {"id": 2, "name": "Red", "rgb": "C91A09"}"#
    _ = try folder.write("colors.json", Array("{\"count\": 3, \"results\": [\(colors)]}".utf8))
    var report = try imported()
    #expect(report.tallies[.colors]?.added == 2)
    #expect(report.skipped[.colors]?.list == ["colors.json: [1] is null"])
    // A page of the list removes nothing.
    let page =
      #"{"count": 223, "next": "x", "results": [{"id": 1, "name": "Blue", "rgb": "0055BF"}]}"#
    _ = try folder.write("colors.json", Array(page.utf8))
    report = try imported()
    #expect(report.skipped[.colors]?.list == ["colors.json: it has 1 of 223"])
    #expect(try lego.count(of: .colors) == 2)
    for (text, reason) in [
      (#"{"results": 7}"#, "results is not a list"), ("{}", "the body is not a list"),
      ("[null]", "[0] is null"),
    ] {
      _ = try folder.write("colors.json", Array(text.utf8))
      let stopped = #expect(throws: LegoImport.Stopped.self) { try imported() }
      let error = stopped?.reason as? DumpError
      #expect(error?.description == "colors.json: \(reason)")
    }
  }

  @Test func `a second import into a store at once is refused`() throws {
    _ = try folder.write(
      "colors.json", Array(#"[{"id": 1, "name": "Blue", "rgb": "0055BF"}]"#.utf8))
    var refused: LarderError?
    let report = try LegoImport(into: lego).run(dump) { _ in
      refused = #expect(throws: LarderError.self) { try LegoImport(into: lego).run(sample) }
    }
    #expect(refused?.code == .busy && report.tallies[.colors]?.added == 1)
    #expect(try lego.count() == 1)
    #expect(try LegoImport(into: lego).run(sample).tallies[.colors]?.read == 64)
  }
}
