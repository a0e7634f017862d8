import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Lines that do what a person means by them.
@Suite struct MeaningTests {
  @Test func `a dash is standard input, and a quoted one is a dash`() throws {
    let shell = try Shell(.plain)
    shell.input = bytes("from outside")
    try shell("set @a k -")
    #expect(try shell("get @a k") == "from outside\n")
    try shell("set @a k '-'")
    #expect(try shell("get @a k") == "-\n")
  }

  @Test func `plot draws sizes without a word, and takes the singular`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    let sizes = try shell("plot sizes @articles")
    #expect(try shell("plot @articles") == sizes)
    #expect(try shell("plot size @articles") == sizes)
  }

  @Test func `limits and watch take a namespace that is yet to be made`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    #expect(try shell("limits @new --entries 5") == "limits\tnew\t0\t0\n")
    #expect(try shell.store.namespace("new").info()?.rules.limits.entries == 5)
    #expect(try shell.error("limits @absent").code == .noSuchNamespace)
    shell.pauses = 3
    shell.meanwhile = { try shell.store.namespace("later").set("1", for: "k") }
    #expect(try shell("watch @later --count 1").contains("\tset\tlater\tk\t1"))
  }

  @Test func `ls takes namespaces, with or without the at sign`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    #expect(try shell("ls @articles") == "articles\t3\t3000\n")
    #expect(try shell("ls articles") == "articles\t3\t3000\n")
    #expect(try shell.error("ls @nope").code == .noSuchNamespace)
  }

  @Test func `the form of output may follow the command`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    #expect(
      try shell("count @articles -o json") == "{\"entries\":3,\"bytes\":3000,\"expired\":0}\n")
    #expect(try shell("count @articles") == "3\t3000\t0\n")
    #expect(try shell.error("count @articles -o xml").code == .usage)
  }

  @Test func `show has what it names and nothing else`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    #expect(try shell("keys @departures K* --show .train") == "5\n")
    #expect(try shell("keys @departures K* --show key,.train") == "Kiruna:05\t5\n")
    #expect(try shell("keys @thumbs --show key") == "\\0\\xff\n")
    #expect(
      try shell("keys @departures K* --show key,.train -o json")
        == "[{\"key\":\"Kiruna:05\",\"train\":5}]\n")
  }

  @Test func `a field is as it is stored`() throws {
    let shell = try Shell(.plain)
    try shell(#"set @a k '{"o":{"b":1.50,"a":[12345678901234567890.5, 1e2]},"s":"x\ny"}'"#)
    #expect(try shell("get @a k .o") == "{\"b\":1.50,\"a\":[12345678901234567890.5, 1e2]}\n")
    #expect(try shell("get @a k .o.b") == "1.50\n")
    #expect(try shell("get @a k .o.a[]") == "12345678901234567890.5\n1e2\n")
    #expect(try shell("get @a k .s") == "x\ny\n")
    #expect(try shell("get @a k .o.b -o json") == "1.50\n")
  }

  @Test func `an end in the past asks before it ends an entry`() throws {
    let script = try Shell(.plain)
    try script("set @a k v")
    #expect(try script.error("set @a k w --until 2020-01-01").code == .needsYes)
    #expect(try script("get @a k") == "v\n")
    try script("set @a k w --until 2020-01-01 --yes", "set @a new w --until 2020-01-01")
    #expect(try script("count @a") == "0\t0\t2\n")
    let person = try Shell(hasPerson: true)
    try person("set @a k v")
    person.answer = false
    #expect(try person.error("set @a k w --until 2020-01-01").code == .declined)
    #expect(person.questions.count == 1 && person.questions[0].hasPrefix("The time is "))
  }

  @Test func `after counts in the order of keys alone`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    let error = try shell.error("keys @articles --sort size --after 000011")
    #expect(error.code == .usage && error.message.description.contains("order of keys"))
    #expect(try shell("keys @articles --sort key --after 000011") == "000012\n000013\n")
  }

  @Test func `a condition without quotes is an error that shows them`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    let error = try shell.error("keys @departures --where .train = 5")
    #expect(error.code == .usage && error.hint?.description.contains("--where '") == true)
    // A key of that name is a key.
    #expect(try shell("keys @departures '=' --where '.train = 5'") == "")
  }

  @Test func `every command means the same by entries`() throws {
    let shell = try Shell(.plain)
    for number in 1...5 {
      try shell.store.namespace("a").set(
        "x", for: "\(number)", expires: number < 3 ? .after(.seconds(1)) : .never)
    }
    shell.clock.advance(by: .seconds(2))
    #expect(try shell("count @a") == "3\t3\t2\n")
    #expect(try shell("ls") == "a\t3\t3\n")
    #expect(try shell("sizes") == "a\t3\t3\n")
    #expect(try shell("keys @a").split(separator: "\n").count == 3)
    #expect(try shell("purge @a --dry-run") == "would purge\ta\t2\t2\n")
  }

  @Test func `the next expiry is when an entry stops being fresh`() throws {
    let shell = try Shell(.json)
    try shell.store.declare(Rules(expires: .after(.minutes(1)), stale: .hours(1)), for: "news")
    try shell.store.namespace("news").set("a", for: "k")
    #expect(try shell("ls").contains("\"next_expiry\":\"2026-11-20T21:14:00.000Z\""))
    shell.clock.advance(by: .minutes(3))
    #expect(try shell("ls").contains("\"next_expiry\":null"))
  }

  @Test func `an index finds what a look at all entries finds`() throws {
    let shell = try Shell(.plain)
    let box = shell.store.namespace("box")
    for number in 0..<200 {
      var attributes = EntryAttributes(
        expires: number % 3 == 0 ? .after(.seconds(number % 5 + 1)) : .never)
      attributes.tags = number % 7 == 0 ? ["seven"] : []
      if number % 2 == 0 { attributes.tags += ["odd one"] }
      try box.set(
        bytes("x"), for: number == 14 ? String(repeating: "k", count: 400) : "k\(number)",
        attributes)
    }
    shell.clock.advance(by: .seconds(3))
    for (fast, slow) in [
      ("--tag seven", "--where '\"seven\" in tags and true'"),
      ("--tag 'odd one' k*", "k* --where 'not (not (\"odd one\" in tags))'"),
      ("--tag seven --reverse", "--reverse --where 'not (not (\"seven\" in tags))'"),
      ("--tag nothing", "--where 'not (not (\"nothing\" in tags))'"),
      ("--tag seven --tag 'odd one'", "--where '\"seven\" in tags and \"odd one\" in tags'"),
    ] {
      #expect(try shell("keys @box \(fast)") == shell("keys @box \(slow)"), "\(fast)")
    }
    // Each expired entry is in the index, and no other.
    let expired = try shell("keys @box --expired").split(separator: "\n").count
    #expect(try shell("count @box") == "\(200 - expired)\t\(200 - expired)\t\(expired)\n")
  }

  @Test func `the last keys are read from the end`() throws {
    let shell = try Shell(.plain)
    let box = shell.store.namespace("box")
    try shell.store.write { batch in
      for number in 10_000..<20_000 { try batch.set("x", for: "\(number)", in: box) }
    }
    shell.stepsUntilInterrupted = 50
    #expect(try shell("keys @box --reverse --limit 3") == "19999\n19998\n19997\n")
    shell.stepsUntilInterrupted = 50
    #expect(try shell("keys @box 12* --reverse --limit 2 --after 12500") == "12499\n12498\n")
    shell.stepsUntilInterrupted = .max
    let all = try shell("keys @box --limit all").split(separator: "\n")
    #expect(try shell("keys @box --reverse --limit all").split(separator: "\n") == all.reversed())
  }
}

