import Foundation
import Service
import Testing

@testable import LegoCache

@Suite struct EntityTests {
  private func decoded<Entity: Decodable>(_ type: Entity.Type, _ json: String) throws -> Entity {
    try JSONDecoder().decode(type, from: Data(json.utf8))
  }

  @Test func `keys are the ids as they are written, in a namespace of each kind`() {
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
  }

  @Test func `an element without a number is known by its part and colour`() throws {
    let json = """
      {"element_id": null, "design_id": null, "part": {"part_num": "3001", "name": "Brick 2 x 4", "part_cat_id": 11},
       "color": {"id": 4, "name": "Red", "rgb": "C91A09", "is_trans": null}}
      """
    let element = try decoded(Element.self, json)
    #expect(element.elementID == nil && element.designID == nil)
    #expect(element.key == "3001/4")
    #expect(element.color.isTransparent == nil)
    #expect(element.color.externalIDs == nil)
  }

  @Test func `nulls and short rows inside the lists of a colour stay where they are`() throws {
    let json = """
      {"id": 1, "name": "Blue", "rgb": "0055BF", "is_trans": false, "external_ids":
       {"Peeron": {"ext_ids": [null, 7], "ext_descrs": [[], ["a", "b", "c"]]}}}
      """
    let color = try decoded(Color.self, json)
    let peeron = try #require(color.externalIDs?["Peeron"])
    #expect(peeron.ids == [nil, 7])
    #expect(peeron.descriptions == [[], ["a", "b", "c"]])
    #expect(try JSON(encoding: color) == JSON(Data(json.utf8)))
    #expect(
      try decoded(Color.self, #"{"id":2,"name":"","rgb":"","is_trans":true,"external_ids":{}}"#)
        .externalIDs == [:])
  }

  @Test func `a part's list form and detail form both fit`() throws {
    let list = try decoded(
      Part.self,
      #"{"part_num":"3001","name":"Brick 2 x 4","part_cat_id":11,"external_ids":{"Peeron":[null]}}"#
    )
    #expect(list.prints == nil && list.externalIDs == ["Peeron": [nil]])
    let detail = try decoded(
      Part.self,
      #"{"part_num":"3001","name":"","part_cat_id":11,"prints":[],"molds":["x"],"alternates":[]}"#)
    #expect(detail.prints == [] && detail.molds == ["x"])
  }

  @Test func `fields that identify an entity are required`() {
    #expect(throws: DecodingError.self) { try decoded(Theme.self, #"{"name":"Technic"}"#) }
    #expect(throws: DecodingError.self) { try decoded(Part.self, #"{"name":"x","part_cat_id":1}"#) }
    #expect(throws: DecodingError.self) {
      try decoded(ModelSet.self, #"{"set_num":null,"name":"x"}"#)
    }
    #expect(throws: DecodingError.self) {
      try decoded(PartColor.self, #"{"color_id":1,"elements":[]}"#)
    }
  }

  @Test func `an answer about a part in a colour takes both from what was asked`() throws {
    let decoder = JSONDecoder()
    decoder.userInfo[PartColor.askedPart] = "3941"
    decoder.userInfo[PartColor.askedColor] = 0
    let bare = Data(#"{"num_sets":433,"elements":["394126"]}"#.utf8)
    let pair = try decoder.decode(PartColor.self, from: bare)
    #expect(pair.key == "3941/0" && pair.setCount == 433 && pair.elements == ["394126"])

    let named = try decoder.decode(
      PartColor.self, from: Data(#"{"color_id":7,"elements":[]}"#.utf8))
    #expect(named.key == "3941/7", "what the answer says comes first")
    #expect(try JSONDecoder().decode(PartColor.self, from: JSONEncoder().encode(pair)) == pair)
  }
}
