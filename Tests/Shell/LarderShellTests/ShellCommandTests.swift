import Foundation
import TestSupport
import Testing

@testable import Larder
@testable import LarderShell
@testable import ShellLanguage

@Suite struct ShellCommandTests {
  @Test(arguments: [Change.Kind.health(.missing), .missed(nil)])
  func `a watch of a namespace shows what concerns the whole store`(kind: Change.Kind) throws {
    let event = try #require(ChangeEvent(Change(kind)))
    #expect(event.isIn([EntryID("a").namespace]))
  }

  @Test func `stats has a form for each reader`() throws {
    let shell = try Shell.filled()
    _ = try shell.store.namespace("articles").value(for: "000011") as [UInt8]?
    _ = try shell.store.namespace("articles").value(for: "nope") as [UInt8]?
    let table = try shell("stats")
    #expect(table.contains("entries       9\n") && table.contains("hit rate      50 %\n"))
    #expect(table.contains("articles          3  3 kB     1      0       1  50 %"))
    #expect(try shell("stats @articles").split(separator: "\n").count == 2)
    #expect(try shell("stats @*") == table)
    shell.store.namespace("articles").handle.count(.damaged)
    #expect(try shell("stats @articles").contains("\n\ndamaged in  reads\narticles"))
    let lines = try shell("output plain", "stats")
    #expect(lines.contains("@*\tentries\t9\n") && lines.contains("articles\thits\t1\n"))
    let json = try shell("output json", "stats @articles")
    #expect(json.hasPrefix("{\"namespaces\":[{\"namespace\":\"articles\",\"entries\":3,"))
    #expect(try shell.error("stats --every 2s").code == .usage)
    shell.pauses = 2
    #expect(
      try shell("output jsonl", "stats @articles --every 2s").split(separator: "\n").count == 3)
    #expect(shell.outcome == .exitCode(130))
    let restless = try shell.error("stats --every 0s")
    #expect(restless.code == .badTime && restless.place?.column == 7)
  }

  @Test func `a stale value that was served counts as found, and is told apart`() async throws {
    struct Refusal: Error {}
    let shell = try Shell()
    let boards = shell.store.cache(of: String.self, in: "boards")
    let options = LoadOptions(
      expires: .after(.minutes(2)), stale: Staleness(onError: .hours(24)), waitsForCommit: true)
    _ = try await boards.result(for: "thun", options: options) { "a board" }
    shell.clock.advance(by: .minutes(3))
    for _ in 0..<3 {
      _ = try await boards.result(for: "thun", options: options) { () -> String in throw Refusal() }
    }
    let table = try shell("stats")
    #expect(table.contains("stale hits    3\n") && table.contains("hit rate      75 %\n"))
    #expect(table.contains("hits  stale  misses  rate"))
    for (mode, fact) in [
      ("plain", "boards\tstale_hits\t3\n"), ("csv", "boards,stale_hits,3\r\n"),
      ("raw", "boards\tstale_hits\t3\n"), ("json", "\"hits\":0,\"stale_hits\":3,\"misses\":1,"),
      ("jsonl", "\"hits\":0,\"stale_hits\":3,\"misses\":1,"),
    ] {
      let text = try shell("output \(mode)", "stats")
      #expect(text.contains(fact), "\(mode): \(text)")
    }
    try shell("report \(shell.file)")
    #expect(
      try String(contentsOfFile: shell.file, encoding: .utf8).contains(">75 % of 4, 3 stale<"))
  }

  @Test func `verify mends what it finds when asked to, and says what stays`() throws {
    let shell = try Shell.filled(.plain)
    #expect(try shell("verify --repair") == "")
    let queue = shell.store.engine.indexes.queue
    func damage() throws {
      try shell.store.engine.commit { batch in
        let keys = try batch.session.transaction.keys(in: queue, from: [], limit: 2)
        try batch.session.transaction.remove(keys, from: queue)
      }
    }
    try damage()
    try shell("verify")
    #expect(shell.outcome == .exitCode(1))
    let remedy = "note: `verify --repair` mends the faults, and removes damaged entries"
    #expect(shell.takeAside() == [remedy])
    #expect(try shell("output table", "verify --repair").contains("\nmended "))
    #expect(shell.outcome == .done)
    #expect(try shell("output json", "verify --repair").contains("\"staying\":0}"))
    try damage()
    shell.stepsUntilInterrupted = 0
    #expect(try shell.error("verify --repair").code == .interrupted)
  }

  @Test func `verify says which checks a damaged page prevents, and what helps`() throws {
    let place = TemporaryDirectory.unusedPath
    defer { try? FileManager.default.removeItem(atPath: place) }
    let store = try Store(at: place)
    try store.write { batch in
      for number in 0..<3000 {
        try batch.set("a value", for: "key \(number)", in: store.namespace("a"))
      }
    }
    try store.close()
    let file = URL(fileURLWithPath: place + "/data.mdb")
    var data = try Data(contentsOf: file)
    // Erases the flags, which give the kind of the page. A page without flags is damaged.
    for found in data.ranges(of: Data("key 1500".utf8)) {
      data[found.lowerBound / 4096 * 4096 + 10] = 0
    }
    try data.write(to: file)
    let shell = try Shell(at: place)
    let text = try shell("verify --deep")
    #expect(shell.outcome == .exitCode(1))
    #expect(text.contains("? large values are whole: not checked, because pages are damaged\n"))
    #expect(text.contains(" could be read: "))
    let notes = shell.takeAside()
    #expect(notes.count == 2 && notes[0].hasPrefix("note: not every value was decoded: "))
    #expect(notes[1] == "note: `salvage DIRECTORY` saves what is whole")
    let salvage = with(Salvage()) { $0.damagedEntries = 1 }
    #expect(throws: ShellError.self) { try salvage.checkSaved() }
    let encrypted = with(Salvage()) { ($0.leftOut, $0.transformed) = (2, 2) }
    #expect(throws: ShellError.self) { try encrypted.checkSaved() }
    try with(Salvage()) { $0.leftOut = 2 }.checkSaved()
    #expect(encrypted.reply.sentences[1].description.hasPrefix("left out: 2 entries "))
  }

  @Test func `every example in the help is right`() throws {
    for command in CommandTable.standard.commands where !["undo", "diff"].contains(command.name) {
      for example in command.examples {
        let shell = try Shell.filled(.jsonl, hasPerson: true)
        // `touch` needs a rule that gives a lifetime.
        try shell.store.declare(Rules(expires: .after(.minutes(15))), for: "departures")
        try shell("use departures")
        // An export without entries is the shortest input that `import -` takes.
        if command.name == "import" { shell.input = Array(#"{"larder_export":1}"#.utf8) }
        do { try shell(example.key) } catch let error as ShellError {
          // The tests have no terminal, so a command with a full-screen view fails with `promptOnly`.
          #expect(
            error.code.exitCode != 2 || error.code == .promptOnly,
            "\(example.key): \(error.message)")
        }
      }
    }
  }
}
