import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct KeysCommandTests {
  @Test func `a NUL ends each key where that was asked for`() throws {
    let shell = try Shell(.plain) { $0.endsWithNUL = true }
    try shell.fill()
    try shell.store.namespace("bytes").set("x", for: [0xFE, 0xFF])
    #expect(try shell.bytes("keys @bytes") == [0xFE, 0xFF, 0])
    #expect(try shell("keys @articles 00001[12]") == "000011\0000012\0")
  }

  @Test func `a person sees a page, and the words that go on`() throws {
    let shell = try Shell()
    let numbers = shell.store.namespace("numbers")
    for number in 1000..<1100 { try numbers.set("x", for: "\(number)") }
    let first = try shell("keys").split(separator: "\n")
    #expect(first.count == 1 + 21 + 1)
    #expect(first.last == "\u{2026} 79 more: --after 1020, or --limit all")
    let next = try shell("keys --after 1020 --limit 3").split(separator: "\n")
    #expect(next[1].hasPrefix("\"1021\"") && next[3].hasPrefix("\"1023\""))
    #expect(next.last == "\u{2026} 76 more: --after 1023, or --limit all")
    #expect(try shell("keys --limit all").split(separator: "\n").count == 101)
    let sorted = try shell("keys --reverse --limit 2").split(separator: "\n")
    #expect(
      sorted[1].hasPrefix("\"1099\"")
        && sorted[3] == "\u{2026} 98 more: --after 1098, or --limit all")
    #expect(
      try shell("keys --reverse --after 1098").split(separator: "\n")[1].hasPrefix("\"1097\""))
    #expect(
      try shell("keys --sort written --limit 2").split(separator: "\n").last
        == "\u{2026} 98 more: --limit all")
    #expect(try shell("output plain", "keys").split(separator: "\n").count == 100)
    #expect(try shell("keys --limit 7").split(separator: "\n").count == 7)
  }
}

@Suite struct FactsCommandTests {
  @Test func `an entry is idle since it was last read or written`() throws {
    let shell = try Shell(.plain)
    let namespace = shell.store.namespace("a")
    for key in ["x", "y", "z"] {
      try namespace.set(key, for: key)
      shell.clock.advance(by: .hours(1))
    }
    let _: String? = try namespace.value(for: "x")
    shell.clock.advance(by: .minutes(90))
    func keys(_ words: String) throws -> String {
      try shell("keys \(words)").split(separator: "\n").joined()
    }
    #expect(try keys("--sort used") == "yzx")
    #expect(try keys("--idle 2h") == "yz")
    #expect(try keys("--idle 3h --older 3h") == "y")
    #expect(try shell("output table", "info x").contains("used           1 h 30 min ago\n"))
    #expect(
      try shell("output jsonl", "plot idle --bins 1") == """
        {"from":5400,"to":12600.001,"entries":3,"bytes":3}

        """)
  }
}
