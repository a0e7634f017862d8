import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct MeaningTests {
  @Test func `an index finds what a look at all entries finds`() throws {
    let shell = try Shell(.plain)
    let box = shell.store.namespace("box")
    for number in 0..<200 {
      try box.set(
        bytes("x"), for: number == 14 ? String(repeating: "k", count: 400) : "k\(number)",
        .with(
          expires: number % 3 == 0 ? .after(.seconds(number % 5 + 1)) : .never,
          tags: (number % 7 == 0 ? ["seven"] : []) + (number % 2 == 0 ? ["odd one"] : [])))
    }
    shell.clock.advance(by: .seconds(3))
    for (fast, slow) in [
      ("--tag seven", "--where '\"seven\" in tags and true'"),
      ("--tag 'odd one' k*", "k* --where 'not (not (\"odd one\" in tags))'"),
      ("--tag seven --reverse", "--reverse --where 'not (not (\"seven\" in tags))'"),
      ("--tag nothing", "--where 'not (not (\"nothing\" in tags))'"),
      ("--tag seven --tag 'odd one'", "--where '\"seven\" in tags and \"odd one\" in tags'"),
    ] { #expect(try shell("keys @box \(fast)") == shell("keys @box \(slow)"), "\(fast)") }
    // The index of expirations has every expired entry, and only expired entries.
    let expired = try shell("keys @box --expired").split(separator: "\n").count
    #expect(try shell("count @box") == "\(200 - expired)\t\(200 - expired)\t\(expired)\n")
  }

  @Test func `the last keys are read from the end`() throws {
    let shell = try Shell(.plain)
    try shell.fill("box", 10_000..<20_000)
    shell.stepsUntilInterrupted = 50
    #expect(try shell("keys @box --reverse --limit 3") == "19999\n19998\n19997\n")
    shell.stepsUntilInterrupted = 50
    #expect(try shell("keys @box 12* --reverse --limit 2 --after 12500") == "12499\n12498\n")
    shell.stepsUntilInterrupted = .max
    let all = try shell("keys @box --limit all").split(separator: "\n")
    #expect(try shell("keys @box --reverse --limit all").split(separator: "\n") == all.reversed())
  }

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
    let found = try ["--sort used", "--idle 2h", "--idle 3h --older 3h"].map { try keys($0) }
    #expect(found == ["yzx", "yz", "y"])
    #expect(try shell("output table", "info x").contains("used           1 h 30 min ago\n"))
    #expect(
      try shell("output jsonl", "plot idle --bins 1") == """
        {"from":5400,"to":12600.001,"entries":3,"bytes":3}

        """)
  }
}

@Suite struct InterruptionTests {
  @Test func `sorting ends, too`() throws {
    var looks = 0
    var first = FirstOf<Int>(
      most: .max,
      pause: {
        looks += 1
        if looks > 3 { throw Interruption() }
      }, precedes: <)
    for number in 0..<5000 { try first.add((number * 7919) % 5000) }
    #expect(throws: Interruption.self) { _ = try first.sorted() }
  }

  @Test func `the first of an order are those of a sorted list`() throws {
    var random = SeededRNG()
    for most in [0, 1, 5, 700, 5000] {
      let all = (0..<4000).map { _ in Int.random(in: 0..<1000, using: &random) }
      var first = FirstOf<Int>(most: most, pause: {}, precedes: <)
      for number in all { try first.add(number) }
      #expect(try first.sorted() == Array(all.sorted().prefix(most)), "LARDER_SEED=\(random.seed)")
      #expect(first.count == all.count)
    }
  }
}