@Suite struct InterruptionTests {
  @Test(arguments: [
    "keys @box --sort size", "keys @box --sort written --limit all",
    "sizes @box --by key --top all",
    "keys @box --reverse", "expiring @box", "plot @box", "search x @box", "sum size @box",
    "count @box --by size", "keys @box --where 'size > 0'", "export - @box", "report -",
    "evict @box --where 'size > 0' --yes",
  ])
  func `a command ends soon after an interruption`(line: String) throws {
    let shell = try Shell(.plain)
    let box = shell.store.namespace("box")
    try shell.store.write { batch in
      for number in 0..<3000 {
        try batch.set("x", for: "\(number)", in: box, expires: .after(.hours(1)))
      }
    }
    for steps in [1, 100, 2000] {
      shell.stepsUntilInterrupted = steps
      #expect(try shell.error(line).code == .interrupted, "\(line) \(steps)")
    }
  }

  @Test func `sorting ends, too`() throws {
    struct Stop: Error {}
    var looks = 0
    var first = FirstOf<Int>(
      .max,
      pause: {
        looks += 1
        if looks > 3 { throw Stop() }
      }, by: <)
    for number in 0..<5000 { try first.add((number * 7919) % 5000) }
    #expect(throws: Stop.self) { _ = try first.sorted() }
  }

