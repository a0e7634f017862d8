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
