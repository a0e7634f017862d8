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

  @Test(arguments: ["'--x'", "\"--x\"", "'@a'", "\\@a", "\\--x", "''--x", "'-0'", "''@a"])
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
    ("'hex:00'", bytes("hex:00")), (#"\hex:00"#, nil), ("HEX:00", bytes("HEX:00")),
  ])
  func `bare hex and base64 are bytes`(text: String, expected: [UInt8]?) throws {
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
  ])
  func `a size is a number with a unit`(text: String, bytes: Int) throws {
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
  ])
  func `a size is shown in powers of 1000`(bytes: Int, expected: String) {
    #expect(Wording.size(bytes) == expected)
  }

  @Test func `counts have their thousands apart`() {
    #expect(Wording.count(0) == "0")
    #expect(Wording.count(999) == "999")
    #expect(Wording.count(1203) == "1,203")
    #expect(Wording.count(-1_234_567) == "-1,234,567")
    #expect(Wording.count(Int.min) == "-9,223,372,036,854,775,808")
    #expect(Wording.entries(1) == "1 entry")
  }
}
