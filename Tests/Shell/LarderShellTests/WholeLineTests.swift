import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// A command reads its whole line before it changes anything.
@Suite struct WholeLineTests {
  /// Lines that are wrong at their end, for each command that changes entries.
  private static let lines = [
    "set @a k v w", "set @a k v --ttl", "set @a k v --ttl 1x", "set @a k v --ttl 1h --until noon",
    "set @a new v --if-absent --if-present", "evict @a k --nope", "evict @a k --larger 1q",
    "evict @a --where '.a = ' --yes", "evict @a --stdin -0 --json --yes",
    "expire @a k", "expire @a k nope", "expire @a k 1h --at-least --at-most",
    "touch @a k 1h", "touch @a k --ttl", "touch @a k --ttl 1mo", "persist @a k --until noon",
    "pin @a k --nope", "unpin @a k --tag", "purge @a @b", "purge @a --yes", "clear @a k --yes",
    "clear @a --nope --yes", "invalidate red --nope --yes", "invalidate @a @b red --yes",
    "limits @a --entries 1 x --yes", "limits @a --entries 1 --disk 1GB --yes",
    "limits @a --entries 1 --policy none --yes", "rename @a", "rename @a @b @c",
    "import - x --yes", "import - --on-conflict maybe --yes", "compact x", "sync x", "undo x",
    "edit @a k x",
  ]

  private func shell() throws -> Shell {
    let shell = try Shell(.plain)
    for name in ["a", "b"] {
      for key in ["k", "l"] {
        var attributes = EntryAttributes(expires: .after(.hours(5)))
        attributes.tags = ["red"]
        try shell.store.namespace(name).set(bytes("{\"a\":1}"), for: key, attributes)
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
      write: { _ in try session.store.close() }, read: { _ in throw FileProblem.notPermitted },
      make: { _, _ in throw FileProblem.notPermitted })
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
