import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct QuotingTests {
  @Test(arguments: [
    "int:0", "int:10", "int:-1", "int:\(Int64.min)", "int:\(UInt64.max)", "int:\(Int128.min)",
    "int:\(UInt128.max)", "uuid:f81d4fae-7dec-41d0-a765-00a0c91e6bf6",
  ])
  func `keys of integers and UUIDs are typed as they are shown`(text: String) throws {
    let key = try word(text).key()
    #expect(Quoting.key(key) == text && Quoting.typed(key) == text && Quoting.brief(key) == text)
    #expect(try word("'\(text)'").key() == Array(text.utf8))
    #expect(Quoting.typed(Array(text.utf8)) == "\"\(text)\"")
  }

  @Test func `integers and UUIDs are the keys that a program writes`() throws {
    #expect(try word("int:-7").key() == Key(-7).bytes)
    #expect(try word("int:+7").key() == Key(7).bytes)
    let id = UUID()
    #expect(try word("uuid:\(id.uuidString)").key() == Key(id).bytes)
    for text in ["int:", "int:x", "int:1.5", "uuid:1", "uuid:f81d4fae7dec41d0a76500a0c91e6bf6"] {
      #expect(
        try error { _ = try word(text).key() }.hint?.description.contains("quote the word") == true)
    }
    // A key is shown as a UUID only if the key has 16 bytes and the bytes are no text.
    #expect(Quoting.key([0xF8] + Array(repeating: 0, count: 16)).hasPrefix("\""))
    #expect(Quoting.key(bytes("0123456789abcdef")) == "\"0123456789abcdef\"")
  }

  @Test(arguments: [
    ([], #""""#), (bytes("a"), #""a""#), (bytes("Malm\u{F6} C:07"), "\"Malm\u{F6} C:07\""),
    (bytes("a\"b\\"), #""a\"b\\""#), (bytes("\n\t\r\u{1B}\0\u{7F}"), #""\n\t\r\e\0\x7f""#),
    ([0xFF, 0x61, 0xC3], #""\xffa\xc3""#),
    (bytes("\u{9B}\u{202E}\u{200B}"), #""\u{9b}\u{202e}\u{200b}""#),
    ([0xED, 0xA0, 0x80], #""\xed\xa0\x80""#), ([0xC0, 0x80], #""\xc0\x80""#),
    (bytes("\u{2764}\u{FE0F}"), "\"\u{2764}\u{FE0F}\""),
  ])
  func `keys are quoted`(key: [UInt8], expected: String) {
    #expect(Quoting.quoted(key) == expected)
  }

  @Test(arguments: [
    (bytes("a b"), "a b"), (bytes("a\tb\n\\"), #"a\tb\n\\"#), ([0xFF], #"\xff"#),
    (bytes("\"\u{202E}"), "\\\"\u{202E}"), (bytes("\u{1B}[31m\u{9B}"), #"\e[31m\u{9b}"#),
  ])
  func `plain fields stay on their line`(field: [UInt8], expected: String) {
    #expect(Quoting.plain(field) == expected)
  }

  @Test(arguments: [
    ("abc", "abc"), ("a:b/c.d", "a:b/c.d"), ("Malm\u{F6}", "Malm\u{F6}"), ("a b", "\"a b\""),
    ("@a", "\"@a\""), ("-a", "\"-a\""), ("a-b@c", "a-b@c"), ("hex:00", "\"hex:00\""),
    ("a*", "\"a*\""),
    ("#a", "\"#a\""), ("", "\"\""), ("'", "\"'\""), ("a\u{200B}", #""a\u{200b}""#),
  ])
  func `completion quotes if need be`(key: String, expected: String) {
    #expect(Quoting.typed(bytes(key)) == expected)
  }

  @Test func `what is printed can be typed back`() throws {
    var generator = SeededRNG()
    for round in 0..<100_000 {
      let key = generator.awkwardBytes(upTo: 12)
      for printed in [Quoting.quoted(key)] + (round % 5 == 0 ? [Quoting.typed(key)] : []) {
        guard printed.isSafe, !key.isEmpty else {
          #expect(key.isEmpty, "LARDER_SEED=\(generator.seed): \(key) is printed as \(printed)")
          continue
        }
        let arguments = try CommandReader.commands(in: bytes("get " + printed), from: .prompt)
          .first?.arguments
        guard arguments?.count == 2, let word = arguments?[1].word,
          case .key(key) = try Selection.Pattern(word, ignoresCase: false), try word.key() == key
        else {
          Issue.record("LARDER_SEED=\(generator.seed): \(key) is printed as \(printed)")
          return
        }
      }
    }
  }

  @Test func `plain fields are one to one and have no control`() throws {
    var generator = SeededRNG()
    for _ in 0..<20_000 {
      let key = generator.awkwardBytes(upTo: 12)
      let field = Quoting.plain(key)
      let isClean = field.unicodeScalars.allSatisfy { !$0.isControl }
      let line = try CommandReader.commands(in: bytes("\"\(field)\""), from: .prompt)
      guard isClean, line[0].arguments[0].word?.bytes == key else {
        Issue.record("LARDER_SEED=\(generator.seed): \(key) is \(field)")
        return
      }
    }
  }

  @Test(arguments: ["a\"b c\"", "caf\u{E9}\"x\"y", "a'b c'd", "\u{4E2D}\u{6587}\", b"])
  func `a word in which a quote opens is written as its hint shows`(word: String) throws {
    let shell = try Shell(.plain)
    let hint = try #require(try shell.error("set @x k \(word)").hint?.description)
    guard hint.hasPrefix("write ") else {
      // No hint can show the word: its quote has no end, or a single quote in the word would end the quotes of the hint.
      return #expect(hint == "quote the whole word")
    }
    try shell("set @x k \(hint.dropFirst(6))")
    #expect(try shell("get @x k") == word + "\n" || shell("get @x k") == "\n\(word)\n")
  }
}
