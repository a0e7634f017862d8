import Larder
import Testing

@testable import LarderShell

@Suite struct NamespacesCommandTests {
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
    #expect(absent.hint?.description == "did you mean @departures?")
    #expect(shell.session.promptName == "departures")
    #expect(try shell("use") == "")
    #expect(shell.session.promptName == "larder")
    #expect(try shell("output json", "use @articles") == "{\"namespace\":\"articles\"}\n")
  }

  @Test func `an empty store says how to begin`() throws {
    let shell = try Shell(.plain)
    let error = try shell.error("keys")
    #expect(error.code == .noSuchNamespace)
    #expect(error.hint?.description == "make one: set @name KEY VALUE")
    #expect(try shell("ns") == "")
    #expect(try shell("output json", "ns") == "[]\n")
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
        [{"namespace":"departures","key":"Kiruna:05","size":11,"stored":75,\
        "written":"2026-11-20T21:13:00.000Z","used":"2026-11-20T21:13:00.000Z","expires":"2026-11-20T23:13:00.000Z",\
        "expires_in":7200,"state":"fresh"}]

        """
      ),
      (
        "csv",
        """
        namespace,key,key_base64,size,stored,written,used,expires,expires_in,state\r
        departures,Kiruna:05,,11,75,2026-11-20T21:13:00.000Z,2026-11-20T21:13:00.000Z,2026-11-20T23:13:00.000Z,7200,fresh\r

        """
      ),
      ("table", "key          size  expires\n\"Kiruna:05\"  11 B  in 2 h\n"),
    ]
    for (mode, text) in expected {
      #expect(try shell("output \(mode)", "keys @departures Kiruna:05") == text, "\(mode)")
    }
    #expect(
      try shell("output plain", "keys @departures Kiruna:05 --long")
        == "departures\tKiruna:05\t11\t75\t2026-11-20T21:13:00.000Z\t2026-11-20T21:13:00.000Z\t2026-11-20T23:13:00.000Z\t7200\tfresh\n"
    )
    #expect(
      try shell("output jsonl", "keys @thumbs").hasPrefix(
        "{\"namespace\":\"thumbs\",\"key_base64\":\"AP8=\",\"size\":12,"))
  }

  @Test func `a NUL ends each key where that was asked for`() throws {
    let shell = try Shell(.plain) { $0.endsWithNUL = true }
    try shell.fill()
    #expect(try shell.bytes("keys @thumbs") == [0, 0xFF, 0])
    #expect(try shell("keys @articles 00001[12]") == "000011\0000012\0")
  }

  @Test func `a person sees a page, and more goes on`() throws {
    let shell = try Shell()
    let numbers = shell.store.namespace("numbers")
    for number in 1000..<1100 { try numbers.set("x", for: "\(number)") }
    let first = try shell("keys").split(separator: "\n")
    #expect(first.count == 1 + 21 + 1)
    #expect(first.last == "\u{2026} 79 more: more, --limit all")
    let next = try shell("more 3").split(separator: "\n")
    #expect(next[1].hasPrefix("\"1021\"") && next[3].hasPrefix("\"1023\""))
    #expect(next.last == "\u{2026} 76 more: more, --limit all")
    #expect(try shell("more 100").split(separator: "\n").count == 77)
    #expect(try shell.error("more").code == .usage)
    #expect(try shell("keys --limit all").split(separator: "\n").count == 101)
    let sorted = try shell("keys --reverse --limit 2").split(separator: "\n")
    #expect(sorted[1].hasPrefix("\"1099\"") && sorted[3] == "\u{2026} 98 more: more, --limit all")
    #expect(try shell("more 1").split(separator: "\n")[1].hasPrefix("\"1097\""))
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
    #expect(shell.outcome == .told(1))
    #expect(try shell("output plain", "exists @articles 000011") == "true\n")
    #expect(shell.outcome == .done)
    #expect(
      try shell("output json", "exists @thumbs hex:00ff")
        == "[{\"namespace\":\"thumbs\",\"key_base64\":\"AP8=\",\"exists\":true}]\n")
    shell.clock.advance(by: .minutes(16))
    try shell("exists @departures 'Malm\u{F6} C:01'")
    #expect(shell.outcome == .told(1))
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
        stored         75 B
        written        1 min ago
        used           1 min ago
        expires        in 1 h 59 min
        state          fresh
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
        == "near it: \"Malm\u{F6} C:01\", \"Malm\u{F6} C:02\", \"Malm\u{F6} C:03\""
        + "   (keys \"Malm\u{F6} C:\"* lists 4)")
    #expect(
      try shell.error("get @articles 00012").hint?.description
        == "near it: \"000012\", \"000011\", \"000013\"")
    #expect(try shell.error("get @articles zzz").hint?.description == "keys lists what there is")
  }
}

@Suite struct ShellCommandTests {
  @Test func `stats has a form for each reader`() throws {
    let shell = try Shell()
    try shell.fill()
    _ = try shell.store.namespace("articles").value(for: "000011") as [UInt8]?
    _ = try shell.store.namespace("articles").value(for: "nope") as [UInt8]?
    let table = try shell("stats")
    #expect(table.contains("entries       9\n") && table.contains("found of all  50 %\n"))
    #expect(table.contains("articles          3  3 kB  \u{2014}          1       1    50 %"))
    #expect(try shell("stats @articles").split(separator: "\n").count == 2)
    let lines = try shell("output plain", "stats")
    #expect(lines.contains("@*\tentries\t9\n") && lines.contains("articles\thits\t1\n"))
    let json = try shell("output json", "stats @articles")
    #expect(json.hasPrefix("{\"namespaces\":[{\"namespace\":\"articles\",\"entries\":3,"))
    #expect(try shell.error("stats --every 2s").code == .usage)
    shell.pauses = 2
    #expect(
      try shell("output jsonl", "stats @articles --every 2s").split(separator: "\n").count == 3)
    #expect(shell.outcome == .told(130))
  }

  @Test func `verify ticks off what it checks`() throws {
    let shell = try Shell()
    try shell.fill()
    let text = try shell("verify")
    #expect(text.split(separator: "\n").dropLast().allSatisfy { $0.hasPrefix("\u{2713} ") })
    #expect(text.hasSuffix("9 entries in 3 namespaces, 3.1 kB: sound\n"))
    #expect(shell.outcome == .done)
    #expect(try shell("output plain", "verify --deep") == "")
    #expect(
      try shell("output json", "verify")
        == "{\"entries\":9,\"bytes\":3067,\"namespaces\":3,\"garbage\":0,\"faults\":[]}\n")
  }

  @Test func `a deep verify finds values that are not what their codec says`() throws {
    let shell = try Shell(.plain)
    struct Word: Codable, Sendable { var text: String }
    try shell.store.cache(of: Word.self, in: "words").set(Word(text: "a"), for: "good")
    try shell.store.write { batch in
      try batch.set(
        [UInt8]("{\"text\":".utf8), for: "bad", in: shell.store.cache(Broken(), in: "words"))
    }
    #expect(try shell("verify") == "")
    #expect(
      try shell("verify --deep")
        == "undecodable\twords\tbad\tthe value is not JSON: it ends too early at byte 8\n")
    #expect(shell.outcome == .told(1))
    #expect(try shell("output json", "verify --deep").contains("\"key\":\"bad\",\"detail\":"))
    let table = try shell("output table", "verify --deep")
    #expect(table.hasSuffix("1 fault\n") && table.contains("words \"bad\": the value"))
  }

  /// Says JSON and writes what it is given.
  private struct Broken: Codec {
    var id: CodecID { .json }
    func encode(_ value: [UInt8]) -> [UInt8] { value }
    func decode(_ bytes: Span<UInt8>) -> [UInt8] { bytes.bytes }
  }

  @Test func `output shows the modes and marks the current one`() throws {
    let shell = try Shell()
    #expect(try shell("output").contains("table  current\n"))
    #expect(try shell("output plain", "output").split(separator: "\n").count == 7)
    #expect(try shell("output jsonl", "output").contains("{\"mode\":\"jsonl\",\"current\":true}\n"))
    #expect(try shell.error("output tabel").hint?.description == "did you mean table?")
  }

  @Test func `every example in the help is right`() throws {
    for command in CommandTable.standard.commands where !["more", "diff"].contains(command.name) {
      for example in command.examples {
        let shell = try Shell(.jsonl, hasPerson: true)
        try shell.fill()
        try shell("use departures")
        do {
          try shell(example.line)
        } catch let error as ShellError {
          #expect(error.code.exitCode != 2, "\(example.line): \(error.message)")
        }
      }
    }
  }

  @Test func `echo, help and quit do as they say`() throws {
    let shell = try Shell()
    #expect(try shell("echo a 'b  c' \"\\e[2J\"") == "a b  c \\e[2J\n")
    #expect(try shell("output plain", "echo \"a\\tb\"") == "a\tb\n")
    #expect(try shell("help keys").hasPrefix("usage: keys [SELECTION] [--long]\n"))
    #expect(try shell("help").contains("\nChange\n"))
    #expect(try shell.error("help kesy").hint?.description == "did you mean keys?")
    try shell("quit")
    #expect(shell.outcome == .quit(0))
    try shell("q 3")
    #expect(shell.outcome == .quit(3))
    #expect(try shell.error("quit 256").code == .usage)
  }
}
