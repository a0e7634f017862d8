import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// A command on many entries must often check for ^C, and must stop at the first check after ^C has come.
@Suite struct StopTests {
  private static let count = 1200
  /// The largest number of entries that a command may read between two checks for ^C. The reads take less than a millisecond.
  private static let between = 600

  private func shell() throws -> Shell {
    let shell = try Shell(.plain)
    try shell.fill("old", 0..<Self.count, expires: .after(.seconds(1)))
    try shell.store.write { batch in
      for number in 0..<Self.count {
        try batch.set(
          bytes("{\"n\":\(number % 100)}"), for: "k\(number)", in: shell.store.namespace("a"),
          .with(codec: .json, expires: .after(.hours(1 + number % 9)), tags: ["all"]))
      }
    }
    shell.clock.advance(by: .seconds(2))
    shell.input = Self.exported
    return shell
  }

  private static let exported = export(
    (0..<count).map { #"{"namespace":"a","key":"k\#($0)","value":"1"}"# })
  private static let file = TemporaryDirectory.unusedPath

  private static let lines = [
    "count @a --larger 0", "count @a --by .n", "sum .n @a", "avg .n @a --by .n",
    "keys @a --limit all", "keys @a --long", "keys @a --sort size", "keys @a --sort .n --limit 3",
    "keys @a --reverse", "keys @a --tag all", "keys @a --where '.n > 5'", "keys @a --regex 9",
    "get @a *", "get @a * .n", "ttl @a", "expiring @a --within 9h", "search 77 @a",
    "sizes @a --by key --top all", "sizes @a --by prefix --separator 1", "plot @a",
    "plot age @a --log", "export - @a", "export - @a --format csv", "verify --deep",
    "evict @a --larger 1 --dry-run", "evict @a --larger 1 --yes", "expire @a --larger 1 1h --yes",
    "touch @a --ttl 1h --yes", "persist @a --yes", "pin @a --yes", "unpin @a --larger 0 --yes",
    "report -", "min .n @a", "max size @a", "namespaces", "stats", "count @*", "purge --dry-run",
    "invalidate all --dry-run", "clear @a --dry-run --verbose", "clear @a --yes",
    "import - --dry-run", "import - --on-conflict replace --yes", "diff \(file)",
    "exists @a --stdin -0", "keys @a --stdin -0", "salvage \(file).larder",
  ]

  /// Commands that check for ^C once in each step of their work.
  private static let steps = [
    "compact", "compact --to \(file).copy", "purge", "invalidate all --yes",
    "limits @a --entries 10 --yes", "undo",
  ]

  /// Commands that are as fast in a large store, or that wait for a person or a change. Other tests stop the waiting commands.
  private static let others = [
    "browse", "edit", "echo", "help", "history", "info", "option", "output", "quit",
    "rename", "set", "source", "sync", "use", "watch",
  ]

  @Test func `every command is tried`() {
    let tried = Set((Self.lines + Self.steps).map { String($0.prefix { $0 != " " }) } + Self.others)
    let all = Set(CommandTable.standard.commands.map(\.name))
    #expect(tried == all, "\(all.symmetricDifference(tried))")
  }

  private func shell(for line: String) throws -> Shell {
    let shell = try shell()
    if line.hasPrefix("diff") { try Data(Self.exported).write(to: URL(fileURLWithPath: Self.file)) }
    if line.contains("-0") {
      shell.input = Array((0..<Self.count).map { "k\($0)\0" }.joined().utf8)
    }
    if line == "undo" { try shell("evict @a --larger 0 --yes") }
    return shell
  }

  /// Each line with the smallest number of checks for ^C that the command must make.
  @Test(arguments: lines.map { ($0, count / between) } + steps.map { ($0, 1) })
  func `each look for an interruption ends a command`(line: String, least: Int) throws {
    let shell = try shell(for: line)
    var looks = 0
    shell.whenLooking = { looks += 1 }
    try shell(line)
    shell.whenLooking = {}
    #expect(looks >= least, "\(line): \(looks) looks")
    // `diff` sorts the elements of a Set, so the numbers of comparisons and of checks for ^C differ from run to run.
    let last = looks - 1 - (line.hasPrefix("diff") ? looks / 20 : 0)
    for step in Set([0, 1, looks / 2, last]) where step < looks {
      for made in [".larder", ".copy"].map({ Self.file + $0 }) where line.hasSuffix(made) {
        try? FileManager.default.removeItem(atPath: made)
      }
      let shell = try self.shell(for: line)
      shell.stepsUntilInterrupted = step
      #expect(try shell.error(line).code == .interrupted, "\(line), look \(step) of \(looks)")
    }
  }

  @Test(arguments: [".a[] > .b[]", ".a[] in .b", ".a[] in (.b[], 3)"])
  func `a comparison of two long lists can be stopped`(condition: String) throws {
    let shell = try Shell(.plain)
    func list(of number: Int) -> String { "\(Array(repeating: number, count: 1000))" }
    try shell.store.namespace("a").set("{\"a\":\(list(of: 1)),\"b\":\(list(of: 2))}", for: "k")
    shell.stepsUntilInterrupted = 500
    #expect(try shell.error("count @a --where '\(condition)'").code == .interrupted)
  }

  @Test(arguments: [
    ("purge @old", 1, "purged 1,000 expired entries, 1 kB; the rest is unchanged", 2000),
    ("verify", 1, "checked 2,000 records; the rest is unknown", 3000),
    (
      "invalidate y x --yes", 1, "invalidated 1 entry, 5 B; x and the tags after it are unchanged",
      3000
    ), ("compact", 0, "the file is unchanged", 3000), ("compact --to", 0, "no copy was made", 3000),
  ])
  func `an interrupted command says what was done`(
    line: String, steps: Int, message: String, left: Int
  ) throws {
    let shell = try Shell()
    try shell.fill("old", 0..<3000, expires: .after(.seconds(1)))
    shell.input = bytes(
      """
      {"larder_export":1}
      {"namespace":"tagged","key":"1","value":"value","tags":["x"]}
      {"namespace":"tagged","key":"2","value":"value","tags":["x","y"]}

      """)
    try shell("import -")
    shell.clock.advance(by: .seconds(2))
    shell.stepsUntilInterrupted = steps
    let error = try shell.error(line == "compact --to" ? "\(line) \(shell.file)" : line)
    #expect(error.code == .interrupted)
    #expect(error.message.description == "interrupted: \(message)")
    // After an interruption of `compact`, the session opens the store again.
    let store = shell.session.store
    #expect(try store.namespace("old").count() == left)
    #expect(try store.namespace("tagged").count() == (line.hasPrefix("inv") ? 1 : 2))
    #expect(!FileManager.default.fileExists(atPath: shell.file))
  }
}

/// A command reads its whole line before it changes anything.
@Suite struct WholeLineTests {
  /// Lines that are wrong at their end, for each command that changes entries.
  private static let lines = [
    "set @a k v w", "set @a k v --ttl", "set @a k v --ttl 1x", "set @a k v --ttl 1h --until noon",
    "set @a new v --if-absent --if-present", "evict @a k --nope", "evict @a k --larger 1q",
    "evict @a --where '.a = ' --yes", "evict @a --stdin -0 --json --yes", "expire @a k",
    "expire @a k nope", "expire @a k 1h --at-least --at-most", "touch @a k 1h", "touch @a k --ttl",
    "touch @a k --ttl 1mo", "persist @a k --until noon", "pin @a k --nope", "unpin @a k --tag",
    "purge @a @b", "purge @a --yes", "clear @a k --yes", "clear @a --nope --yes",
    "invalidate red --nope --yes", "invalidate @a @b red --yes", "limits @a --entries 1 x --yes",
    "limits @a --entries 1 --disk 1GB --yes", "limits @a --entries 1 --policy none --yes",
    "rename @a", "rename @a @b @c", "import - x --yes", "import - --on-conflict maybe --yes",
    "compact x", "sync x", "undo x", "edit @a k x",
  ]

  private func shell() throws -> Shell {
    let shell = try Shell(.plain)
    for name in ["a", "b"] {
      for key in ["k", "l"] {
        try shell.store.namespace(name).set(
          bytes("{\"a\":1}"), for: key, .with(expires: .after(.hours(5)), tags: ["red"]))
      }
    }
    try shell.store.namespace("a").set("old", for: "gone", expires: .after(.seconds(1)))
    shell.clock.advance(by: .seconds(2))
    shell.input = export([#"{"namespace":"a","key":"z","value":"1"}"#])
    return shell
  }

  @Test(arguments: lines) func `a wrong line changes nothing`(line: String) throws {
    let shell = try shell()
    let commit = shell.store.lastCommit
    #expect(try shell.error(line).code.exitCode == 2, "\(line)")
    #expect(shell.store.lastCommit == commit, "\(line)")
  }

  @Test func `every command that changes is tried`() {
    let tried = Set(Self.lines.compactMap { $0.split(separator: " ").first.map(String.init) })
    let changing = CommandTable.standard.commands.filter { $0.access == .changes }.map(\.name)
    #expect(tried.isSuperset(of: changing), "\(Set(changing).subtracting(tried))")
  }
}

/// A store that fails right after the commit of a change: the command succeeds, and a note reports the failure.
@Suite struct AfterCommitTests {
  private let told = "note: the change is made; a read of the store behind it failed: "

  @Test func `a set whose following read fails is a success`() throws {
    let shell = try Shell(.plain)
    let path = shell.store.path
    var notes: [String] = []
    var session: Session!
    var host = LarderShell.Host(
      write: { _ in try session.store.close() }, read: { _ in throw ShellError.declined },
      make: { _, _ in throw ShellError.declined })
    host.notify = { notes.append($0.description) }
    session = Session(store: shell.store, settings: shell.session.settings, host: host)
    #expect(try session.run(command("set @a k v")) == .done)
    #expect(notes.count == 1 && notes[0].hasPrefix(told))
    let value: String? = try Store(at: path).namespace("a").value(for: "k")
    #expect(value == "v")
  }

  @Test func `an evict whose following read fails is a success`() throws {
    let shell = try Shell(.plain)
    let path = shell.store.path
    try shell("set @a x1 v1", "set @a x2 v2")
    let before = shell.store.lastCommit
    shell.whenLooking = { [unowned shell] in
      guard shell.store.lastCommit != before else { return }
      do { try shell.session.store.close() } catch { Issue.record(error) }
    }
    #expect(try shell("evict @a x1") == "evict\ta\t1\t2\n")
    #expect(shell.outcome == .done)
    #expect(shell.takeAside().filter { $0.hasPrefix(told) }.count == 1)
    #expect(try Store(at: path).namespace("a").count() == 1)
  }
}
