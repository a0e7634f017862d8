import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct NamespacesCommandTests {
  @Test func `two spellings of a name are two namespaces`() throws {
    let shell = try Shell(.plain)
    let (one, two) = ("caf\u{e9}", "cafe\u{301}")
    try shell.store.namespace(one).set("1", for: "a")
    #expect(try shell.error("keys @\(two)").message.description.contains("no namespace"))
    try shell.store.namespace(two).set("2", for: "b", expires: .after(.hours(1)))
    #expect(try shell("count @\(one) @\(two)").contains("2"))
    #expect(try shell("keys @\(one) @\(two)").split(separator: "\n").count == 2)
  }

  @Test func `a stale entry reads as stale`() throws {
    let shell = try Shell()
    let rules = Rules(expires: .after(.minutes(1)), stale: .hours(1))
    try shell.store.declare(rules, for: "news")
    try shell.store.namespace("news").set("a", for: "k")
    shell.clock.advance(by: .minutes(3))
    for line in ["keys @news", "info @news k", "ttl @news"] {
      #expect(try shell(line).contains("stale, expired 2 min ago"), "\(line)")
    }
    #expect(try shell("keys @news --expired") == "no entries\n")
    #expect(try shell("output json", "ttl @news").contains("\"expires\":\"2026-11-20T21:14:00"))
  }

  @Test func `an empty store is named so by every command`() throws {
    let shell = try Shell(.plain)
    #expect(try shell("namespaces") == "")
    #expect(
      shell.takeAside() == [
        "note: the store has no namespace; `set @name KEY VALUE` creates one"
      ])
    #expect(try shell.error("keys").message.description == "the store has no namespace")
  }

  @Test func `a path without a key is explained`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    #expect(
      try shell.error("get @departures .train").hint?.description
        == "`get @departures * .train` shows this field of each value")
    let words = ["get", "@departures", ".train"].map(bytes)
    let error = try LarderShellTests.error {
      _ = try shell.printed(by: CommandReader.command(of: words))
    }
    #expect(error.hint?.description.contains(" '*' .train`") == true)
  }

  @Test func `namespaces shows what each holds and its share`() throws {
    let shell = try Shell()
    try shell.fill()
    #expect(
      try shell("ns --sort size") == """
        namespace   entries  size  share                        next expiry  limit
        articles          3  3 kB   98 %  \u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}\u{258B}  \u{2014}            \u{2014}
        departures        5  55 B    2 %  \u{258D}                     in 15 min    \u{2014}
        thumbs            1  12 B    0 %  \u{258F}                     \u{2014}            \u{2014}

        """)
    #expect(
      try shell("ns").split(separator: "\n").map { $0.prefix(3) } == ["nam", "art", "dep", "thu"])
    #expect(
      try shell("output plain", "ns --sort entries") == """
        departures\t5\t55
        articles\t3\t3000
        thumbs\t1\t12

        """)
  }

  @Test func `a namespace in use is what commands mean`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    #expect(try shell.error("keys").code == .usage)
    #expect(try shell("use departures", "keys K*") == "Kiruna:05\n")
    #expect(shell.session.promptName == "departures")
    #expect(try shell("keys @articles 000011") == "000011\n")
    let absent = try shell.error("use departurs")
    #expect(absent.code == .noSuchNamespace)
    #expect(absent.hint?.description == "did you mean `@departures`?")
    #expect(shell.session.promptName == "departures")
    #expect(try shell("use") == "")
    #expect(shell.session.promptName == "larder")
    #expect(try shell("output json", "use @articles") == "{\"namespace\":\"articles\"}\n")
  }

  @Test func `an empty store says how to begin`() throws {
    let shell = try Shell(.plain)
    let error = try shell.error("keys")
    #expect(error.code == .noSuchNamespace)
    #expect(error.hint?.description == "`set @name KEY VALUE` creates one")
    #expect(try shell("ns") == "")
    #expect(try shell("output json", "ns") == "[]\n")
  }
}

