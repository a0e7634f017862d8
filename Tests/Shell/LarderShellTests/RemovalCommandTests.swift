import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct RemovalCommandTests {
  @Test func `purge explains that a clock which jumped removes nothing`() throws {
    let shell = try Shell.filled(.plain)
    shell.clock.set(to: Timestamp(milliseconds: shell.clock.now.milliseconds + 3 * 86_400_000))
    #expect(try shell("purge") == "purge\t@*\t0\t0\n")
    #expect(shell.notices.count == 1)
    #expect(shell.notices.first?.contains("the clock jumped") == true)
    shell.clock.advance(by: .minutes(2))
    #expect(try shell("purge") == "purge\t@*\t5\t55\n")
    #expect(shell.notices.count == 1)
  }

  @Test func `what is written after the question of clear stays`() throws {
    let shell = try Shell.filled(hasPerson: true)
    shell.whileAsked = { [unowned shell] in
      try shell.store.namespace("departures").set("new", for: "Malm\u{F6} C:02")
      try shell.store.namespace("later").set("new", for: "k")
    }
    #expect(try shell("clear @departures") == "cleared departures: 4 entries, 44 B\n")
    #expect(try shell.store.namespace("departures").keys() == [Key("Malm\u{F6} C:02")])
    #expect(try shell("count @departures") == "1 entry, 3 B\n")
    shell.whileAsked = { [unowned shell] in
      try shell.store.namespace("departures").clear()
      try shell.store.namespace("departures").set("newer", for: "k")
    }
    #expect(try shell("clear @*").hasPrefix("cleared every namespace: "))
    #expect(try shell.store.namespace("departures").keys() == [Key("k")])
    #expect(try shell("count @*") == "1 entry, 5 B\n")
  }

  @Test(arguments: [
    "clear @* --yes", "clear @articles --yes", "evict @articles --yes", "evict @articles x* --yes",
    "evict @* x* --yes",
  ])
  func `a load that began before a removal stores nothing`(line: String) async throws {
    let shell = try Shell.filled(.plain)
    let cache = shell.store.cache(of: String.self, in: line.contains("@*") ? "later" : "articles")
    let origin = Origin(isOpen: false)
    async let loaded = cache.value(for: "new") { try await origin.text() }
    try await origin.waitForLoads(1)
    _ = try shell(line)
    origin.open()
    #expect(try await loaded == "load 1")
    // The call of `statistics` waits for the commits of loaded values, so the next read sees whether the value was stored.
    _ = try shell.store.statistics()
    #expect(try cache.value(for: "new") == nil)
  }
}

@Suite struct EvictCommandTests {
  /// With a delay of zero, the entries are written in the moment of the question.
  @Test(arguments: [
    ("evict @a *", Duration.zero), ("evict @a *", .seconds(1)), ("invalidate x", .zero),
  ]) func `what is written after the question stays`(line: String, delay: Duration) throws {
    let shell = try Shell(hasPerson: true)
    let attributes = EntryAttributes.with(tags: ["x"])
    let (a, b) = (shell.store.namespace("a"), shell.store.namespace("b"))
    for key in ["1", "2"] { try a.set(bytes("old"), for: key, attributes) }
    shell.whileAsked = { [unowned shell] in
      shell.clock.advance(by: delay)
      try a.set(bytes("new"), for: "2", attributes)
      try b.set(bytes("new"), for: "3", attributes)
    }
    try shell(line)
    #expect(try shell("get @a 2").contains("new"))
    #expect(try a.keys() == [Key("2")] && b.keys() == [Key("3")])
  }

  @Test func `a batch that is made twice counts once`() throws {
    let shell = try Shell.filled(.plain)
    var report = ExpiryReport()
    var tries = 0
    var change = try EntryChange(
      "persist", past: "persisted", invocation("persist @articles * --yes"), in: shell.session)
    try change.apply { batch, namespace, entry -> ExpiryReport.Effect? in
      tries += 1
      if tries == 3 { throw LarderError(.full, "no pages") }
      return tries.isMultiple(of: 2) ? .unchanged : .changed(from: nil, to: stockholm.now)
    } record: {
      report.add($0)
    }
    #expect(tries == 6)
    #expect((report.changed, report.unchanged) == (1, 2))
    #expect(change.summary.total.entries == 1)
  }

  @Test func `an entry written again since it was chosen by a filter stays`() throws {
    let shell = try Shell.filled(.plain)
    var isFirst = true
    var change = try EntryChange(
      "evict", past: "evicted", invocation("evict @articles --larger 1 --yes"), in: shell.session)
    try change.apply { batch, namespace, entry in
      // Writes the second entry again during the removal of the first entry, so the removal must skip the second entry.
      if isFirst { try batch.set("new", for: "000012", in: namespace) }
      isFirst = false
      try batch.remove(entry.key, from: namespace)
      return true
    }
    #expect(try shell("keys @articles") == "000012\n")
  }

  @Test func `interrupted, a change stops between batches and says what was done`() throws {
    let shell = try Shell(.plain)
    let box = try shell.fill("box", 0..<2000)
    shell.stepsUntilInterrupted = 1200
    let error = try shell.error("evict @box * --yes")
    #expect(error.code == .interrupted && error.code.exitCode == 130)
    let left = try box.count()
    #expect(left > 0 && left < 2000 && left.isMultiple(of: 500))
    let evicted = Wording.count(2000 - left)
    let expected = "interrupted: evicted \(evicted) entries; the rest is unchanged"
    #expect(error.message.description == expected, "\(error.message)")
  }

  @Test func `an error of the store says what was changed before it`() throws {
    let shell = try Shell(.plain)
    try shell.fill("box", 0..<501)
    var change = try EntryChange(
      "evict", past: "evicted", invocation("evict @box * --yes"), in: shell.session)
    var calls = 0
    let failure = try error {
      try change.apply { batch, namespace, entry in
        calls += 1
        if calls > 500 { throw LarderError(.failed, "no") }
        try batch.remove(entry.key, from: namespace)
        return true
      }
    }
    #expect(failure.hint?.description == "before it: evicted 500 entries")
  }

  @Test func `a change of large values is cut into batches that a store takes`() throws {
    let shell = try Shell(.plain)
    let box = shell.store.namespace("box")
    for (number, size) in [10_000_000, 60_000_000, 30_000_000, 30_000_000].enumerated() {
      try box.set([UInt8](repeating: UInt8(number), count: size), for: number)
    }
    #expect(try shell("touch @box --ttl 1h --yes") == "touch\tbox\t4\t130000000\n")
    #expect(try shell("undo") == "undo\tbox\t4\t130000000\n")
  }

  @Test(.timeLimit(.minutes(1))) func `counts of many namespaces take no quadratic time`() {
    let names = (0..<40_000).map { "tenant-\($0)" }
    var summary = ChangeSummary("evict", in: names)
    for name in names { summary.add(Tally(entries: 1, bytes: 2), in: name) }
    #expect(summary.tallies.map(\.namespace) == names)
    let question = Confirmation.question(summary).description
    #expect(question.hasSuffix("1 in tenant-7, 39,992 in 39,992 more namespaces?"))
  }
}