  @Test func `the first of an order are those of a sorted list`() throws {
    let seed = TestSettings.seed
    var random = SeededRNG(seed: seed)
    for most in [0, 1, 5, 700, 5000] {
      let all = (0..<4000).map { _ in Int.random(in: 0..<1000, using: &random) }
      var first = FirstOf<Int>(most, pause: {}, by: <)
      for number in all { try first.add(number) }
      #expect(try first.sorted() == Array(all.sorted().prefix(most)), "LARDER_SEED=\(seed)")
      #expect(first.count == all.count)
    }
  }
}

@Suite struct ReportCommandTests {
  @Test func `a report goes to standard output, as Markdown too`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    #expect(try shell("report -").hasPrefix("<!DOCTYPE html>"))
    let page = try shell("report - @articles -o markdown")
    #expect(page.hasPrefix("# articles in ") && page.contains("\n## Limits\n"))
    #expect(page.contains("| articles | \"000013\" | 1.5 kB |"))
  }
}

@Suite struct ImportFormTests {
  @Test func `CSV with a header is imported, and a byte order mark is no part of it`() throws {
    let shell = try Shell(.plain)
    shell.input =
      [0xEF, 0xBB, 0xBF]
      + bytes(
        "key,value,tags\r\na,1,\r\n\"b,c\",\"two\r\nlines\"\"\",\"[\"\"t\"\"]\"\r\nd,\"\",\r\n")
    #expect(try shell("import - @prices") == "import\tprices\t3\t12\n")
    #expect(try shell("get @prices a") == "1\n")
    #expect(try shell("get @prices 'b,c' -o json").contains(#""value":"two\r\nlines\"""#))
    #expect(try shell("keys @prices --tag t") == "b,c\n")
    shell.input = bytes("key,value,tgas\na,1,x\n")
    #expect(try shell.error("import - @prices").message.description.contains("tgas"))
    shell.input = bytes("key,value\na,1\n")
    #expect(try shell.error("import -").message.description.contains("names no namespace"))
    shell.input = bytes("key,value\na,1,2\n")
    #expect(try shell.error("import - @prices").message.description.contains("3 fields"))
  }

  @Test func `an export as CSV is read back`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    try shell.store.namespace("articles").pin("000011")
    let file = try shell.bytes("export - @* --format csv")
    let other = try Shell(.plain)
    other.input = file
    try other("import -")
    for name in ["departures", "articles", "thumbs"] {
      let words = "keys @\(name) -o csv"
      #expect(try other(words) == shell(words), "\(name)")
    }
  }

  @Test func `what an import keeps back it says`() throws {
    let shell = try Shell(.plain)
    try shell("set @a k v")
    let file = try shell("export - @a")
    shell.input = bytes(file.replacing("\"value\":\"v\"", with: "\"value\":\"edited\""))
    #expect(try shell("import -") == "import\ta\t0\t0\n")
    #expect(
      shell.takeAside().last
        == "note: 1 line kept back: the entries there are as new; `--on-conflict replace` stores them"
    )
    shell.input = bytes(file.replacing("\"value\":\"v\"", with: "\"value\":\"edited\""))
    try shell("import - --on-conflict replace --yes")
    #expect(try shell("get @a k") == "edited\n")
    shell.input = bytes(
      "{\"larder_export\":1}\n{\"namespace\":\"a\",\"key\":\"o\",\"value\":\"v\",\"expires\":\"2020-01-01T00:00:00Z\"}\n"
    )
    try shell("import -")
    #expect(shell.takeAside() == ["note: 1 line kept back: expired already"])
  }
}
