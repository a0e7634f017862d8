import ExampleTesting

@testable import LegoCache

/// Fields that a dump has, leaves empty, or has not.
extension ImportTests {
  private func writeDump(isEmpty: Bool) throws {
    func field(_ text: String) -> String { isEmpty ? "" : text }
    try write("colors", "id,name,rgb,is_trans", "4,Red,C91A09,\(field("f"))")
    try write("themes", "id,name,parent_id", "1,Technic,", "2,Sub,\(field("1"))")
    try write("parts", "part_num,name,part_cat_id", "3001,Brick,11")
    try write(
      "sets", "set_num,name,year,theme_id,num_parts,img_url",
      isEmpty ? "1-1,A,,,," : "1-1,A,2000,1,7,u")
    try write("minifigs", "fig_num,name,num_parts,img_url", "fig-1,B,\(field("4")),\(field("u"))")
    try write(
      "elements", "element_id,part_num,color_id,design_id", "9,3001,4,\(field("3001"))")
  }

  @Test func `a field that the dump leaves empty is taken away`() throws {
    try writeDump(isEmpty: false)
    _ = try imported()
    var set = try #require(try lego.cached(ModelSet.self, key: "1-1"))
    #expect(set.year == 2000 && set.imageURL == "u")
    set.url = "only the API has it"
    try lego.store(set)
    try writeDump(isEmpty: true)
    let report = try imported()
    #expect(report.tallies[.colors] == Tally(changed: 1))
    #expect(report.tallies[.themes] == Tally(changed: 1, unchanged: 1))
    #expect(report.tallies[.sets] == Tally(changed: 2))
    #expect(report.tallies[.elements] == Tally(changed: 1))
    #expect(try lego.cached(Theme.self, key: "2") == Theme(id: 2, name: "Sub"))
    #expect(
      try lego.cached(ModelSet.self, key: "1-1")
        == ModelSet(setNum: "1-1", name: "A", url: "only the API has it"))
    #expect(try lego.cached(ModelSet.self, key: "fig-1") == ModelSet(setNum: "fig-1", name: "B"))
    let red = Color(id: 4, name: "Red", rgb: "C91A09")
    let brick = Part(partNum: "3001", name: "Brick", categoryID: 11)
    #expect(try lego.cached(Color.self, key: "4") == red)
    #expect(
      try lego.cached(Element.self, key: "9") == Element(elementID: "9", part: brick, color: red))
    #expect(try imported().tallies.values.allSatisfy { $0.changed == 0 && $0.added == 0 })
  }

  @Test func `in JSON null is an empty field, and an absent member none`() throws {
    func write(_ members: String) throws {
      let text = #"[{"id": 2, "name": "Sub"\#(members)}]"#
      _ = try folder.write("themes.json", Array(text.utf8))
    }
    try write(#", "parent_id": 1"#)
    _ = try imported()
    try write("")
    #expect(try imported().tallies[.themes] == Tally(unchanged: 1))
    try write(#", "parent_id": null"#)
    #expect(try imported().tallies[.themes] == Tally(changed: 1))
    #expect(try lego.cached(Theme.self, key: "2") == Theme(id: 2, name: "Sub"))
    // The numbers of other systems are one field.
    var red = Color(id: 4, name: "Red", rgb: "C91A09", isTransparent: false)
    red.externalIDs = ["LEGO": .init(ids: [21], descriptions: [[]])]
    try lego.store(red)
    let ids = #"{"BrickLink": {"ext_ids": [5], "ext_descrs": [["Red"]]}}"#
    let text = #"[{"id": 4, "name": "Red", "rgb": "C91A09", "external_ids": \#(ids)}]"#
    _ = try folder.write("colors.json", Array(text.utf8))
    _ = try imported()
    red.externalIDs = ["BrickLink": .init(ids: [5], descriptions: [["Red"]])]
    #expect(try lego.cached(Color.self, key: "4") == red)
  }

  @Test func `an element of another part keeps nothing of the former one`() throws {
    var old = Part(partNum: "3001", name: "Brick 2 x 4", categoryID: 11)
    old.url = "a"
    var red = Color(id: 4, name: "Red", rgb: "C91A09")
    red.externalIDs = [:]
    try lego.store(
      Element(
        elementID: "9", designID: "3001", part: old, color: red, imageURL: "b", partImageURL: "c"))
    try write("colors", "id,name,rgb,is_trans", "4,Red,C91A09,f")
    try write("parts", "part_num,name,part_cat_id", "3002,Brick 2 x 3,11")
    try write("elements", "element_id,part_num,color_id", "9,3002,4")
    #expect(try imported().tallies[.elements] == Tally(changed: 1))
    let part = Part(partNum: "3002", name: "Brick 2 x 3", categoryID: 11)
    red.isTransparent = false
    #expect(
      try lego.cached(Element.self, key: "9") == Element(elementID: "9", part: part, color: red))
  }

  @Test func `a field of a wrong form is left out of its row, and others are removed`() throws {
    try write("minifigs", "fig_num,name", "fig-1,B")
    try write("sets", "set_num,name,year", "1-1,A,2000", "2-1,B,2001")
    _ = try imported()
    try write("sets", "set_num,name,year", "1-1,New name,19th", "3-1,C,99999999999999999999")
    let report = try imported()
    #expect(report.tallies[.sets] == Tally(added: 1, changed: 1, unchanged: 1, removed: 1))
    #expect(
      report.skipped[.sets]?.list == [
        "sets.csv:2: year: \"19th\" is not a number, and left out",
        "sets.csv:3: year: \"99999999999999999999\" is not a number, and left out",
      ])
    #expect(
      try lego.cached(ModelSet.self, key: "1-1")
        == ModelSet(setNum: "1-1", name: "New name", year: 2000))
  }

  @Test func `a field of a wrong form is left out of JSON, too`() throws {
    func write(_ row: String) throws {
      let rows = #"[{"set_num": "1-1", "name": "A", \#(row)}]"#
      _ = try folder.write("sets.json", Array(rows.utf8))
    }
    _ = try folder.write("minifigs.csv", Array("fig_num,name\nfig-1,B\nfig-2,C\n".utf8))
    try write(#""year": 2000"#)
    _ = try imported()
    _ = try folder.write("minifigs.csv", Array("fig_num,name\nfig-1,B\n".utf8))
    try write(#""year": "n/a", "num_parts": [], "theme_id": 7"#)
    let report = try imported()
    #expect(report.tallies[.sets] == Tally(changed: 1, unchanged: 1, removed: 1))
    #expect(
      report.skipped[.sets]?.list.sorted() == [
        "sets.json: 1-1: num_parts is not a number, and left out",
        "sets.json: 1-1: year is not a number, and left out",
      ])
    #expect(
      try lego.cached(ModelSet.self, key: "1-1")
        == ModelSet(setNum: "1-1", name: "A", year: 2000, themeID: 7))
    try writeDump(isEmpty: false)
    let color = #""color": {"id": 4, "name": "Red", "rgb": "C91A09"}"#
    let part = #""part": {"part_num": "3001", "name": "Brick", "part_cat_id": 11, "year_to": "x"}"#
    _ = try folder.write(
      "elements.json", Array(#"[{"element_id": "9", \#(color), \#(part)}]"#.utf8))
    #expect(
      try imported().skipped[.elements]?.list
        == ["elements.json: 9: part.year_to is not a number, and left out"])
  }

  @Test func `the room that a dump needs is known before`() throws {
    #expect((89_000..<400_000).contains(sample.storedSize()))
    try writeDump(isEmpty: false)
    #expect((2000..<5000).contains(dump.storedSize()))
    #expect(
      dump.storedSize(of: [.colors]) == 2 * "id,name,rgb,is_trans\n4,Red,C91A09,f\n".count + 400)
    try lego.store(Theme(id: 4, name: "A"))
    try lego.store(PartCategory(id: 11, name: "B"))
    try lego.larder.namespace("other").set(Array("12345".utf8), for: "a")
    let (category, other) = (20 + 260, 5 + 260)
    #expect(try lego.otherSize(than: dump.kinds) == category + other, "themes are replaced")
    #expect(try lego.size(with: dump) == (dump.storedSize() + category + other) * 8 / 7)
  }
}
