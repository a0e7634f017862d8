import ExampleTesting

@testable import LegoCache

@Suite struct EntityTests {
  private func decoded<Entity: Decodable>(_ type: Entity.Type, _ json: String) throws -> Entity {
    try JSONDecoder().decode(type, from: Data(json.utf8))
  }

  @Test func `keys are the ids as they are written, in a namespace of each kind`() throws {
    #expect(Color(id: -1, name: "[Unknown]", rgb: "0033B2").key == "-1")
    #expect(Part(partNum: "003381", name: "", categoryID: 58).key == "003381")
    #expect(ModelSet(setNum: "0003977811-1", name: "").key == "0003977811-1")
    #expect(PartColor(partNum: "5102c01.875", colorID: -1).key == "5102c01.875/-1")
    let keys = ["1", "11", "1-1"].flatMap { part in
      [-1, 1, 11, 9999].map { PartColor(partNum: part, colorID: $0).key }
    }
    #expect(Set(keys).count == 12, "a part is another pair in another colour")
    #expect(Set(EntityKind.allCases.map(\.namespace)).count == 7)
    #expect(EntityKind.allCases.allSatisfy { $0.type.kind == $0 })
    let element = try decoded(
      Element.self,
      """
      {"element_id": null, "design_id": null, "part": {"part_num": "3001", "name": "Brick 2 x 4", "part_cat_id": 11},
       "color": {"id": 4, "name": "Red", "rgb": "C91A09", "is_trans": null}}
      """)
    #expect(element.key == "3001/4" && element.elementID == nil, "it has no number of its own")
  }

  @Test(arguments: [
    #"{"id": 1, "name": "Blue", "rgb": "0055BF", "external_ids": {"Peeron": {"ext_ids": [null, 7], "ext_descrs": [[], ["a", "b", "c"]]}}}"#,
    #"{"id": 2, "name": "", "rgb": "", "is_trans": true, "external_ids": {}}"#,
  ]) func `nulls and short rows inside the lists of a colour stay where they are`(json: String)
    throws
  {
    let color = try decoded(Color.self, json)
    let encoded = try JSONDecoder().decode(JSON.self, from: JSONEncoder().encode(color))
    #expect(try encoded == JSONDecoder().decode(JSON.self, from: Data(json.utf8)))
  }

  @Test func `numbers may be text`() throws {
    let part = try decoded(
      Part.self,
      #"{"part_num": "03", "name": "", "part_cat_id": "11", "year_from": "1979", "year_to": null}"#)
    #expect(part == Part(partNum: "03", name: "", categoryID: 11, yearFrom: 1979))
    #expect(try decoded(Color.self, #"{"id": "4", "name": "", "rgb": ""}"#).id == 4)
    #expect(try decoded(Theme.self, #"{"id": "-1", "name": "", "parent_id": "7"}"#).parentID == 7)
    #expect(
      try decoded(ModelSet.self, #"{"set_num": "1", "name": "", "year": "2020"}"#).year == 2020)
    #expect(try decoded(PartColor.self, #"{"part_num": "1", "color_id": "4"}"#).key == "1/4")
    let listed = #""elements": [4211398, "4211399", null]"#
    #expect(
      try decoded(PartColor.self, #"{"part_num": "1", "color_id": 4, \#(listed)}"#).elements
        == ["4211398", "4211399"])
    let known = #""molds": [3001], "external_ids": {"LDraw": [3001, "a", null]}"#
    let more = try decoded(
      Part.self, #"{"part_num": "03", "name": "", "part_cat_id": 1, \#(known)}"#)
    #expect(more.molds == ["3001"] && more.externalIDs == ["LDraw": ["3001", "a", nil]])
    let ids = #""external_ids": {"LEGO": {"ext_ids": ["26", null], "ext_descrs": [["a"], []]}}"#
    let color = try decoded(Color.self, #"{"id": 1, "name": "", "rgb": "", \#(ids)}"#)
    #expect(color.externalIDs?["LEGO"]?.ids == [26, nil])
    let other =
      #""external_ids": {"LEGO": {"ext_ids": null, "ext_descrs": [[null, "a", 7], null]}, "LDraw": null}"#
    #expect(
      try decoded(Color.self, #"{"id": 1, "name": "", "rgb": "", \#(other)}"#).externalIDs
        == ["LEGO": .init(ids: [], descriptions: [["a", "7"], []])])
    for id in [#""red""#, "null", "true"] {
      #expect(throws: DecodingError.self, "\(id)") {
        try decoded(Color.self, #"{"id": \#(id), "name": "", "rgb": ""}"#)
      }
    }
  }

  @Test func `fields that an entity can do without are nil in another form`() throws {
    let part = try decoded(
      Part.self,
      #"{"part_num": "03", "name": "", "part_cat_id": 1, "year_from": "soon", "part_url": [], "print_of": {}}"#
    )
    #expect(part == Part(partNum: "03", name: "", categoryID: 1))
    let color = try decoded(Color.self, #"{"id": 4, "name": "", "rgb": "", "is_trans": "maybe"}"#)
    #expect(color == Color(id: 4, name: "", rgb: ""))
  }

  @Test func `an answer about a part in a colour takes both from the request`() throws {
    let bare = Data(#"{"num_sets":433,"elements":["394126"]}"#.utf8)
    let pair = try JSONDecoder(part: "3941", color: 0).decode(PartColor.self, from: bare)
    #expect(pair.key == "3941/0" && pair.setCount == 433 && pair.elements == ["394126"])
    let named = Data(#"{"color_id":7,"elements":[]}"#.utf8)
    let other = try JSONDecoder(part: "3941", color: 0).decode(PartColor.self, from: named)
    #expect(other.key == "3941/7", "the answer comes first")
    #expect(try JSONDecoder().decode(PartColor.self, from: JSONEncoder().encode(pair)) == pair)
  }
}
