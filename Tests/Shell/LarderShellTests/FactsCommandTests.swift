import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct FactsCommandTests {
  @Test func `count says entries, bytes and what has expired`() throws {
    let shell = try Shell()
    try shell.fill()
    #expect(try shell("count @*") == "9 entries, 3.1 kB\n")
    shell.clock.advance(by: .minutes(16))
    #expect(try shell("count @departures") == "1 entry, 11 B, 4 expired\n")
    #expect(try shell("count @departures --expired") == "4 entries, 44 B, 4 expired\n")
    #expect(try shell("output plain", "count @departures") == "1\t11\t4\n")
    #expect(
      try shell("output json", "count @departures")
        == "{\"entries\":1,\"bytes\":11,\"expired\":4}\n")
  }

  @Test func `exists answers for each key, and its exit code for all`() throws {
    let shell = try Shell()
    try shell.fill()
    #expect(try shell("exists @articles 000011 nope") == "\"000011\"  yes\n\"nope\"    no\n")
    #expect(shell.outcome == .exitCode(1))
    #expect(try shell("output plain", "exists @articles 000011") == "true\n")
    #expect(shell.outcome == .done)
    #expect(
      try shell("output json", "exists @thumbs hex:00ff")
        == "[{\"namespace\":\"thumbs\",\"key_base64\":\"AP8=\",\"exists\":true}]\n")
    shell.clock.advance(by: .minutes(16))
    try shell("exists @departures 'Malm\u{F6} C:01'")
    #expect(shell.outcome == .exitCode(1))
  }

  @Test func `ttl says when entries end`() throws {
    let shell = try Shell()
    try shell.fill()
    #expect(try shell("ttl @departures Kiruna:05") == "\"Kiruna:05\"  in 2 h (tomorrow 00:13)\n")
    #expect(try shell("ttl @articles 000011") == "\"000011\"  never\n")
    shell.clock.advance(by: .minutes(18))
    #expect(
      try shell("ttl @departures 'Malm\u{F6} C:01'")
        == "\"Malm\u{F6} C:01\"  expired 3 min ago\n")
    #expect(try shell("ttl @departures M*") == "no entries\n")
    #expect(
      try shell("output plain", "ttl @departures K*")
        == "Kiruna:05\t2026-11-20T23:13:00.000Z\t6120\n")
    #expect(
      try shell("output json", "ttl @departures 'Malm\u{F6} C:01'") == """
        [{"namespace":"departures","key":"Malm\u{F6} C:01",\
        "expires":"2026-11-20T21:28:00.000Z","expires_in":-180}]

        """)
    #expect(try shell.error("ttl @departures nope").code == .noSuchKey)
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

  @Test func `info shows every fact`() throws {
    let shell = try Shell()
    try shell.fill()
    shell.clock.advance(by: .minutes(1))
    #expect(
      try shell("info @departures Kiruna:05") == """
        namespace      departures
        key            "Kiruna:05"
        size           11 B
        stored         36 B
        written        1 min ago
        used           1 min ago
        expires        in 1 h 59 min
        state          fresh
        negative       no
        idle           \u{2014}
        stale_until    \u{2014}
        codec          text
        version        5
        tags           \u{2014}
        pinned         no
        owners         \u{2014}
        etag           \u{2014}
        last_modified  \u{2014}
        metadata       \u{2014}

        """)
    let json = try shell("output json", "info @departures Kiruna:05")
    #expect(
      json.hasPrefix("{\"namespace\":\"departures\"") && json.hasSuffix("\"metadata\":null}\n"))
    #expect(try shell("info @articles 000011 000012").hasPrefix("[{"))
    #expect(
      try shell("output jsonl", "info @articles 000011 000012").split(separator: "\n").count == 2)
    #expect(try shell.error("info @articles nope").code == .noSuchKey)
  }

  @Test func `a key that is not there is answered with near ones`() throws {
    let shell = try Shell()
    try shell.fill()
    let error = try shell.error("get @departures 'malm\u{F6} c:01'")
    #expect(error.code == .noSuchKey)
    #expect(error.message.description == "no entry \"malm\u{F6} c:01\" in departures")
    #expect(
      try shell.error("get @departures 'Malm\u{F6} C:1'").hint?.description
        == "similar keys: \"Malm\u{F6} C:01\", \"Malm\u{F6} C:02\", \"Malm\u{F6} C:03\""
        + "; `keys @departures \"Malm\u{F6} C:\"*` lists 4")
    #expect(
      try shell.error("get @articles 00012").hint?.description
        == "similar keys: \"000012\", \"000011\", \"000013\"")
    #expect(
      try shell.error("get @articles zzz").hint?.description == "`keys @articles` lists the keys")
    // One letter in common makes no similar key.
    #expect(
      try shell.error("get @departures Mine").hint?.description
        == "`keys @departures` lists the keys")
    #expect(
      try shell.error("evict @articles 0000").hint?.description
        == "3 keys begin with it: `evict @articles 0000*`")
  }
}