@Suite struct ExpiringCommandTests {
  @Test func `the chart counts all, however much of the list is wanted`() throws {
    let shell = try Shell()
    try shell.fill()
    func chart(_ words: String) throws -> [Substring] {
      try shell("soon @departures --within 3h \(words)").split(separator: "\n").prefix {
        $0.hasPrefix("<")
      }
    }
    let all = try chart("")
    #expect(all.count { $0.contains("\u{2588}") } == 2 && all.contains { $0.contains("4 ") })
    #expect(try chart("--limit 1") == all)
    #expect(try chart("--after 'Malm\u{F6} C:03'") != all)
  }
}

@Suite struct KeysCommandTests {
  @Test func `keys lists what a selection is about, in the order of keys`() throws {
    let shell = try Shell()
    try shell.fill()
    #expect(
      try shell("keys @departures 'Malm\u{F6} C:'*") == """
        key           size  expires
        "Malm\u{F6} C:01"  11 B  in 15 min
        "Malm\u{F6} C:02"  11 B  in 15 min
        "Malm\u{F6} C:03"  11 B  in 15 min
        "Malm\u{F6} C:04"  11 B  in 15 min

        """)
    #expect(
      try shell("keys @thumbs") == """
        key       size  expires
        "\\0\\xff"  12 B  never

        """)
  }

  @Test func `every mode has its form of a list`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    let expected: [(mode: String, text: String)] = [
      ("plain", "Kiruna:05\n"),
      ("raw", "Kiruna:05\n"),
      (
        "json",
        """
        [{"namespace":"departures","key":"Kiruna:05","size":11,"stored":36,\
        "written":"2026-11-20T21:13:00.000Z","used":"2026-11-20T21:13:00.000Z","expires":"2026-11-20T23:13:00.000Z",\
        "expires_in":7200,"state":"fresh"}]

        """
      ),
      (
        "csv",
        """
        namespace,key,key_base64,size,stored,written,used,expires,expires_in,state\r
        departures,Kiruna:05,,11,36,2026-11-20T21:13:00.000Z,2026-11-20T21:13:00.000Z,2026-11-20T23:13:00.000Z,7200,fresh\r

        """
      ),
      ("table", "key          size  expires\n\"Kiruna:05\"  11 B  in 2 h\n"),
    ]
    for (mode, text) in expected {
      #expect(try shell("output \(mode)", "keys @departures Kiruna:05") == text, "\(mode)")
    }
    #expect(
      try shell("output plain", "keys @departures Kiruna:05 --long")
        == "departures\tKiruna:05\t11\t36\t2026-11-20T21:13:00.000Z\t2026-11-20T21:13:00.000Z\t2026-11-20T23:13:00.000Z\t7200\tfresh\n"
    )
    #expect(
      try shell("output jsonl", "keys @thumbs").hasPrefix(
        "{\"namespace\":\"thumbs\",\"key_base64\":\"AP8=\",\"size\":12,"))
  }

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

  @Test func `every order is the one that was asked for`() throws {
    let shell = try Shell(.plain)
    let box = shell.store.namespace("box")
    let sizes = [3, 1, 2]
    for (index, key) in ["a", "b", "c"].enumerated() {
      let value = String(repeating: "x", count: sizes[index])
      try box.set(value, for: key, expires: index == 1 ? nil : .after(.minutes(10 - index)))
      shell.clock.advance(by: .seconds(1))
    }
    func keys(_ words: String) throws -> String {
      try shell("keys \(words)").split(separator: "\n").joined()
    }
    #expect(try keys("--sort size") == "bca")
    #expect(try keys("--sort size --reverse") == "acb")
    #expect(try keys("--sort expiry") == "cab")
    #expect(try keys("--sort written --reverse") == "cba")
    #expect(try keys("--sort key") == "abc")
    #expect(try keys("--reverse") == "cba")
    #expect(try keys("--after a") == "bc")
    #expect(try keys("--after b --reverse") == "a")
    #expect(try keys("--sort size --limit 1") == "b")
  }
}
