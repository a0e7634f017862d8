import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

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

  @Test func `info names every owner`() throws {
    let shell = try Shell()
    let namespace = shell.store.namespace("a")
    try shell.store.write { batch in
      var attributes = EntryAttributes()
      for key in [[1], Array("two".utf8)] as [[UInt8]] {
        try batch.set([0], for: key, in: namespace, EntryAttributes())
        attributes.owners.append(Owner(Key(key), in: "a"))
      }
      try batch.set([0], for: "x", in: namespace, attributes)
    }
    #expect(try shell("info x").contains("owners         a \"\\x01\", a \"two\"\n"))
    #expect(
      try shell("output json", "info x").contains(
        "\"owners\":[{\"namespace\":\"a\",\"key\":\"\\u0001\"},{\"namespace\":\"a\",\"key\":\"two\"}]"
      ))
  }
}
