import ExampleTesting
import Foundation
import LegoCache
import Testing

/// Small dumps, written for the occasion.
@Suite struct DumpTests {
  private let folder: TemporaryFolder
  private var dump: RebrickableDump { RebrickableDump(directory: folder.url.path) }

  init() throws { folder = try TemporaryFolder() }

  private func write(_ table: RebrickableDump.Table, _ text: String) throws {
    _ = try folder.write("\(table.rawValue).csv", Array(text.utf8))
  }

  private func all<Entity>(_ read: ((Entity) throws -> Void) throws -> Int) throws -> [Entity] {
    var entities: [Entity] = []
    #expect(try read { entities.append($0) } == entities.count)
    return entities
  }

  @Test(arguments: [
    "id,name,rgb,is_trans\n-1,[Unknown],0033B2,f\n40,Trans-Black,635F52,t\n",
    "id,name,rgb,is_trans\r\n-1,[Unknown],0033B2,False\r\n40,Trans-Black,635F52,True\r\n",
    "id,name,rgb,is_trans,num_parts,num_sets,y1,y2\n-1,[Unknown],0033B2,False,17,2,2000,2000\n40,Trans-Black,635F52,True,1,1,1999,2025\n",
  ])
  func `colours of every vintage`(text: String) throws {
    try write(.colors, text)
    #expect(
      try all(dump.colors) == [
        Color(id: -1, name: "[Unknown]", rgb: "0033B2", isTransparent: false),
        Color(id: 40, name: "Trans-Black", rgb: "635F52", isTransparent: true),
      ])
  }

  @Test func `themes, categories and parts`() throws {
    try write(.themes, "id,name,parent_id\n1,Technic,\n3,Competition,1\n")
    try write(.categories, "id,name\n4,\"Duplo, Quatro and Primo\"\n")
    try write(
      .parts, "part_num,name,part_cat_id,part_material\n003381,\"16\"\" Sheet\",58,Plastic\n")
    #expect(
      try all(dump.themes) == [
        Theme(id: 1, name: "Technic"), Theme(id: 3, name: "Competition", parentID: 1),
      ])
    #expect(try all(dump.categories) == [PartCategory(id: 4, name: "Duplo, Quatro and Primo")])
    #expect(try all(dump.parts) == [Part(partNum: "003381", name: "16\" Sheet", categoryID: 58)])
    #expect(dump.tables == [.themes, .categories, .parts])
  }

  @Test func `sets and minifigs are one kind, minifigs without year and theme`() throws {
    try write(
      .sets,
      "set_num,name,year,theme_id,num_parts,img_url\n0003977811-1,Ninjago,2022,761,1,https://a.b/c.jpg\n"
    )
    try write(.minifigs, "fig_num,name,num_parts,img_url\nfig-000001,Toy Store Employee,4,\n")
    #expect(
      try all(dump.sets) == [
        ModelSet(
          setNum: "0003977811-1", name: "Ninjago", year: 2022, themeID: 761, partCount: 1,
          imageURL: "https://a.b/c.jpg")
      ])
    #expect(
      try all(dump.minifigs) == [
        ModelSet(setNum: "fig-000001", name: "Toy Store Employee", partCount: 4)
      ])
  }

  private func writePartsAndColors() throws {
    try write(.colors, "id,name,rgb,is_trans\n0,Black,05131D,f\n4,Red,C91A09,f\n")
    try write(.parts, "part_num,name,part_cat_id\n3001,Brick 2 x 4,11\n")
  }

  @Test(arguments: [
    "element_id,part_num,color_id,design_id\n300126,3001,0,3001\n300121,3001,4,\"\"\n4114319,3001,0,\n",
    "element_id,part_num,color_id\n300126,3001,0\n300121,3001,4\n4114319,3001,0\n",
  ])
  func `elements carry their part and colour, pairs their elements`(text: String) throws {
    try writePartsAndColors()
    try write(.elements, text)
    let elements = try all(dump.elements)
    #expect(elements.map(\.key) == ["300126", "300121", "4114319"])
    #expect(
      elements.allSatisfy { $0.part == Part(partNum: "3001", name: "Brick 2 x 4", categoryID: 11) })
    #expect(elements.map(\.color.name) == ["Black", "Red", "Black"])
    #expect(elements.map(\.designID) == [text.contains("design_id") ? "3001" : nil, nil, nil])
    #expect(
      try all(dump.partColors) == [
        PartColor(
          partNum: "3001", colorID: 0, colorName: "Black", elements: ["300126", "4114319"]),
        PartColor(partNum: "3001", colorID: 4, colorName: "Red", elements: ["300121"]),
      ])
  }

  @Test func `an element of a part or colour that is not there is an error`() throws {
    try writePartsAndColors()
    try write(.elements, "element_id,part_num,color_id\n1,3001,0\n2,9999,0\n")
    let part = #expect(throws: DumpError.self) { try dump.elements { _ in } }
    #expect(part?.description == "elements.csv:3: no part \"9999\"")
    try write(.elements, "element_id,part_num,color_id\n1,3001,77\n")
    let color = #expect(throws: DumpError.self) { try dump.elements { _ in } }
    #expect(color?.kind == .dangling && color?.line == 2)
    #expect(throws: DumpError.self) { try dump.partColors { _ in } }
  }

  @Test func `a table that is not there is an error that names it`() throws {
    let error = #expect(throws: DumpError.self) { try dump.colors { _ in } }
    #expect(error?.kind == .unreadable && error?.file == "colors.csv")
    #expect(dump.tables == [])
  }

  @Test func `what the caller throws comes through and ends the reading`() throws {
    struct Enough: Error {}
    try write(.themes, "id,name,parent_id\n1,Technic,\n3,Competition,1\n")
    var seen = 0
    #expect(throws: Enough.self) {
      try dump.themes { _ in
        seen += 1
        throw Enough()
      }
    }
    #expect(seen == 1)
  }
}
