import Foundation
import Larder
import Testing

@testable import LarderShell

@Suite struct SetCommandTests {
  @Test func `set says what it stored and until when`() throws {
    let shell = try Shell()
    #expect(
      try shell("set @notes \"a b\" sunny --ttl 15m")
        == "set notes \"a b\" (5 B), expires in 15 min (22:28)\n")
    #expect(try shell("set @notes c rain") == "set notes \"c\" (4 B), never expires\n")
    #expect(
      try shell("set @notes d snow --until midnight")
        == "set notes \"d\" (4 B), expires in 1 h 47 min (tomorrow 00:00)\n")
    #expect(try shell("output plain", "set hex:00ff hex:ff") == "set\tnotes\t\\0\\xff\n")
    #expect(
      try shell("output json", "set e x").hasPrefix(
        "{\"namespace\":\"notes\",\"key\":\"e\",\"size\":1,"))
    #expect(
      try shell.store.namespace("notes").value(for: [0, 0xFF] as [UInt8]) == [0xFF] as [UInt8]?)
    #expect(try shell.store.namespace("notes").entry(for: "c")?.codec == .text)
    #expect(try shell.store.namespace("notes").entry(for: [0, 0xFF] as [UInt8])?.codec == .bytes)
  }

  @Test func `a condition decides whether it is stored`() throws {
    let shell = try Shell(.plain)
    let missing = try shell.error("set @a k v --if-present")
    #expect(missing.code == .noSuchKey)
    #expect(try shell.store.namespaces().isEmpty)
    try shell("set @a k v --if-absent", "set k w --if-present")
    let present = try shell.error("set k x --if-absent")
    #expect(present.code == .exists && present.code.exitCode == 5)
    #expect(try shell("get k") == "w\n")
    try shell("expire k 1m")
    shell.clock.advance(by: .minutes(2))
    #expect(try shell.error("set k x --if-present").code == .noSuchKey)
    try shell("set k x --if-absent")
  }

  @Test func `a value comes from a file or standard input byte for byte`() throws {
    let shell = try Shell(.plain)
    let value = (0...255).map { UInt8($0) } + [0, 10, 13]
    let path = FileManager.default.temporaryDirectory.path + "/larder-\(UUID().uuidString)"
    try Data(value).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    try shell("set @a f --from \(path)")
    try shell("output raw")
    #expect(try shell.bytes("get f") == value)
    shell.input = value
    try shell("set i --from -")
    #expect(try shell.session.store.namespace("a").value(for: "i") == value)
    let absent = try shell.error("set x --from \(path)-no")
    #expect(absent.code == .io && absent.message.description.hasSuffix("there is no such file"))
    #expect(try Shell(hasInput: false).error("set @a x --from -").code == .usage)
  }

  @Test func `a value over the limit is refused with both sizes`() throws {
    let shell = try Shell(.plain)
    try shell.store.declare(Rules(largestValue: 1000), for: "small")
    shell.input = [UInt8](repeating: 65, count: 1001)
    let error = try shell.error("set @small k --from -")
    #expect(error.code == .overLimit && error.code.exitCode == 5)
    #expect(
      error.message.description == "the value has 1,001 bytes, and small takes 1,000 at most")
    #expect(try shell("count") == "0\t0\t0\n")
  }
}

