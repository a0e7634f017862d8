import TestSupport
import Testing

@testable import ShellLanguage

@Suite struct GlobTests {
  @Test(
    arguments: [
      ("*", "", true), ("*", "a/b:c", true), ("a*", "a", true), ("a*", "ba", false),
      ("*a", "bba", true), ("*a", "ab", false), ("a*b*c", "a1b2c", true), ("a*b*c", "acb", false),
      ("a?c", "abc", true), ("a?c", "ac", false), ("?", "\u{F6}", true), ("?", "\u{1F682}", true),
      ("??", "o\u{308}", true), ("[a-c]x", "bx", true), ("[a-c]x", "dx", false),
      ("[!a-c]x", "dx", true), ("[!a-c]x", "ax", false), ("[!a-c]x", "x", false),
      ("[a-]", "-", true), ("[!]]", "]", false), ("[^a]", "^", true),
      ("[\u{E5}-\u{F6}]", "\u{F6}", true), ("[,]", ",", true), ("{a,b}c", "bc", true),
      ("{a,b}c", "cc", false), ("{a,}c", "c", true), ("{a*,b?}{1,2}", "axx2", true),
      ("{a*,b?}{1,2}", "bxx2", false), ("{a,{b,c}d}", "cd", true), ("{a,{b,c}d}", "c", false),
      ("x,y*", "x,yz", true), ("a]*", "a]b", true), ("a}*", "a}b", true), ("'*'*", "*x", true),
      ("'*'*", "ax", false), (#"a\**"#, "a*b", true), (#"a\**"#, "axb", false),
      (#"[\]]"#, "]", true), (#"[a\-z]"#, "m", false),
      ("'Malm\u{F6} C:'*", "Malm\u{F6} C:07", true), ("*{a,b}*{c,d}*", "xxbyydzz", true),
    ] as [(String, String, Bool)])
  func `a pattern matches`(pattern: String, key: String, expected: Bool) throws {
    #expect(try Glob(word(pattern)).matches(bytes(key)) == expected)
  }

  @Test func `a byte that is not UTF-8 is a character`() throws {
    #expect(try Glob(word("a?b")).matches(bytes("a") + [0xFF] + bytes("b")))
    #expect(try Glob(word("a[!x]b")).matches(bytes("a") + [0xFF] + bytes("b")))
    #expect(try !Glob(word("a?b")).matches(bytes("a") + [0xFF, 0xFE] + bytes("b")))
    #expect(try Glob(word(#"\xff*"#)).matches([0xFF, 0x61]))
  }

  @Test func `a pattern is bounded`() throws {
    let long = String(repeating: "a", count: 127)
    #expect(try Glob(word("?*" + long.dropLast(2))).matches(bytes("xy" + long.dropLast(2))))
    _ = try error { _ = try Glob(word("?*" + long)) }
    #expect(try Glob(word(long + long + "*")).matches(bytes(long + long)))
    _ = try error { _ = try Glob(word(String(repeating: "a", count: 1001) + "*")) }
    _ = try error { _ = try Glob(word(String(repeating: "{a,", count: 300))) }
    _ = try error { _ = try Glob(word(String(repeating: "{a,", count: 900))) }
  }

  @Test(.timeLimit(.minutes(20))) func `no pattern takes exponential time`() throws {
    let key = bytes(String(repeating: "a", count: 65_536))
    #expect(try !Glob(word(String(repeating: "*a", count: 60) + "*b")).matches(key))
    #expect(try !Glob(word(String(repeating: "{a,aa}", count: 40) + "*b")).matches(key))
    #expect(try !Glob(word(String(repeating: "{,a}", count: 100) + "*{,b}c")).matches(key))
  }

  @Test func `patterns match as the regular expressions that mean the same`() throws {
    var generator = SeededRNG()
    // The signs of a pattern without quotes and escapes, as a regular expression has them.
    let parts: [Character: String] = [
      "*": ".*", "?": ".", "!": "^", "{": "(?:", ",": "|", "}": ")",
    ]
    let pieces = ["a", "b", "*", "?", "[ab]", "[!a]", "{a,b*}", "{ab,,b}", "{a?,{b,*c}}"]
    for _ in 0..<4000 {
      var pattern = ""
      for _ in 0..<Int.random(in: 1...5, using: &generator) {
        let piece = pieces.randomElement(using: &generator)!
        if !(pattern.hasSuffix("*") && piece == "*") { pattern += piece }
      }
      guard try word(pattern).isGlob else { continue }
      let glob = try Glob(word(pattern))
      let expected = try Regex(pattern.map { parts[$0] ?? String($0) }.joined())
      for _ in 0..<5 {
        let key = String(
          (0..<Int.random(in: 0...6, using: &generator)).map { _ in
            "abc".randomElement(using: &generator)!
          })
        #expect(
          glob.matches(bytes(key)) == (key.wholeMatch(of: expected) != nil),
          "LARDER_SEED=\(generator.seed): \(pattern) and \(key)")
      }
    }
  }
}
