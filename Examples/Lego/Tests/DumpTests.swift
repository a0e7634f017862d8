import ExampleTesting

@testable import LegoCache

/// Small dumps, and files of bytes.
@Suite struct DumpTests {
  private let folder: TemporaryFolder
  private var dump: RebrickableDump { RebrickableDump(directory: folder.url.path) }
  init() throws { folder = try TemporaryFolder() }

  private func write(_ name: String, _ text: String) throws {
    _ = try folder.write(name + ".csv", Array(text.utf8))
  }

  @Test(arguments: [
    "id,name,rgb,is_trans\n-1,[Unknown],0033B2,f\n40,Trans-Black,635F52,t\n",
    "id,name,rgb,is_trans\r\n-1,[Unknown],0033B2,False\r\n40,Trans-Black,635F52,True\r\n",
    "id,name,rgb,is_trans,num_parts,num_sets,y1,y2\n-1,[Unknown],0033B2,False,17,2,2000,2000\n40,Trans-Black,635F52,True,1,1,1999,2025\n",
  ]) func `colours of every year`(text: String) throws {
    try write("colors", text)
    #expect(
      try dump.all(Color.self) == [
        Color(id: -1, name: "[Unknown]", rgb: "0033B2", isTransparent: false),
        Color(id: 40, name: "Trans-Black", rgb: "635F52", isTransparent: true),
      ])
  }

  @Test func `themes, categories, parts and sets; later dumps may leave fields empty`() throws {
    try write("themes", "id,name,parent_id\n1,Technic,\n3,Competition,1\n")
    try write("part_categories", "id,name\n4,\"Duplo, Quatro and Primo\"\n")
    try write(
      "parts", "part_num,name,part_cat_id,part_material\n003381,\"16\"\" Sheet\",58,Plastic\n")
    try write(
      "sets",
      "set_num,name,year,theme_id,num_parts,img_url\n0003977811-1,Ninjago,2022,761,1,https://a.b/c.jpg\n1-1,New,,,,\n"
    )
    #expect(dump.kinds == [.themes, .categories, .parts], "sets need the minifigs beside them")
    try write("minifigs", "fig_num,name,num_parts,img_url\nfig-000001,Toy Store Employee,4,\n")
    #expect(dump.kinds == [.themes, .categories, .parts, .sets])
    #expect(
      try dump.all(Theme.self) == [
        Theme(id: 1, name: "Technic"), Theme(id: 3, name: "Competition", parentID: 1),
      ])
    let category = PartCategory(id: 4, name: "Duplo, Quatro and Primo")
    #expect(try dump.all(PartCategory.self) == [category])
    let part = Part(partNum: "003381", name: "16\" Sheet", categoryID: 58)
    #expect(try dump.all(Part.self) == [part])
    #expect(
      try dump.all(ModelSet.self) == [
        ModelSet(
          setNum: "0003977811-1", name: "Ninjago", year: 2022, themeID: 761, partCount: 1,
          imageURL: "https://a.b/c.jpg"), ModelSet(setNum: "1-1", name: "New"),
        ModelSet(setNum: "fig-000001", name: "Toy Store Employee", partCount: 4),
      ])
  }

  @Test(arguments: [
    (["sets.json"], false), (["minifigs.json"], false),
    (["sets.json", "minifigs.json"], true), (["sets.json", "minifigs.csv"], true),
    (["sets.csv", "minifigs.json"], true),
  ]) func `sets are there in full with the minifigs beside them, in JSON or CSV`(
    files: [String], isWhole: Bool
  ) throws {
    for name in files {
      let (set, column) = name.hasPrefix("sets") ? ("1-1", "set_num") : ("fig-1", "fig_num")
      let json = #"{"count": 1, "results": [{"set_num": "\#(set)", "name": "A"}]}"#
      let text = name.hasSuffix(".json") ? json : "\(column),name\n\(set),A\n"
      _ = try folder.write(name, Array(text.utf8))
    }
    #expect(dump.kinds == (isWhole ? [.sets] : []))
    if isWhole { #expect(try dump.all(ModelSet.self).map(\.key) == ["1-1", "fig-1"]) }
  }

  private func writePartsAndColors() throws {
    try write("colors", "id,name,rgb,is_trans\n0,Black,05131D,f\n4,Red,C91A09,f\n")
    try write("parts", "part_num,name,part_cat_id\n3001,Brick 2 x 4,11\n")
  }

  @Test(arguments: [
    "element_id,part_num,color_id,design_id\n300126,3001,0,3001\n300121,3001,4,\"\"\n4114319,3001,0,\n",
    "element_id,part_num,color_id\n300126,3001,0\n300121,3001,4\n4114319,3001,0\n",
  ]) func `elements have their part and colour, pairs their elements`(text: String) throws {
    try writePartsAndColors()
    try write("elements", text)
    let elements = try dump.all(Element.self)
    #expect(elements.map(\.key) == ["300126", "300121", "4114319"])
    let brick = Part(partNum: "3001", name: "Brick 2 x 4", categoryID: 11)
    #expect(elements.allSatisfy { $0.part == brick })
    #expect(elements.map(\.color.name) == ["Black", "Red", "Black"])
    #expect(elements.map(\.designID) == [text.contains("design_id") ? "3001" : nil, nil, nil])
    #expect(
      try dump.all(PartColor.self) == [
        PartColor(
          partNum: "3001", colorID: 0, colorName: "Black", elements: ["300126", "4114319"]),
        PartColor(partNum: "3001", colorID: 4, colorName: "Red", elements: ["300121"]),
      ])
  }

  @Test func `numbers may have a fraction of zero, and the first row of a key counts`() throws {
    try writePartsAndColors()
    try write("colors", "id,name,rgb,is_trans\n4.0,Red,C91A09,f\n4,Other,FFFFFF,f\n")
    try write("parts", "part_num,name,part_cat_id\n3001,Brick 2 x 4,11\n3001,Other,12\n")
    try write("elements", "element_id,part_num,color_id\n300121,3001,4.0\n")
    let element = try #require(try dump.all(Element.self).first)
    #expect(element.part.name == "Brick 2 x 4" && element.color.name == "Red")
    try write("colors", "id,name,rgb,is_trans\n4.5,Red,C91A09,f\n")
    #expect(throws: DumpError.self) { try dump.all(Color.self) }
  }

  @Test func `rows of a missing part or colour are skipped, counted and listed`() throws {
    try writePartsAndColors()
    try write("elements", "element_id,part_num,color_id\n1,3001,0\n2,9999,0\n3,3001,77\n4,3001,4\n")
    var (elements, pairs, many) = (SkippedRows(), SkippedRows(), SkippedRows())
    #expect(try dump.read(Element.self, skipped: &elements).map(\.key) == ["1", "4"])
    #expect(elements.list == ["elements.csv:3: no part \"9999\"", "elements.csv:4: no colour 77"])
    #expect(try dump.read(PartColor.self, skipped: &pairs).count == 2)
    #expect(pairs.list == elements.list)
    try write(
      "elements", "element_id,part_num,color_id\n" + (0..<300).map { "\($0),x,0\n" }.joined())
    #expect(try dump.read(Element.self, skipped: &many) == [])
    #expect(many.count == 300 && many.list.count == SkippedRows.longestList)
  }

  @Test func `colours that can be read do not hide that other rows cannot`() throws {
    try write("colors", "id,name,rgb,is_trans\n0,Black,05131D,f\n")
    try write("elements", "element_id,part_num,color_id\n1,a,0\n")
    var skipped = SkippedRows(areUnreadable: true)
    #expect(try dump.read(PartColor.self, skipped: &skipped).count == 1)
    #expect(skipped.areUnreadable)
  }

  @Test(arguments: ["[]", #"{"count": 0, "results": []}"#])
  func `a file of JSON without an entity is an error, as a table without a row is`(text: String)
    throws
  {
    _ = try folder.write("colors.json", Array(text.utf8))
    let error = #expect(throws: DumpError.self) { try dump.all(Color.self) }
    #expect(error?.description == "colors.json: the list is empty")
  }

  @Test func `a missing table is an error with its name`() throws {
    let error = #expect(throws: DumpError.self) { try dump.all(Color.self) }
    #expect(error?.kind == .unreadable && error?.file == "colors.csv")
    let folder = folder.url.appending(path: "themes.csv")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    #expect(dump.kinds == [])
  }

  // MARK: Files

  /// `id,name\n1,Technic\n`, compressed.
  private static let packed = Data(
    base64Encoded: "H4sIAAAAAAACA8tM0clLzE3lMtQJSU3OyMtM5gIAo+vzkxIAAAA=")

  private func read(_ path: String) throws -> [UInt8] {
    var skipped = SkippedRows()
    return try DumpFile.bytes(of: path, &skipped)
  }

  @Test func `files are read plain or decompressed, whatever their name`() throws {
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    #expect(try read(folder.write("a.csv", bytes)) == bytes)
    #expect(try read(folder.write("empty.csv", [])) == [])
    let plain = Array("id,name\n".utf8)
    #expect(try read(folder.write("a.csv.gz", plain)) == plain, "a browser has unpacked it")
    for name in ["b.csv.gz", "b.csv"] {
      let path = try folder.write(name, #require(Self.packed))
      let text = try String(decoding: read(path), as: UTF8.self)
      #expect(text == "id,name\n1,Technic\n")
    }
    let error = #expect(throws: DumpError.self) { try read("/nowhere/colors.csv.gz") }
    #expect(error?.kind == .unreadable && error?.file == "colors.csv.gz")
  }

  @Test(arguments: [
    ([], 1, 0), ([0, 0, 0, 0], 1, 0), (Array("garbage".utf8), 1, 1), (Array("garbage".utf8), 2, 1),
  ]) func `gzip of several members is read as a whole, and what follows it may be rows`(
    tail: [UInt8], members: Int, count: Int
  ) throws {
    let packed = try #require(Self.packed)
    let path = try folder.write(
      "themes.csv.gz", (0..<members).reduce(Data()) { data, _ in data + packed } + Data(tail))
    var skipped = SkippedRows()
    #expect(try dump.read(Theme.self, skipped: &skipped).map(\.name).first == "Technic")
    #expect(skipped.count == count + (members - 1), "\(skipped)")
    #expect(skipped.areUnreadable == (count == 1), "a damaged member looks like garbage")
    #expect((skipped.list.first?.contains("garbage ignored") ?? false) == (count == 1))
    #expect(try read(path).count == members * 18)
  }

  @Test func `gzip that is truncated or damaged is an error, never a shorter file`() throws {
    let packed = try #require(Self.packed)
    var damaged = packed
    damaged[packed.count - 6] ^= 0xFF
    let cut = [0, 1, 5, packed.count / 2, packed.count - 1].map { packed.prefix($0) }
    for bytes in cut + [damaged] {
      let path = try folder.write("cut.csv.gz", bytes)
      let error = #expect(throws: DumpError.self, "\(bytes.count) bytes") { try read(path) }
      #expect(error?.kind == .damaged && error?.message.contains("gzip") == true)
    }
  }
}