@Suite struct LifetimeCommandTests {
  @Test func `expire sets an end and says which`() throws {
    let shell = try Shell()
    try shell.fill()
    #expect(
      try shell("expire @departures 'Malm\u{F6} C:'* midnight")
        == "4 entries expire Sat 21 Nov 00:00 (in 1 h 47 min)\n")
    #expect(
      try shell("expire @departures Kiruna:05 1h30m")
        == "1 entry expires Fri 20 Nov 23:43 (in 1 h 30 min)\n")
    #expect(try shell("expire @departures Kiruna:05 never") == "1 entry never expires\n")
    #expect(try shell("output plain", "expire @articles * 1h") == "expire\tarticles\t3\t3000\n")
    #expect(
      try shell("output json", "expire @articles 000011 1h")
        == "{\"count\":1,\"expires\":\"2026-11-20T22:13:00.000Z\"}\n")
    #expect(try shell.error("expire @articles nope 1h").code == .noSuchKey)
  }

  @Test func `a time in the past is asked about where somebody can answer`() throws {
    let shell = try Shell(hasPerson: true)
    try shell.fill()
    shell.answer = false
    #expect(try shell("expire @articles * 2026-11-20") == "")
    #expect(shell.questions == ["That is 22 h 13 min ago. Expire 3 entries, 3 kB at once?"])
    #expect(try shell("count @articles") == "3 entries, 3 kB\n")
    shell.answer = true
    try shell("expire @articles * 2026-11-20")
    #expect(try shell("count @articles") == "0 entries, 0 B, 3 expired\n")
    let script = try Shell(.plain)
    try script.fill()
    #expect(try script("expire @articles * 2026-11-20") == "expire\tarticles\t3\t3000\n")
  }

  @Test func `persist and touch do as they say`() throws {
    let shell = try Shell()
    try shell.fill()
    #expect(try shell("persist @departures K*") == "1 entry never expires\n")
    #expect(try shell("ttl @departures K*") == "\"Kiruna:05\"  never\n")
    #expect(
      try shell("touch @departures K* --ttl 2h")
        == "touched 1, expires Sat 21 Nov 00:13 (in 2 h)\n")
    try shell.store.declare(Rules(expires: .after(.minutes(5))), for: "departures")
    #expect(try shell("touch @departures") == "touched 5\n")
    #expect(try shell("ttl @departures K*") == "\"Kiruna:05\"  in 5 min (22:18)\n")
    #expect(try shell("output plain", "touch @departures K*") == "touch\tdepartures\t1\t11\n")
    #expect(try shell("output json", "touch @departures K*") == "{\"touched\":1}\n")
    #expect(try shell("persist @departures K*") == "{\"count\":1}\n")
    #expect(try shell.error("touch @departures nope").code == .noSuchKey)
    #expect(try shell.error("persist @departures nope").code == .noSuchKey)
  }
}

