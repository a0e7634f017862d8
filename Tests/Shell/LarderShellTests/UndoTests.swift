import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct UndoTests {
  private func shell() throws -> Shell {
    let shell = try Shell(.plain)
    for number in 1...3 {
      try shell.store.namespace("a").set(
        bytes("{\"n\":\(number)}"), for: "k\(number)",
        .with(
          codec: .json, expires: .after(.hours(number)), tags: ["t\(number)"],
          isPinned: number == 3))
    }
    return shell
  }

  @Test func `what somebody has changed since stays`() throws {
    let shell = try shell()
    try shell("evict @a k1 k2")
    try shell.store.namespace("a").set("of another", for: "k1")
    #expect(try shell("output json", "undo").contains("\"count\":1,"))
    #expect(shell.outcome == .exitCode(5))
    #expect(try shell("output plain", "get @a k1") == "of another\n")
    #expect(try shell("get @a k2") == "{\"n\":2}\n")
  }

  @Test func `a command that changes nothing leaves undo, whatever others write`() throws {
    let shell = try Shell(.plain, hasPerson: true)
    try shell("set @b k v", "set @a k v", "evict @a k")
    shell.answer = false
    shell.whileAsked = { [unowned shell] in try shell.store.namespace("b").set("x", for: "k") }
    #expect(try shell.error("evict @b *").code == .declined)
    #expect(try shell.error("limits @b --bytes 5 --guaranteed 9").code == .usage)
    try shell("clear @a --yes")
    try shell("undo")
    #expect(try shell("exists @a k") == "true\n")
  }

  @Test func `an interrupted undo goes on where it stopped`() throws {
    let shell = try Shell(.plain)
    let box = try shell.fill("box", 0..<1200)
    try shell("evict @box * --yes")
    shell.whenLooking = { [unowned shell] in
      if (try? box.count()) == 500 { shell.stepsUntilInterrupted = 0 }
    }
    let expected = "interrupted: took back evict of 500 entries; `undo` takes back the rest"
    #expect(try shell.error("undo").message.description == expected)
    shell.stepsUntilInterrupted = .max
    shell.whenLooking = {}
    try shell("undo")
    #expect(try box.count() == 1200 && shell.outcome == .done)
  }

  @Test(arguments: [0, 2000])
  func `undo of an import with a key twice restores the first content`(between: Int) throws {
    let shell = try shell()
    let line = "{\"namespace\":\"a\",\"key\":\"k1\",\"value\":\"new\"}"
    let others = (0..<between).map { "{\"namespace\":\"b\",\"key\":\"\($0)\",\"value\":\"\"}" }
    shell.input = export([line] + others + [line])
    try shell("import - --on-conflict replace --yes", "undo")
    #expect(shell.outcome == .done)
    #expect(try shell("get @a k1") == "{\"n\":1}\n")
  }

  /// A shell whose `clear @box` removes 500 of 1,201 entries, and then meets the failure.
  private func shellThatClears(_ fail: @escaping (Shell) -> Void) throws -> Shell {
    let shell = try Shell(.plain, hasPerson: true)
    let box = try shell.fill("box", 0..<1200)
    shell.whileAsked = { try box.set("new", for: "new") }
    shell.whenLooking = { [unowned shell] in if (try? box.count()) == 701 { fail(shell) } }
    return shell
  }

  @Test func `undo of a clear that was interrupted restores what it removed`() throws {
    let shell = try shellThatClears { $0.stepsUntilInterrupted = 0 }
    #expect(try shell.error("clear @box").code == .interrupted)
    shell.stepsUntilInterrupted = .max
    shell.whenLooking = {}
    try shell("undo")
    #expect(try shell.store.namespace("box").count() == 1201)
  }

  @Test func `a clear that an error ends says what it removed`() throws {
    let shell = try shellThatClears { try? $0.session.store.close() }
    #expect(
      try shell.error("clear @box").hint?.description == "before it: cleared 500 entries, 500 B")
  }

  @Test func `only a change that the log cannot hold is too large, and forgotten`() throws {
    #expect(UndoLog.isTooLarge(Tally(entries: 170_000, bytes: 1_700_000)))
    #expect(UndoLog.isTooLarge(Tally(entries: 3, bytes: 90_000_000)))
    #expect(!UndoLog.isTooLarge(Tally(entries: 3, bytes: 90_000_000), losesValues: false))
    let log = UndoLog()
    let shell = try shell()
    let namespace = shell.store.namespace("a")
    let entry = try #require(try namespace.entry(for: "k1"))
    log.begin("evict")
    let value = [UInt8](repeating: 0, count: UndoLog.most / 2)
    for number in 0..<3 {
      log.add([
        UndoLog.Item(namespace: namespace, key: Key(bytes("\(number)")), before: (entry, value))
      ])
    }
    #expect(log.isTooLarge && log.items.isEmpty)
    log.end()
    log.begin("evict")
    try log.read([(namespace, entry.key)])
    log.keep(entry, under: entry.key, in: namespace)
    log.commit()
    log.end()
    // A batch of a script that is not committed changes nothing.
    log.begin("import", isRecorded: false)
    log.keep(entry, under: entry.key, in: namespace)
    log.end()
    #expect(log.items.count == 1 && log.lost == 0)
  }

  @Test func `an export before a removal says what it leaves out`() throws {
    let shell = try shell()
    let attributes = with(EntryAttributes()) { $0.isNegative = true }
    try shell.store.namespace("a").set([], for: "none", attributes)
    try shell("clear @a --yes --save \(shell.file)")
    #expect(shell.takeAside().first == "note: 1 negative entry was left out: there is no value")
  }

  @Test(arguments: [
    ("evict @a k1 k2", 2), ("evict @a k[12] --yes", 2), ("invalidate t1 t2 --yes", 2),
    ("clear @a --yes", 3), ("evict @a --stdin --yes", 2),
  ]) func `an export is written before entries are removed`(line: String, count: Int) throws {
    let shell = try shell()
    let keys = bytes("k1\nk2\n")
    shell.input = keys
    try shell("\(line) --save \(shell.file)")
    #expect(try shell("exists @a k1 k2 k3") == "false\nfalse\n\(count == 2)\n")
    let said = "saved \(count) entries, \(count * 7) B to "
    #expect(shell.takeAside().first?.hasPrefix(said) == true)
    #expect(try shell("import \(shell.file)") == "import\ta\t\(count)\t\(count * 7)\n")
    #expect(try shell("keys @a") == "k1\nk2\nk3\n")
    // If the file exists, the command fails before it removes anything.
    shell.input = keys
    let error = try shell.error("\(line) --save \(shell.file)")
    #expect(error.code == .exists && error.hint?.description == "name another file")
    #expect(try shell("keys @a") == "k1\nk2\nk3\n")
  }

  @Test(arguments: ["--limit 1", "--limit 1 --sort size"])
  func `only entries of the export are removed`(order: String) throws {
    let shell = try shell()
    // Another process removes the first entry during the export, so another entry becomes the first.
    shell.whenLooking = { [unowned shell] in
      shell.whenLooking = {}
      _ = try? shell.store.namespace("a").remove("k1")
    }
    try shell("evict @a \(order) --yes --save \(shell.file)")
    #expect(try shell("keys @a") == "k2\nk3\n")
  }
}
