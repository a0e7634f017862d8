import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct ArgumentTests {
  private func argument(_ text: String) throws -> Argument { try command("x " + text).arguments[1] }

  @Test func `what is bare acts`() throws {
    let long = try #require(argument("--limit=5").option)
    #expect(long.name == "limit" && long.value?.bytes == bytes("5"))
    let quoted = try #require(argument("--tag='a b'").option)
    #expect(quoted.name == "tag" && quoted.value?.bytes == bytes("a b"))
    let short = try #require(argument("-0").option)
    #expect(short.isShort && short.name == "0")
    #expect(try argument("@departures").namespace == "departures")
  }

  @Test(arguments: [
    "'--x'", "\"--x\"", "'@a'", "\\@a", "\\--x", "''--x", "'-0'", "''@a",
  ])
  func `what is quoted is a plain word`(text: String) throws {
    #expect(try argument(text).word != nil)
  }

  @Test(arguments: ["'a*'", "\"a?\"", #"a\*"#, "'[a]'", #"\{a,b\}"#, "plain", "hex:00"])
  func `a quoted pattern is a key`(text: String) throws {
    #expect(try !word(text).isGlob)
  }

  @Test(arguments: ["a*", "'a b'*", "?", "[ab]c", "{a,b}"])
  func `a bare sign makes a pattern`(text: String) throws {
    #expect(try word(text).isGlob)
  }

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
    ("'hex:00'", bytes("hex:00")), (#"\hex:00"#, nil),
    ("HEX:00", bytes("HEX:00")),
  ])
  func `bare hex and base64 are bytes`(text: String, expected: [UInt8]?) throws {
    guard let expected else {
      _ = try error { _ = try word(text) }
      return
    }
    #expect(try word(text).data() == expected)
  }
}