@Suite struct EvictCommandTests {
  @Test func `what keys lists, evict removes`() throws {
    for words in [
      "@departures 'Malm\u{F6} C:'*", "@* --larger 1kB", "@departures --expiring 1h",
      "@* --permanent", "@articles 000011 00001[23]", "@* --contains '\"train\":1'",
      "@departures --sort expiry --reverse --limit 2", "@departures --after Kiruna:05",
    ] {
      let shell = try Shell(.plain)
      try shell.fill()
      let all = Set(try shell("keys @*").split(separator: "\n"))
      let listed = Set(try shell("keys \(words)").split(separator: "\n"))
      #expect(!listed.isEmpty, "\(words)")
      try shell("evict \(words)")
      #expect(
        Set(try shell("keys @*").split(separator: "\n")) == all.subtracting(listed), "\(words)")
    }
  }

  @Test func `evict says what went and what is left`() throws {
    let shell = try Shell()
    try shell.fill()
    #expect(
      try shell("evict @departures M* --dry-run") == "would evict 4 entries (44 B)\n")
    #expect(try shell("evict @departures M*") == "evicted 4 entries, 44 B, 1 left\n")
    #expect(try shell("evict @departures M*") == "evicted 0 entries, 0 B, 1 left\n")
    #expect(
      try shell("output plain", "evict @* *01* K*")
        == "evict\tarticles\t3\t3000\nevict\tdepartures\t1\t11\nevict\tthumbs\t0\t0\n")
    try shell.fill()
    #expect(
      try shell("output json", "evict @articles 000011 --verbose")
        == "{\"count\":1,\"bytes\":500,\"keys\":[{\"key\":\"000011\"}]}\n")
    #expect(try shell("evict @articles 000012 --dry-run") == "{\"count\":1,\"bytes\":1000}\n")
    #expect(try shell("evict @articles nope") == "{\"count\":0,\"bytes\":0}\n")
  }

  @Test func `a person is asked about what was found, not about what was named`() throws {
    let shell = try Shell(hasPerson: true)
    try shell.fill()
    shell.answer = false
    #expect(try shell("evict @departures M*") == "")
    #expect(
      shell.questions == [
        "Evict 4 entries (44 B), such as \"Malm\u{F6} C:01\", \"Malm\u{F6} C:02\", "
          + "\"Malm\u{F6} C:03\"?"
      ])
    try shell("evict @departures Kiruna:05", "evict @departures X*", "evict @articles * --yes")
    #expect(shell.questions.count == 1)
    #expect(try shell("count @*") == "5 entries, 56 B\n")
  }

  @Test func `keys come from standard input, a line or a NUL each`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    shell.input = bytes("000011\r\n\n000012\nnope")
    #expect(try shell("evict @articles --stdin") == "evict\tarticles\t2\t1500\n")
    try shell("set @articles \"a\\nb\" x")
    shell.input = bytes("a\nb\0Kiruna:05")
    #expect(try shell("keys @* --stdin -0") == "a\\nb\nKiruna:05\n")
    #expect(shell.input.isEmpty)
    shell.input = bytes("Kiruna:05\n000013\n000013\n")
    #expect(try shell("keys @* --stdin --larger 1kB") == "000013\n000013\n")
    #expect(try Shell(hasInput: false).error("evict --stdin").code != .interrupted)
  }

  @Test func `an entry written again since it was chosen by a filter stays`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    let articles = shell.store.namespace("articles")
    var isFirst = true
    _ = try shell.session.change(
      try #require(try invocation("evict @articles --larger 1").selection), in: [articles],
      verb: "evict", done: "evicted"
    ) { batch, namespace, entry in
      // The second one is written anew while the first is being removed.
      if isFirst { try batch.set("new", for: "000012", in: namespace) }
      isFirst = false
      try batch.remove(entry.key, from: namespace)
      return true
    }
    #expect(try shell("keys @articles") == "000012\n")
  }

  @Test func `interrupted, a change stops between batches and says what was done`() throws {
    let shell = try Shell(.plain)
    let box = shell.store.namespace("box")
    try shell.store.write { batch in
      for number in 0..<2000 { try batch.set("x", for: number, in: box) }
    }
    shell.patience = 1200
    let error = try shell.error("evict @box *")
    #expect(error.code == .interrupted && error.code.exitCode == 130)
    let left = try box.count()
    #expect(left > 0 && left < 2000 && left.isMultiple(of: 500))
    let evicted = Wording.count(2000 - left)
    #expect(
      error.message.description.hasPrefix("interrupted: \(evicted) entries, "), "\(error.message)")
    shell.patience = 100
    #expect(try shell.error("keys @box").code == .interrupted)
  }

  @Test func `a change of large values is cut into batches that a store takes`() throws {
    let shell = try Shell(.plain)
    let box = shell.store.namespace("box")
    for number in 0..<5 {
      try box.set([UInt8](repeating: UInt8(number), count: 30_000_000), for: number)
    }
    #expect(try shell("touch @box --ttl 1h") == "touch\tbox\t5\t150000000\n")
  }
}

