import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// A store that fails right after the commit of a change: the command succeeds, and a note reports the failure.
@Suite struct AfterCommitTests {
  private let told = "note: the change is made; a read of the store behind it failed: "

  @Test func `a set whose following read fails is a success`() throws {
    let shell = try Shell(.plain)
    let path = shell.store.path
    var notes: [String] = []
    var session: Session!
    var host = LarderShell.Host(
      write: { _ in try session.store.close() },
      read: { _ in throw FileProblem.notPermitted },
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
