import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct GetCommandTests {
  @Test func `a long value is cut for a person and says how to see the rest`() throws {
    let shell = try Shell()
    let box = shell.store.namespace("box")
    try box.set(String(repeating: "a line of text\n", count: 4000), for: "text")
    try box.set([UInt8](repeating: 0, count: 5000), for: "bytes")
    let text = try shell("get text")
    #expect(text.utf8.count < 17_000)
    #expect(text.hasSuffix("a line of text\n... 44 kB more: get --full, --out FILE\n"))
    #expect(try shell("get text --full").utf8.count > 60_000)
    #expect(try shell("get bytes").hasSuffix("... 4.5 kB more: get --full, --out FILE\n"))
    #expect(try shell("get text --head 4").hasSuffix("\na li\n"))
  }

  @Test func `looking counts no reads and removes nothing`() throws {
    let shell = try Shell.filled(.plain)
    shell.clock.advance(by: .minutes(16))
    for line in [
      "keys @*", "count @*", "get @articles 000011", "exists @departures 'Malm\u{F6} C:01' x",
      "info @departures 'Malm\u{F6} C:01'", "ttl @*", "stats", "verify", "ns",
    ] { try shell(line) }
    _ = try shell.error("get @departures 'Malm\u{F6} C:01'")
    let statistics = try shell.store.statistics()
    #expect(statistics.reads.hits == 0 && statistics.reads.misses == 0)
    #expect(statistics.entries == 9)
  }
}

@Suite struct JSONTextTests {
  @Test(arguments: [
    ("{}", "{}", "{}\n"), (" [ ] ", "[]", "[]\n"), ("1.50e+3", "1.50e+3", "1.50e+3\n"),
    (
      "{\"b\":1,\"a\":[true,null]}", "{\"b\":1,\"a\":[true,null]}",
      "{ \"b\": 1, \"a\": [ true, null ] }\n"
    ),
    ("{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}", "{ \"a\": 1, \"a\": 2 }\n"),
    ("[{\"a\":{}},[]]", "[{\"a\":{}},[]]", "[ { \"a\": {} }, [] ]\n"),
    ("\"\\ud800 \\u00e5\"", "\"\\ud800 \\u00e5\"", "\"\\ud800 \\u00e5\"\n"), ("-0", "-0", "-0\n"),
  ])
  func `JSON keeps its numbers, order and escapes`(text: String, minified: String, laidOut: String)
    throws
  {
    let json = try JSONText(bytes(text))
    #expect(String(decoding: json.minified, as: UTF8.self) == minified)
    #expect(json.laidOut(width: 80) == laidOut)
  }

  @Test func `what does not fit on a line is broken at its elements`() throws {
    let json = try JSONText(bytes(#"{"list":[{"train":371,"to":"Kiruna"},{"train":5}]}"#))
    let lines = [
      "{", #"  "list": ["#, #"    { "train": 371, "to": "Kiruna" },"#, #"    { "train": 5 }"#,
      "  ]", "}", "",
    ]
    #expect(json.laidOut(width: 40) == lines.joined(separator: "\n"))
  }

  @Test(arguments: [
    "", "{", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "[1 2]", "01", "1.", "-", ".5", "1e", "tru",
    "\"", "\"\\x\"", "\"\\u12\"", "\"\t\"", "[}", "{]", "1 2", "nul", "{\"a\":1,}", "[,1]", "'a'",
    "\"a\\",
  ]) func `what is not JSON is refused`(text: String) {
    #expect(throws: JSONText.ParseError.self) { try JSONText(bytes(text)) }
  }

  @Test func `nothing nests deep enough to matter`() throws {
    let deep = bytes(String(repeating: "[", count: 100_000))
    #expect(throws: JSONText.ParseError.self) { try JSONText(deep) }
    let fine = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
    #expect(try JSONText(bytes(fine)).minified == bytes(fine))
    let full = bytes(String(repeating: "[", count: 200) + "1" + String(repeating: "]", count: 200))
    #expect(try JSONText(full).minified == full)
    #expect(JSONLookup.ranges(of: [], in: full.span) == [0..<full.count])
  }

  @Test func `minified and laid out JSON is the same JSON, and no line is too wide`() throws {
    var random = SeededRNG()
    for _ in 0..<300 {
      let text = bytes(random.json(depth: 4))
      let json = try JSONText(text)
      let again = try JSONText(json.minified)
      let wide = try JSONText(bytes(json.laidOut(width: Int.random(in: 10...120, using: &random))))
      #expect(
        again.minified == json.minified && wide.minified == json.minified,
        "LARDER_SEED=\(random.seed)")
      let mine = try JSONSerialization.jsonObject(
        with: Data(json.minified), options: .fragmentsAllowed)
      let theirs = try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
      #expect((mine as? NSObject) == (theirs as? NSObject), "LARDER_SEED=\(random.seed)")
      for line in json.laidOut(width: 60).split(separator: "\n") where DisplayWidth.of(line) > 60 {
        // A line may be wider than 60 columns only if it has a single value, which cannot be broken.
        #expect(!line.contains(", "), "LARDER_SEED=\(random.seed): \(line)")
      }
    }
  }
}

extension SeededRNG {
  /// JSON with blanks and line ends in odd places.
  fileprivate mutating func json(depth: Int) -> String {
    let space = ["", " ", "\n", "\t "].randomElement(using: &self)!
    let count = Int.random(in: 0...4, using: &self)
    switch Int.random(in: 0..<(depth > 0 ? 5 : 3), using: &self) {
    case 0: return ["0", "-1.5", "1e3", "12345678", "2.50"].randomElement(using: &self)! + space
    case 1:
      return ["\"\"", "\"\u{F6}\u{1F682}\"", "\"\\n\\\"\"", "\"\u{202E}x\""].randomElement(
        using: &self)!
    case 2: return ["true", "false", "null"].randomElement(using: &self)!
    case 3:
      return "[" + space
        + (0..<count).map { _ in json(depth: depth - 1) }.joined(separator: "," + space) + "]"
    default:
      let fields = (0..<count).map { "\"f\($0)\"\(space):\(json(depth: depth - 1))" }
      return "{" + fields.joined(separator: space + ",") + space + "}"
    }
  }
}

@Suite struct BinaryValueTests {
  @Test func `a dump shows every byte and nothing that a terminal obeys`() {
    let all = (0...255).map { UInt8($0) }
    let lines = HexDump.text(all[...], width: nil).split(separator: "\n")
    #expect(lines.count == 16)
    #expect(
      lines[4] == "00000040  40 41 42 43 44 45 46 47  48 49 4a 4b 4c 4d 4e 4f  |@ABCDEFGHIJKLMNO|")
    #expect(lines.allSatisfy { String($0).isSafe })
    #expect(HexDump.text(all[16...], width: 60).hasPrefix("00000000  10 11 12 13 14 15 16 17  |"))
    for width in [21, 28, 29, 44, 45, 77, 78, 120] {
      let lines = HexDump.text(all[...], width: width).split(separator: "\n")
      #expect(lines.allSatisfy { $0.count <= width })
    }
  }
}