@Suite struct RemovalCommandTests {
  @Test func `purge removes what has expired`() throws {
    let shell = try Shell()
    try shell.fill()
    shell.clock.advance(by: .minutes(16))
    #expect(
      try shell("purge @departures --dry-run") == "would purge 4 expired entries, 44 B\n")
    #expect(try shell("purge @articles") == "purged 0 expired entries, 0 B\n")
    #expect(try shell("purge") == "purged 4 expired entries, 44 B\n")
    #expect(try shell("purge @*") == "purged 0 expired entries, 0 B\n")
    try shell.fill()
    shell.clock.advance(by: .minutes(16))
    #expect(try shell("output plain", "purge @departures") == "purge\tdepartures\t4\t44\n")
    #expect(try shell("purge") == "purge\t@*\t0\t0\n")
    #expect(
      try shell("output json", "purge") == "{\"count\":0,\"bytes\":0,\"postponed\":false}\n")
  }

  @Test func `purge explains that a clock which jumped removes nothing`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    shell.clock.set(to: Timestamp(milliseconds: shell.clock.now.milliseconds + 3 * 86_400_000))
    #expect(try shell("purge") == "purge\t@*\t0\t0\n")
    #expect(shell.notices.count == 1)
    #expect(shell.notices.first?.contains("clock seems to have jumped") == true)
    shell.clock.advance(by: .minutes(2))
    #expect(try shell("purge") == "purge\t@*\t5\t55\n")
    #expect(shell.notices.count == 1)
  }

  @Test func `a purge can be interrupted`() throws {
    let shell = try Shell(.plain)
    let box = shell.store.namespace("box")
    try shell.store.write { batch in
      for number in 0..<2000 {
        try batch.set("x", for: number, in: box, expires: .after(.seconds(1)))
      }
    }
    shell.clock.advance(by: .seconds(2))
    shell.patience = 1
    let error = try shell.error("purge @box")
    #expect(error.code == .interrupted)
    #expect(error.message.description == "interrupted: purged 1,000 expired entries, 1 kB")
    #expect(try box.count() == 1000)
  }

  @Test func `clear needs a yes`() throws {
    let script = try Shell(.plain)
    try script.fill()
    let error = try script.error("clear @articles")
    #expect(error.code == .needsYes && error.code.exitCode == 5)
    #expect(
      error.message.description
        == "nobody can be asked: Remove all 3 entries of articles (3 kB)?")
    #expect(error.hint?.description.contains("--yes") == true)
    #expect(try script("clear @articles --yes") == "clear\tarticles\t3\t3000\n")
    let person = try Shell(hasPerson: true)
    try person.fill()
    person.answer = false
    #expect(try person("clear @*") == "")
    #expect(person.questions == ["Remove all 9 entries of every namespace (3.1 kB)?"])
    person.answer = true
    #expect(try person("clear @*") == "cleared every namespace: 9 entries, 3.1 kB\n")
    let sure = try Shell(.json) { $0.answersYes = true }
    try sure.fill()
    #expect(try sure("clear @articles") == "{\"count\":3,\"bytes\":3000}\n")
  }

  @Test func `quiet drops what a change says, and nothing else`() throws {
    let shell = try Shell(.plain) { $0.isQuiet = true }
    try shell.fill()
    #expect(
      try shell(
        "set @a k v", "touch @a k", "expire @a k 1h", "persist @a k", "evict @a k", "purge",
        "clear @articles --yes") == "")
    #expect(try shell("evict @departures * --dry-run") == "would evict\tdepartures\t5\t55\n")
    #expect(try shell("keys @departures K*") == "Kiruna:05\n")
  }

  @Test func `a store that is open for reading refuses every change`() throws {
    let shell = try Shell(.plain, isReadOnly: true)
    try shell.fill()
    for line in [
      "set @a k v", "touch @articles", "expire @articles * 1h", "persist @articles",
      "evict @articles *", "purge", "clear @* --yes",
    ] {
      let error = try shell.error(line)
      #expect(error.code == .readOnly && error.code.exitCode == 5, "\(line)")
      #expect(error.place?.column == 1)
    }
    #expect(try shell("count @articles") == "3\t3000\t0\n")
    #expect(shell.session.promptName == "larder (read-only)")
  }
}

@Suite struct OrderedChangeTests {
  @Test func `a change takes its entries in any order, limited or not`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    #expect(try shell("touch @articles --sort size") == "touch\tarticles\t3\t3000\n")
    #expect(
      try shell("evict @articles --reverse --limit 9223372036854775807 --dry-run")
        == "would evict\tarticles\t3\t3000\n")
    #expect(
      try shell("evict @articles --sort size --reverse --limit 1") == "evict\tarticles\t1\t1500\n")
  }
}
