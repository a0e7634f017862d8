import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct ArgumentTests {
  private func argument(_ text: String) throws -> Argument { try command("x " + text).arguments[1] }

  @Test(arguments: ["'--x'", "\"--x\"", "'@a'", "\\@a", "\\--x", "''--x", "'-0'", "''@a"])
  func `what is quoted is a plain word`(text: String) throws {
    #expect(try argument(text).word != nil)
  }

  @Test(arguments: ["'a*'", "\"a?\"", #"a\*"#, "'[a]'", #"\{a,b\}"#, "plain", "hex:00"])
  func `a quoted pattern is a key`(text: String) throws { #expect(try !word(text).isGlob) }

  @Test(arguments: ["a*", "'a b'*", "?", "[ab]c", "{a,b}"])
  func `a bare sign makes a pattern`(text: String) throws { #expect(try word(text).isGlob) }

  @Test func `behind two dashes every word is exact data`() throws {
    let arguments = try command("x @m -- --y @n -- a* hex:00").arguments
    #expect(arguments[1].namespace == "m")
    let words = arguments.dropFirst(2).compactMap(\.word)
    #expect(words.map(\.bytes) == ["--y", "@n", "--", "a*", "hex:00"].map(bytes))
    #expect(words.allSatisfy { !$0.isBare && !$0.isGlob && !$0.isHexOrBase64 })
  }

  @Test func `a namespace has at most 100 bytes`() throws {
    _ = try argument("@" + String(repeating: "a", count: 100))
    _ = try error { _ = try argument("@" + String(repeating: "a", count: 101)) }
  }

  @Test(arguments: [
    ("hex:00ff", [0x00, 0xFF]), ("hex:FF0a", [0xFF, 0x0A]), ("hex:", []), ("b64:AP8=", [0, 0xFF]),
    ("'hex:00'", bytes("hex:00")), (#"\hex:00"#, nil), ("HEX:00", bytes("HEX:00")),
  ]) func `bare hex and base64 are bytes`(text: String, expected: [UInt8]?) throws {
    guard let expected else {
      _ = try error { _ = try word(text) }
      return
    }
    #expect(try word(text).data() == expected)
  }
}

@Suite struct SizeTests {
  @Test(arguments: [
    ("512", 512), ("512B", 512), ("10kB", 10_000), ("10MB", 10_000_000), ("1.5GB", 1_500_000_000),
    ("10KiB", 10_240), ("10MiB", 10_485_760), ("1.5gib", 1_610_612_736), ("10KB", 10_000),
    ("1TB", 1_000_000_000_000), ("0", 0), ("0.5kb", 500), ("1tib", 1 << 40),
  ]) func `a size is a number with a unit`(text: String, bytes: Int) throws {
    #expect(try word(text).size() == bytes)
  }

  @Test(arguments: [("50", 50), ("5k", 5000), ("1.5k", 1500), ("2M", 2_000_000), ("'7'", 7)])
  func `a count takes k and M`(text: String, count: Int) throws {
    #expect(try word(text).count() == count)
  }

  @Test(arguments: [
    (0, "0 B"), (812, "812 B"), (999, "999 B"), (1000, "1 kB"), (2400, "2.4 kB"), (9_949, "9.9 kB"),
    (9_960, "10 kB"), (31_200, "31 kB"), (300_000, "300 kB"), (999_499, "999 kB"),
    (999_500, "1 MB"), (1_234_567, "1.2 MB"), (16_300_000, "16.3 MB"), (9_000_000, "9 MB"),
    (99_960_000, "100 MB"), (480_000_000, "480 MB"), (1_500_000_000, "1.5 GB"),
    (Int.max, "9.2 EB"), (Int.min, "-9223372036854775808 B"),
  ]) func `a size is shown in powers of 1000`(bytes: Int, expected: String) {
    #expect(Wording.size(bytes) == expected)
  }

  @Test func `counts have their thousands apart`() {
    for (count, text) in [
      (0, "0"), (999, "999"), (1203, "1,203"), (-1_234_567, "-1,234,567"),
      (Int.min, "-9,223,372,036,854,775,808"),
    ] { #expect(Wording.count(count) == text) }
    #expect(Wording.entries(1) == "1 entry")
  }
}

@Suite struct QuotingTests {
  @Test(arguments: [
    "int:0", "int:10", "int:-1", "int:\(Int64.min)", "int:\(UInt64.max)", "int:\(Int128.min)",
    "int:\(UInt128.max)", "uuid:f81d4fae-7dec-41d0-a765-00a0c91e6bf6",
  ]) func `keys of integers and UUIDs are typed as they are shown`(text: String) throws {
    let key = try word(text).key()
    #expect(Quoting.key(key) == text && Quoting.typed(key) == text && Quoting.brief(key) == text)
    #expect(try word("'\(text)'").key() == Array(text.utf8))
    #expect(Quoting.typed(Array(text.utf8)) == "\"\(text)\"")
  }

  @Test func `integers and UUIDs are the keys that a program writes`() throws {
    #expect(try [word("int:-7").key(), word("int:+7").key()] == [Key(-7).bytes, Key(7).bytes])
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
  ]) func `keys are quoted`(key: [UInt8], expected: String) {
    #expect(Quoting.quoted(key) == expected)
  }

  @Test(arguments: [
    (bytes("a b"), "a b"), (bytes("a\tb\n\\"), #"a\tb\n\\"#), ([0xFF], #"\xff"#),
    (bytes("\"\u{202E}"), "\\\"\u{202E}"), (bytes("\u{1B}[31m\u{9B}"), #"\e[31m\u{9b}"#),
  ]) func `plain fields stay on their line`(field: [UInt8], expected: String) {
    #expect(Quoting.plain(field) == expected)
  }

  @Test(arguments: [
    ("abc", "abc"), ("a:b/c.d", "a:b/c.d"), ("Malm\u{F6}", "Malm\u{F6}"), ("a b", "\"a b\""),
    ("@a", "\"@a\""), ("-a", "\"-a\""), ("a-b@c", "a-b@c"), ("hex:00", "\"hex:00\""),
    ("a*", "\"a*\""),
    ("#a", "\"#a\""), ("", "\"\""), ("'", "\"'\""), ("a\u{200B}", #""a\u{200b}""#),
  ]) func `completion quotes if need be`(key: String, expected: String) {
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
      // A hint cannot show a word whose quote has no end, or whose single quote would end the quotes of the hint.
      return #expect(hint == "quote the whole word")
    }
    try shell("set @x k \(hint.dropFirst(6))")
    #expect(try shell("get @x k") == word + "\n" || shell("get @x k") == "\n\(word)\n")
  }
}
