import ExampleTesting

@testable import LegoCache

@Suite struct CSVReaderTests {
  /// Everything in `text`, the first row first.
  private func read(_ text: some Sequence<UInt8>) throws -> [[String]] {
    var reader = try CSVReader(file: "t.csv", bytes: Array(text))
    var rows = [reader.columns]
    while let row = try reader.next() { rows.append(row.fields) }
    return rows
  }

  @Test(arguments: [
    ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]), ("a,b\r\n1,2\r\n", [["a", "b"], ["1", "2"]]),
    ("a,b\n1,2", [["a", "b"], ["1", "2"]]), ("\u{FEFF}a,b\n1,2\n", [["a", "b"], ["1", "2"]]),
    ("\u{FEFF}\"a\",b\n", [["a", "b"]]), ("a,b\n,\n", [["a", "b"], ["", ""]]),
    ("a,b\n\"\",\"\"", [["a", "b"], ["", ""]]), ("a\n\n", [["a"], [""]]),
    ("a\n\"x,\"\"y\"\"\"\n", [["a"], ["x,\"y\""]]),
    ("a,b\n\"1\r\n2\n\",3\r\n", [["a", "b"], ["1\r\n2\n", "3"]]), ("a\n x \n", [["a"], [" x "]]),
    ("a\n\u{FEFF}x\u{0}\n", [["a"], ["\u{FEFF}x\u{0}"]]),
    // Blank lines, and blanks around the names of the columns.
    ("\n \r\na,b\n\n1,2\n\t\n\n", [["a", "b"], ["1", "2"]]),
    ("\u{FEFF}\u{FEFF}a , b\n1 , 2", [["a", "b"], ["1 ", " 2"]]),
  ]) func `fields, quotes and line ends`(text: String, rows: [[String]]) throws {
    #expect(try read(text.utf8) == rows)
  }

  @Test(arguments: ["\u{200D}", "\u{FE0F}", "\u{301}", "\u{200B}", "\u{1F3FD}"])
  func `a character that clings to a quote or comma does not hide it`(clinging: String) throws {
    let text = "a,b\n\"\(clinging)x,\",\(clinging)y\n1,2\n"
    #expect(try read(text.utf8) == [["a", "b"], ["\(clinging)x,", "\(clinging)y"], ["1", "2"]])
  }

  @Test(
    arguments: [
      ("a,b\n1\n", 2, nil, "1 fields, but the first row names 2"),
      ("a,b\n1,2\n1,2,3\n", 3, nil, "3 fields"),
      ("a,b\n1,x\"y\n", 2, 4, "a quote inside a field"),
      ("a,b\n1,\"x\"y\n", 2, 6, "text after the quote"),
      ("a,b\n\"1\n\",2\n3,\"4\n", 4, 3, "never closed"), ("a,b\n1,2\r3\n", 2, 4, "carriage return"),
      ("a,a\n", 1, nil, "two columns are called \"a\""), ("", nil, nil, "empty"),
    ] as [(String, Int?, Int?, String)]) func `malformed CSV is an error with its position`(
      text: String, line: Int?, column: Int?, message: String
    ) throws
  {
    let error = try #require(#expect(throws: DumpError.self) { try read(text.utf8) })
    #expect(error.kind == .malformed && error.file == "t.csv")
    #expect(error.line == line && error.column == column, "\(error)")
    #expect(error.message.contains(message), "\(error)")
  }

  @Test func `bytes that are not UTF-8 are an error at their field`() {
    let error = #expect(throws: DumpError.self) {
      try read(Array("a,b\n1,x".utf8) + [0xC3, 0x28, 0x0A])
    }
    #expect(error?.description == "t.csv:2:3: a field that is not UTF-8")
  }

  @Test func `fields go by the name of their column and say what is wrong with them`() throws {
    let text = "id,name,is_trans,parent\n7,x,t,\nseven,,True,1\n,,maybe,z\n"
    var reader = try CSVReader(file: "t.csv", bytes: Array(text.utf8))
    var first = try #require(try reader.next())
    #expect(first["name"] == "x" && first["absent"] == nil && first.line == 2)
    #expect(try first.number("id") == 7)
    #expect(first.optionalTruth("is_trans") == true)
    #expect(first.optionalNumber("parent") == nil && first.optionalNumber("absent") == nil)
    #expect(first.cleared == ["parent"] && first.faults == [])
    let absent = #expect(throws: DumpError.self) { try first.text("absent") }
    #expect(absent?.kind == .missingColumn)

    var second = try #require(try reader.next())
    #expect(second.optionalNumber("parent") == 1)
    let number = #expect(throws: DumpError.self) { try second.number("id") }
    #expect(number?.description == "t.csv:3: id: \"seven\" is not a number")

    var third = try #require(try reader.next())
    #expect(throws: DumpError.self) { try third.identifier("id") }
    #expect(third.optionalTruth("is_trans") == nil && third.optionalNumber("parent") == nil)
    #expect(third.faults.map(\.kind) == [.badValue, .badValue] && third.cleared == [])
    #expect(try reader.next() == nil)
  }

  @Test(arguments: ["id,name\n", "\u{FEFF}id, name\r\n", "\"id\",\"name\"\n"])
  func `the names of the columns again are a skipped row`(header: String) throws {
    let text = "id,name\n7,x\n\n\(header) 8 ,y\n"
    var reader = try CSVReader(file: "t.csv", bytes: Array(text.utf8))
    #expect(try reader.next()?.line == 2)
    let error = #expect(throws: DumpError.self) { try reader.next() }
    #expect(error?.kind == .skipped && error?.line == 4)
    let last = try #require(try reader.next())
    #expect(try last.number("id") == 8 && last.identifier("id") == "8" && last.line == 5)
    #expect(try reader.next() == nil)
  }

  @Test func `any table that is written is read back`() throws {
    var random = SeededRNG(seed: TestSettings.seed)
    let pieces = [
      "a", "\"", ",", "\n", "\r", "\r\n", " ", "\u{200D}", "\u{FE0F}", "\u{FEFF}", "\u{1F600}",
      "\u{0}", "\u{15E}",
    ]
    for _ in 0..<200 {
      let width = Int.random(in: 1...5, using: &random)
      var table = [(0..<width).map { "column \($0)" }]
      for _ in 0..<Int.random(in: 0...8, using: &random) {
        let row = (0..<width).map { _ in
          (0..<Int.random(in: 0...6, using: &random)).map { _ in
            pieces[random.next(in: pieces.indices)]
          }.joined()
        }
        table.append(row)
      }
      let lineEnd = Bool.random(using: &random) ? "\n" : "\r\n"
      let text = table.map { row in
        row.map { Self.written($0, quoted: Bool.random(using: &random)) }.joined(separator: ",")
      }.joined(separator: lineEnd)
      let back = try read((text + lineEnd).utf8)
      #expect(
        back.map { $0.map { Array($0.utf8) } } == table.map { $0.map { Array($0.utf8) } },
        "LARDER_SEED=\(TestSettings.seed)")
    }
  }

  /// A field as CSV has it, quoted where it must be or may be.
  private static func written(_ field: String, quoted: Bool) -> String {
    let special = field.unicodeScalars.contains { ["\"", ",", "\n", "\r"].contains($0) }
    guard quoted || special else { return field }
    let doubled = field.unicodeScalars.flatMap { $0 == "\"" ? [$0, $0] : [$0] }
    return "\"" + String(String.UnicodeScalarView(doubled)) + "\""
  }
}
