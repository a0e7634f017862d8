import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct RegularExpressionTests {
  private func matcher(
    _ source: String, ignoresCase: Bool = false, _ pause: @escaping () throws -> Void = {}
  ) throws -> PatternMatcher {
    try RegularExpression(
      Word(bytes(source), isBare: false, at: 0..<source.utf8.count + 2), ignoresCase: ignoresCase
    ).matcher(pause)
  }

  private func found(_ source: String, in text: String) throws -> String? {
    try matcher(source).firstMatch(in: bytes(text)[...])
      .map { String(decoding: bytes(text)[$0], as: UTF8.self) }
  }

  @Test func `an expression is found anywhere in a key`() throws {
    let matcher = try matcher(#"C:\d+$"#)
    #expect(try matcher.matches(bytes("Malm\u{F6} C:07")))
    #expect(try !matcher.matches(bytes("Malm\u{F6} C:x")))
    #expect(try !matcher.matches([0xFF]))
    #expect(try !matcher.matches(bytes("C:07") + [0xFF]))
  }

  @Test func `bytes that are not UTF-8 are characters`() throws {
    let key = bytes("a") + [0xFF]
    for source in ["a.", "a.$", "a[^b]", #"a\W"#, #"a\D\z"#, #"a[\Sx]"#, "^a", #"a\b"#] {
      #expect(try matcher(source).matches(key), "\(source)")
    }
    for source in ["a$", #"a\w"#, "a[a-z]", #"a\B"#] {
      #expect(try !matcher(source).matches(key), "\(source)")
    }
  }

  @Test(
    arguments: [
      ("b+", "abbbc", "bbb"), ("b+?", "abbbc", "b"), ("a|ab", "ab", "a"),
      ("(?:ab|a)b?", "abb", "abb"), ("x*", "aax", ""), ("^a", "ba", nil),
      ("(?m)^b$", "a\nb\nc", "b"), ("b$", "b\n", nil), (#"b\Z"#, "b\n", "b"), (#"b\z"#, "b\n", nil),
      (".", "\n", nil), ("(?s).", "\n", "\n"), (#"\bcat\b"#, "concat cat", "cat"),
      (#"\Bcat"#, "cat concat", "cat"), (#"\d+"#, "a42", "42"), (#"\D+"#, "42a", "a"),
      (#"[^\d\s]+"#, "1 ab", "ab"), ("[]a]+", "x]a", "]a"), ("[a-c-]+", "x-ab", "-ab"),
      ("[[:upper:]]+", "abCD", "CD"), ("[[:^alpha:]]", "ab1", "1"), (#"[\]\\]+"#, #"a]\"#, #"]\"#),
      ("a{2}", "aaa", "aa"), ("a{2,}", "aaa", "aaa"), ("a{,2}b", "aaab", "aab"),
      ("a{x}", "a{x}", "a{x}"), ("}", "a}", "}"), ("(?i)straSSe", "STRASSE", "STRASSE"),
      ("(?i)\u{E9}", "\u{C9}", "\u{C9}"), ("(?i)k", "\u{212A}", "\u{212A}"), ("(?i:a)b", "AB", nil),
      ("(?i:a)b", "Ab", "Ab"), ("(?<year>[0-9]{4})", "in 1999", "1999"),
      (#"\x41\x{1F682}\u00e9"#, "A\u{1F682}\u{E9}", "A\u{1F682}\u{E9}"), ("(a*)*b", "aaab", "aaab"),
      ("(|a)+c", "aac", "aac"), ("()", "a", ""), (#"\.\*"#, "a.*", ".*"),
      ("(a(?i)b|c)d", "Cd", "Cd"), ("\u{1F469}\u{200D}", "x\u{1F469}\u{200D}", "\u{1F469}\u{200D}"),
    ] as [(String, String, String?)])
  func `the first match is found`(source: String, text: String, expected: String?) throws {
    #expect(try found(source, in: text) == expected)
  }

  @Test func `a match is that of a matcher that goes back`() throws {
    var random = SeededRNG()
    let parts = [
      "a", "b", ".", "[ab]", "[^a]", "(a|b)", "(?:ab|)", "(a|ab)", "(b+|a)", "\\b", "^", "$", "\\w",
    ]
    let quantifiers = ["", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,1}?"]
    var compared = 0
    for _ in 0..<3000 {
      var source = ""
      // If a repeated group matches the empty text, implementations differ. So with groups only the existence of a match counts.
      let nests = Bool.random(using: &random)
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        source += (nests ? parts + ["(a", "|b)"] : parts).randomElement(using: &random)!
        if !"^$b(".contains(source.last!) || source.hasSuffix("]") {
          source += quantifiers.randomElement(using: &random)!
        }
      }
      let text = String(
        (0..<Int.random(in: 0...8, using: &random)).map { _ in "abc ".randomElement(using: &random)!
        })
      guard
        let theirs = try? Regex(source).matchingSemantics(.unicodeScalar).wordBoundaryKind(.simple)
      else {
        #expect(throws: ShellError.self, "\(source)") { _ = try matcher(source) }
        continue
      }
      compared += 1
      let match = text.firstMatch(of: theirs).map { String(text[$0.range]) }
      let mine = try found(source, in: text)
      #expect(
        nests ? (mine == nil) == (match == nil) : mine == match,
        "LARDER_SEED=\(random.seed): \(source) in \(text)")
    }
    #expect(compared > 1000)
  }

  @Test(arguments: [
    ("(a+)+$", "a"), ("(a|a)*b", "a"), ("(.*)*=(.*)*!", "a"), ("(a?){50}a{50}b", "a"),
    ("(x+x+)+y", "x"),
  ])
  func `hostile values take time in proportion to their length`(source: String, letter: String)
    throws
  {
    var pauses = 0
    let matcher = try matcher(source) { pauses += 1 }
    #expect(try !matcher.matches(bytes(String(repeating: letter, count: 2000) + "?")))
    // The matcher calls `pause` after every 32,768 steps, so few pauses mean few steps.
    #expect(pauses <= 2000 * 160 / 32768 + 1)
  }

  @Test(arguments: ["nowhere", "x.y"])
  func `an interruption ends the search in one line`(source: String) throws {
    var pauses = 0
    let text = bytes(String(repeating: "\u{E5}\u{65E5}\u{1F682}", count: 200_000))
    #expect(try !matcher(source, { pauses += 1 }).matches(text))
    #expect(pauses >= 6)
    #expect(try !matcher(source).matches(text + [0xFF]))
    let matcher = try matcher(source) { throw Interruption() }
    #expect(throws: Interruption.self) { try matcher.matches(text) }
    #expect(throws: Interruption.self) { try matcher.matches(text + [0xFF]) }
  }

  @Test func `an interruption ends the search in one value`() throws {
    let matcher = try matcher("(a+)+$") { throw Interruption() }
    #expect(throws: Interruption.self) {
      try matcher.matches(bytes(String(repeating: "a", count: 100_000) + "?"))
    }
    for line in [
      "keys @a --where '. ~ \"(a+)+$\"'", "keys @a --where '. !~ \"(a+)+$\"'",
      "search '(a+)+$' --regex", "evict @a --where '. !~ \"(a+)+$\"' --yes",
    ] {
      let shell = try Shell(.plain)
      try shell("set @a k '\"\(String(repeating: "a", count: 100_000))?\"'")
      shell.stepsUntilInterrupted = 2
      #expect(try shell.error(line).code == .interrupted, "\(line)")
      shell.stepsUntilInterrupted = .max
      #expect(try shell("count @a").hasPrefix("1\t"))
    }
  }

  @Test func `nothing nests without bound`() throws {
    #expect(throws: ShellError.self) { try matcher(String(repeating: "(", count: 100_000)) }
    #expect(throws: ShellError.self) { try matcher(String(repeating: "a|", count: 100_000)) }
    let nested = String(repeating: "(", count: 200) + "a" + String(repeating: ")", count: 200)
    #expect(try matcher(nested).matches(bytes("a")))
  }
}

@Suite struct ExpressionTests {
  private struct Facts: QueryFacts {
    let key = bytes("a key")
    let metadata: [UInt8]? = nil

    func header(_ name: [UInt8]) -> [UInt8]? {
      name == bytes("cache-control") ? bytes("max-age=5") : nil
    }

    func fact(_ name: QueryName, of value: Span<UInt8>, at now: UnixTime) -> QueryValue {
      switch name {
      case .key: .string(key)
      case .size: .integer(Int128(value.count))
      case .tags: .list([.string(bytes("red")), .string(bytes("blue"))])
      case .written: .time(UnixTime(milliseconds: now.milliseconds - 3_600_000))
      case .age: .duration(3_600_000)
      case .expires: .time(UnixTime(milliseconds: now.milliseconds + 600_000))
      case .ttl: .duration(600_000)
      case .idle: .duration(3_600_000)
      case .status: .integer(404)
      case .now: .time(now)
      case .value: .text(value.bytes)
      case .pinned, .negative: .bool(false)
      default: .null
      }
    }
  }

  private func passes(_ expression: String, _ json: String) throws -> Bool {
    let parsed = try Word(bytes(expression), isBare: false, at: 0..<expression.utf8.count + 2)
      .expression(stockholm, Variables())
    var evaluator = QueryEvaluator(now: stockholm.now) {}
    return try evaluator.passes(parsed, Facts(), bytes(json).span)
  }

  private static let set =
    #"{"name":"Hogwarts Castle","year":2018,"price":9.5,"parts":[{"n":1},{"n":7}],"odd name":null,"done":true,"big":9007199254740993,"e":"\u00e9\n"}"#

  @Test(arguments: [
    ".year = 2018", ".year == 2018.0", ".year >= 1999 and .year < 2019", "not .year < 2000",
    ".year != 2017", ".name ~ \"Castle\"", ".name ~ \"(?i)castle$\"", ".name !~ 'Burg'",
    ".year in (2017, 2018)", ".year not in (1, 2)", "\"red\" in tags", ".parts[].n = 7",
    ".parts[1].n = 7", ".parts[-2].n = 1", ".\"odd name\" = null", ".\"odd name\" is null",
    "exists .\"odd name\"", "not exists .nope", ".nope = null", ".done", ".done is bool",
    ".parts is array", ". is object", "length(.parts) = 2", "lower(.name) = \"hogwarts castle\"",
    "number(\"12\") = 12", "string(.year) = \"2018\"", "type(.price) = \"number\"",
    ".big = 9007199254740993", ".big != 9007199254740992", ".e = \"\\u00e9\\n\"",
    "size > 10 and size < 1kB", "ttl < 1h", "age >= 1h", "written > \"monday\"",
    "expires < \"midnight\"", "status in (404, 410)", "header.cache-control ~ \"max-age\"",
    "key = \"a key\"", ".year = 1 or .price > 9 and .done", "(.year = 1 or .done) and .price = 9.5",
    ".parts[0] = .parts[0]", "true", "not null",
  ]) func `an expression holds`(expression: String) throws {
    #expect(try passes(expression, Self.set), "\(expression)")
  }

  @Test(arguments: [
    ".year < 2000", ".year = \"2018\"", ".name > 5", ".nope", ".nope > 1", ".nope < 1",
    ".name ~ \"castle\"", ".year ~ \"2\"", "pinned", ".parts[5].n = 1", "exists .parts[5]",
    "\"green\" in tags", "ttl < 1m", "written > \"now\"", ".done and .nope", "not .done",
    "status = 200", "etag = \"x\"",
  ]) func `an expression does not hold`(expression: String) throws {
    #expect(try !passes(expression, Self.set), "\(expression)")
  }

  @Test(arguments: [
    ".a = 18446744073709551615", ".a != 18446744073709551614", ".a > 9223372036854775807",
    ".b > .c", ".c < .b", ".b > .d", ".c = .d", ".h > .a", "-1 > .l", ".h is number",
  ]) func `numbers compare by their exact values`(expression: String) throws {
    let numbers =
      #"{"a":18446744073709551615,"b":9007199254740993,"c":9007199254740992,"d":9007199254740992.0,"h":1e400,"l":-1e400}"#
    #expect(try passes(expression, numbers), "\(expression)")
  }

  @Test func `a value that is not JSON has null paths only`() throws {
    for text in ["", "{\"year\":2018", "plain text", "{\"year\":2018} x", "[1,]", "01"] {
      #expect(try passes(".year = null", text), "\(text)")
      #expect(try !passes("exists .year", text), "\(text)")
    }
  }

  @Test(arguments: [("length(", 98), ("not ", 99)])
  func `no expression nests too deep`(part: String, depth: Int) throws {
    let text = String(repeating: part, count: 5000)
    let error = try error {
      _ = try Word(bytes(text), isBare: false, at: 10..<12 + text.utf8.count)
        .expression(stockholm, Variables())
    }
    #expect(error.message.description == "the expression is nested too deep")
    #expect(error.range?.lowerBound == 11 + depth * part.utf8.count)
  }

  @Test func `any bytes are answered`() throws {
    var random = SeededRNG()
    let pieces = [
      ".", ".a", "[", "]", "[]", "0", "-1", "\"", "'", "(", ")", " and ", " or ", "not ", "~", "=",
      "<", ">=", "in ", "is ", "null", "exists ", ":x", "1h", ",", "\u{F6}", "\\", "length(",
    ]
    for _ in 0..<3000 {
      let text = (0..<Int.random(in: 0...12, using: &random))
        .map { _ in pieces.randomElement(using: &random)! }.joined()
      do throws(ShellError) {
        _ = try Word(bytes(text), isBare: false, at: 0..<text.utf8.count + 2)
          .expression(stockholm, Variables())
      } catch { #expect(error.code == .badExpression, "LARDER_SEED=\(random.seed): \(text)") }
    }
  }
}
