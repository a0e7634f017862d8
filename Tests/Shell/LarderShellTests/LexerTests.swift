import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct LexerTests {
  private func words(_ text: String) throws -> [[UInt8]] {
    try command(text).arguments.compactMap(\.word).map(\.bytes)
  }

  /// The first command that a line completes. Nil while a quote is open.
  private func first(
    _ line: String, of reader: inout CommandReader
  ) throws -> ShellLanguage.CommandLine? {
    guard case .commands(let lines) = try reader.read(bytes(line)) else { return nil }
    return lines.first
  }

  @Test(arguments: [
    ("get a b", ["get", "a", "b"]), ("  get\ta  ", ["get", "a"]), ("get 'a b'", ["get", "a b"]),
    ("get \"a b\"", ["get", "a b"]), (#"get a\ b"#, ["get", "a b"]),
    (#"get 'b c'"d e"\ f"#, ["get", "b cd e f"]), (#"get '\n'"#, ["get", #"\n"#]),
    (#"get "\n\t\r\e\0\\\"\'""#, ["get", "\n\t\r\u{1B}\0\\\"'"]),
    (#"get \n\x41\u{1F682}\u{f6}"#, ["get", "\nA\u{1F682}\u{F6}"]),
    (##"get \#\@\-\*"##, ["get", "#@-*"]), ("get a # b", ["get", "a"]),
    ("get a#b", ["get", "a#b"]),
    ("get '#a'", ["get", "#a"]), ("get ''", ["get", ""]), ("get ';' \\|", ["get", ";", "|"]),
    ("get a\r", ["get", "a"]), ("get -", ["get", "-"]), ("get -5 -1h", ["get", "-5", "-1h"]),
  ]) func `parts that touch are one word`(text: String, expected: [String]) throws {
    #expect(try words(text) == expected.map(bytes))
  }

  @Test func `bytes that are not UTF-8 come from an escape, or pass as they are`() throws {
    #expect(try words(#"get "\xff\x00\x80""#)[1] == [0xFF, 0, 0x80])
    let line = try CommandReader.commands(in: bytes("get ") + [0xFF, 0xC3], from: .prompt)
    #expect(line[0].arguments[1].word?.bytes == [0xFF, 0xC3])
  }

  @Test func `commands are separated, and their output goes elsewhere`() throws {
    let lines = try CommandReader.commands(
      in: bytes("keys @a;count @a > 'a file' ; get k | less -R; # x"), from: .prompt)
    #expect(lines.map(\.arguments.count) == [2, 2, 2])
    guard lines.count == 3, case .file(let file, appends: false) = lines[1].output,
      case .program(let program, _) = lines[2].output
    else { throw ShellError(.usage, "", hint: nil) }
    #expect(file.bytes == bytes("a file"))
    #expect(program == bytes("less -R; # x"))
    guard case .file(_, appends: true) = try command("keys>>f").output else {
      throw ShellError(.usage, "", hint: nil)
    }
  }

  @Test func `a quote opens at the beginning of a word or behind an introduction`() throws {
    for text in ["x a='b'", "x @'ab'", "x 'a''b'", "x a,'b'", "x *'b'", "x \\ 'b'", "x {a,'b'}"] {
      #expect(throws: Never.self) { try command(text) }
    }
  }

  @Test func `JSON is one word, byte for byte`() throws {
    for (text, expected) in [
      (#"set k {"a": [1, 2]}"#, #"{"a": [1, 2]}"#), (#"set k [ "a;|>" ]"#, #"[ "a;|>" ]"#),
      ("set k {}", "{}"), ("set k []", "[]"), (#"set k [[1]]"#, "[[1]]"),
      (#"set k { "a\"}": "\u00e9" }"#, #"{ "a\"}": "\u00e9" }"#),
    ] { #expect(try words(text).last == bytes(expected), "\(text)") }
    #expect(try words("set k [1,2]").last == bytes("[1,2]"))
    #expect(try word("{a,b}").isGlob && !word(#"{"a":1}"#).isGlob)
    let lines = try CommandReader.commands(in: bytes("set k {\n \"a\": 1\n}\nget k"), from: .input)
    #expect(lines.count == 2)
  }

  @Test func `a name stands for its argument as one quoted word`() throws {
    var variables = Variables()
    try variables.define(bytes("k=a b;'\"*"), isJSON: false)
    try variables.define(bytes("ns=a"), isJSON: false)
    func arguments(_ text: String) throws -> [Argument] {
      try CommandReader.commands(in: bytes(text), from: .eval(1), variables: variables)[0].arguments
    }
    let key = try #require(arguments("evict :k")[1].word)
    #expect(key.bytes == bytes("a b;'\"*") && !key.isGlob && !key.isBare)
    #expect(try arguments("evict @:ns")[1].namespace == "a")
    #expect(try arguments("keys --match=:k")[1].option?.value?.bytes == bytes("a b;'\"*"))
    // The text `:ns` and the value `a` with quotes have the same length, but the line does not have the value.
    #expect(try arguments("keys --where=:ns")[1].option?.value?.place(of: 0..<1) == 13..<16)
    #expect(try arguments("keys --where='a'")[1].option?.value?.place(of: 0..<1) == 14..<15)
    #expect(try arguments("get \":k\"")[1].word?.bytes == bytes(":k"))
    let line = try CommandReader.commands(
      in: bytes("keys > :ns"), from: .eval(1), variables: variables)
    guard case .file(let file, _) = line[0].output else { throw ShellError(.usage, "", hint: nil) }
    #expect(file.bytes == bytes("a"))
  }

  @Test func `the words of a process are not parsed again`() throws {
    let line = try CommandReader.command(of: [
      bytes("get"), bytes("@a"), bytes("k\n;|'\" :x"), bytes("a*"), bytes("--limit=5"), bytes("--"),
      bytes("-x"), bytes("@b"), bytes("a*"), bytes("--"), [0xFF],
    ])
    #expect(line.source == .command && line.arguments.count == 10)
    let words = line.arguments[2...].compactMap(\.word)
    #expect(
      words.map(\.bytes) == [
        bytes("k\n;|'\" :x"), bytes("a*"), bytes("-x"), bytes("@b"), bytes("a*"), bytes("--"),
        [0xFF],
      ])
    #expect(words.map(\.isGlob) == [false, true, false, false, false, false, false])
  }

  @Test func `an open quote asks for another line`() throws {
    var reader = CommandReader(.prompt)
    for text in ["get 'a", ""] {
      guard case .open = try reader.read(bytes(text)) else {
        throw ShellError(.usage, "", hint: nil)
      }
    }
    let read = try first("b' c", of: &reader)
    let line = try #require(read)
    #expect(line.arguments[1].word?.bytes == bytes("a\n\nb"))
    #expect(line.arguments.count == 3)
    #expect(line.place(of: line.arguments[2].range).line == 3)
    #expect(line.place(of: line.arguments[2].range).column == 4)
  }

  @Test func `a reader goes on after an error`() throws {
    var reader = CommandReader(.input)
    _ = try error { _ = try reader.read(bytes("get 'a' <")) }
    let read = try first("get b", of: &reader)
    let line = try #require(read)
    #expect(line.firstLine == 2)
    #expect(line.place(of: 0..<3).line == 2)
  }

  @Test func `long lines take time by their length`() throws {
    let value = String(repeating: "x\\\\", count: 200_000)
    let lines = String(repeating: "line\n", count: 50_000)
    #expect(try command("set k \"\(value)\" '\(lines)'").arguments.count == 4)
  }
}

@Suite struct HighlighterTests {
  private func runs(_ line: String, behind open: String = "") -> [String] {
    let bytes = Array(line.utf8)
    return CommandTable.standard.colors(of: bytes, behind: Array(open.utf8)).map {
      "\($0.color) \(String(decoding: bytes[$0.range], as: UTF8.self))"
    }
  }

  @Test func `each part of a command has its role`() {
    #expect(
      runs("keys @web 'a b' x* --expiring 15m --limit 5") == [
        "command keys", "namespace @web", "quoted 'a b'", "pattern x*", "option --expiring",
        "number 15m", "option --limit", "number 5",
      ])
    #expect(runs("set @a k {\"a\": 1}").last == "quoted {\"a\": 1}")
    #expect(runs("evict --yess -y") == ["command evict", "wrong --yess", "option -y"])
    let expected = ["command keys", "namespace @a", "wrong nope", "command count"]
    #expect(runs("keys @a; nope; count") == expected)
    #expect(runs("get -- @a 12") == ["command get", "option --", "quoted @a", "quoted 12"])
    #expect(runs("get hex:00ff") == ["command get"])
  }

  @Test func `a word that is being typed is wrong only when no name begins so`() {
    #expect(runs("ke") == [])
    #expect(runs("kez") == ["wrong kez"])
    #expect(runs("ke ") == ["wrong ke"])
    #expect(runs("keys --exp") == ["command keys"])
    #expect(runs("keys --exq") == ["command keys", "wrong --exq"])
  }

  @Test func `an error is marked at its place, and text behind an open quote is quoted`() {
    #expect(runs("set @x k a\"b\"") == ["command set", "namespace @x", "error \""])
    #expect(runs("keys a && b").contains("error &&"))
    #expect(
      runs("b' --limit 5", behind: "get 'a\n") == ["quoted b'", "option --limit", "number 5"])
  }

  @Test func `any bytes have runs within the line, in order`() {
    var random = SeededRNG()
    for _ in 0..<2_000 {
      let line = random.bytes(random.next(in: 0..<41))
      let runs = CommandTable.standard.colors(of: line)
      #expect(
        runs.allSatisfy { $0.range.lowerBound >= 0 && $0.range.upperBound <= line.count },
        "LARDER_SEED=\(random.seed)")
      #expect(
        zip(runs, runs.dropFirst()).allSatisfy { $0.range.upperBound <= $1.range.lowerBound },
        "LARDER_SEED=\(random.seed)")
    }
  }
}
