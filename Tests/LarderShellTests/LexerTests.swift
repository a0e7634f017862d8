import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct LexerTests {
  private func words(_ text: String) throws -> [[UInt8]] {
    try command(text).arguments.map {
      guard case .word(let word) = $0 else { throw ShellError(.usage, "not a word", hint: nil) }
      return word.bytes
    }
  }

  @Test(arguments: [
    ("get a b", ["get", "a", "b"]),
    ("  get\ta  ", ["get", "a"]),
    ("get 'a b'", ["get", "a b"]),
    ("get \"a b\"", ["get", "a b"]),
    (#"get a\ b"#, ["get", "a b"]),
    (#"get a'b c'"d e"\ f"#, ["get", "ab cd e f"]),
    (#"get '\n'"#, ["get", #"\n"#]),
    (#"get "\n\t\r\e\0\\\"\'""#, ["get", "\n\t\r\u{1B}\0\\\"'"]),
    (#"get \n\x41\u{1F682}\u{f6}"#, ["get", "\nA\u{1F682}\u{F6}"]),
    (##"get \#\@\-\*"##, ["get", "#@-*"]),
    ("get a # b", ["get", "a"]),
    ("get a#b", ["get", "a#b"]),
    ("get '#a'", ["get", "#a"]),
    ("get ''", ["get", ""]),
    ("get a;b a|b", ["get", "a;b", "a|b"]),
    ("get ';' \\|", ["get", ";", "|"]),
    ("get a\r", ["get", "a"]),
    ("get -", ["get", "-"]),
    ("get -5 -1h", ["get", "-5", "-1h"]),
  ])
  func `parts that touch are one word`(text: String, expected: [String]) throws {
    #expect(try words(text) == expected.map(bytes))
  }

  @Test func `an escape can make any byte`() throws {
    #expect(try words(#"get "\xff\x00\x80""#)[1] == [0xFF, 0, 0x80])
  }

  @Test func `bytes that are not UTF-8 pass as they are`() throws {
    let line = try CommandReader.commands(in: bytes("get ") + [0xFF, 0xC3], from: .prompt)
    guard case .word(let word) = line[0].arguments[1] else {
      throw ShellError(.usage, "", hint: nil)
    }
    #expect(word.bytes == [0xFF, 0xC3])
  }

  @Test(arguments: [
    (#"get a\q"#, 6, 2), (#"get "\q""#, 6, 2), (#"get \x4"#, 5, 3), (#"get \xzz"#, 5, 4),
    (#"get \u{}"#, 5, 3), (#"get \u{110000}"#, 5, 10), (#"get \u{d800}"#, 5, 8),
    (#"get \u41"#, 5, 4),
    ("get \u{F6}\\q", 6, 2), (#"get \"#, 5, 1), ("get a ;", 7, 1), ("get | b", 5, 1),
    ("get &&", 5, 2), ("get > file", 5, 1), ("get <", 5, 1),
  ])
  func `an error points at what is wrong`(text: String, column: Int, width: Int) throws {
    let error = try error { _ = try command(text) }
    #expect(error.code == .usage)
    #expect(error.place?.line == 1)
    #expect(error.place?.column == column)
    #expect(error.place?.width == width)
    #expect(error.hint != nil)
  }

  @Test func `a reserved sign says what to do`() throws {
    let error = try error { _ = try command("keys a* | less") }
    #expect(error.hint?.description == "put it in quotes if it belongs to the key")
  }

  @Test func `an open quote asks for another line`() throws {
    var reader = CommandReader(.prompt)
    guard case .open = try reader.read(bytes("get 'a")) else {
      throw ShellError(.usage, "", hint: nil)
    }
    guard case .open = try reader.read(bytes("")) else { throw ShellError(.usage, "", hint: nil) }
    guard case .command(let line) = try reader.read(bytes("b' c")) else {
      throw ShellError(.usage, "", hint: nil)
    }
    guard case .word(let word) = line.arguments[1] else { throw ShellError(.usage, "", hint: nil) }
    #expect(word.bytes == bytes("a\n\nb"))
    #expect(line.arguments.count == 3)
    #expect(line.place(of: line.arguments[2].range).line == 3)
    #expect(line.place(of: line.arguments[2].range).column == 4)
  }

  @Test func `an open quote at the end names the line where it was opened`() throws {
    let text = "get a\n\nget \"b\nc\nd"
    let error = try error {
      _ = try CommandReader.commands(in: bytes(text), from: .file("s.larder"))
    }
    #expect(error.scripted.hasPrefix("error: s.larder:3:5: the quote opened in line 3"))
  }

  @Test func `a reader goes on after an error`() throws {
    var reader = CommandReader(.input)
    _ = try error { _ = try reader.read(bytes("get 'a' ;")) }
    guard case .command(let line) = try reader.read(bytes("get b")) else {
      throw ShellError(.usage, "", hint: nil)
    }
    #expect(line.firstLine == 2)
    #expect(line.place(of: 0..<3).line == 2)
  }

  @Test func `comments, blank lines, CRLF and a last line without newline are fine`() throws {
    let text = "#!/usr/bin/larder -f\r\n\r\n  # note\r\nkeys a\r\nkeys 'b'"
    let commands = try CommandReader.commands(in: bytes(text), from: .input)
    #expect(commands.map(\.arguments.count) == [2, 2])
    #expect(commands.map(\.firstLine) == [4, 5])
  }

  @Test func `long lines take time by their length`() throws {
    let value = String(repeating: "x\\\\", count: 200_000)
    let lines = String(repeating: "line\n", count: 50_000)
    let line = try command("set k \"\(value)\" '\(lines)'")
    #expect(line.arguments.count == 4)
  }
}

@Suite struct ArgumentTests {
  private func argument(_ text: String) throws -> Argument { try command("x " + text).arguments[1] }

  @Test func `what is bare acts`() throws {
    guard case .option(let long) = try argument("--limit=5") else {
      throw ShellError(.usage, "", hint: nil)
    }
    #expect(long.name == "limit" && long.value?.bytes == bytes("5"))
    guard case .option(let quoted) = try argument("--tag='a b'") else {
      throw ShellError(.usage, "", hint: nil)
    }
    #expect(quoted.name == "tag" && quoted.value?.bytes == bytes("a b"))
    guard case .option(let short) = try argument("-0") else {
      throw ShellError(.usage, "", hint: nil)
    }
    #expect(short.isShort && short.name == "0")
    guard case .namespace(.named(let name)) = try argument("@departures") else {
      throw ShellError(.usage, "", hint: nil)
    }
    #expect(name.text == "departures")
    guard case .namespace(.all) = try argument("@*") else {
      throw ShellError(.usage, "", hint: nil)
    }
  }

  @Test(arguments: [
    "'--x'", "\"--x\"", "'@a'", "\\@a", "\\--x", "-'-x'", "--x'y'", "''--x", "'-0'", "''@a",
  ])
  func `what is quoted is a plain word`(text: String) throws {
    guard case .word = try argument(text) else {
      Issue.record("\(text) acts")
      return
    }
  }

  @Test(arguments: ["'a*'", "\"a?\"", #"a\*"#, "'[a]'", #"\{a,b\}"#, "plain", "hex:00"])
  func `a quoted pattern is a key`(text: String) throws {
    #expect(try !word(text).isGlob)
  }

  @Test(arguments: ["a*", "'a b'*", "?", "[ab]c", "{a,b}"])
  func `a bare sign makes a pattern`(text: String) throws {
    #expect(try word(text).isGlob)
  }

  @Test func `two dashes end the options, not the namespaces`() throws {
    let arguments = try command("x -- --y @n --").arguments
    guard case .word(let word) = arguments[1], case .namespace = arguments[2],
      case .word(let dashes) = arguments[3]
    else { throw ShellError(.usage, "", hint: nil) }
    #expect(word.bytes == bytes("--y"))
    #expect(dashes.bytes == bytes("--"))
  }

  @Test(arguments: ["@", "@a@b", "@'a b'", "@\u{3000}x", "@\\xff", "@dep*"])
  func `a namespace has a name`(text: String) throws {
    #expect(try error { _ = try argument(text) }.code == .usage)
  }

  @Test func `a namespace has at most 100 bytes`() throws {
    _ = try argument("@" + String(repeating: "a", count: 100))
    _ = try error { _ = try argument("@" + String(repeating: "a", count: 101)) }
  }

  @Test(arguments: [
    ("hex:00ff", [0x00, 0xFF]), ("hex:FF0a", [0xFF, 0x0A]), ("hex:", []), ("b64:AP8=", [0, 0xFF]),
    ("'hex:00'", bytes("hex:00")), ("hex:'00'", bytes("hex:00")), (#"\hex:00"#, nil),
    ("HEX:00", bytes("HEX:00")),
  ])
  func `bare hex and base64 are bytes`(text: String, expected: [UInt8]?) throws {
    guard let expected else {
      _ = try error { _ = try word(text) }
      return
    }
    #expect(try word(text).data() == expected)
  }

  @Test(arguments: [("hex:0", 3), ("hex:0g", 8), ("hex:00*", 9), ("b64:A", 3), ("b64:A*==", 3)])
  func `bad digits are pointed at`(text: String, column: Int) throws {
    let line = try command("x " + text)
    guard case .word(let word) = line.arguments[1] else { throw ShellError(.usage, "", hint: nil) }
    let error = try error { _ = try word.data() }
    #expect(line.locate(error).place?.column == column)
  }

  @Test func `a key is not empty and no pattern`() throws {
    _ = try error { _ = try word("''").key() }
    _ = try error { _ = try word("hex:").key() }
    let pattern = try error { _ = try word("a*").key() }
    #expect(pattern.message.description.contains("pattern"))
    #expect(try word("'a*'").key() == bytes("a*"))
  }
}
