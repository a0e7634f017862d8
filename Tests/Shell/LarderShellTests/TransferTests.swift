import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct TransferTests {
  private let directory = TemporaryDirectory()

  /// The entries of a store without the facts that an import cannot restore, such as versions and the last use.
  private func contents(_ shell: Shell) throws -> [Store.Entry: [UInt8]] {
    var all: [Store.Entry: [UInt8]] = [:]
    for facts in try shell.store.namespaces() {
      try shell.store.namespace(facts.name).scan { entry, value in
        var entry = entry
        entry.version = 0
        entry.state = .fresh
        entry.lastUsed = nil
        entry.storedSize = 0
        all[entry] = value.bytes
        return true
      }
    }
    return all
  }

  private func attributes(_ random: inout SeededRNG, now: Timestamp) -> EntryAttributes {
    var attributes = EntryAttributes(
      codec: CodecID(rawValue: UInt8.random(in: 0...255, using: &random)))
    attributes.expires = [
      Expiration.never, .after(.hours(5)), .after(.days(2)), .after(.days(4_000_000)),
      .afterAccess(.days(2)),
    ].randomElement(using: &random)
    attributes.stale = [.zero, .minutes(7)].randomElement(using: &random)
    func bytes() -> [UInt8]? { Bool.random(using: &random) ? random.awkwardBytes(upTo: 20) : nil }
    if Bool.random(using: &random) {
      attributes.awaitsOwners = true
      attributes.owners = [Owner(Key([1] + (bytes() ?? [])), in: "c-d")]
    }
    attributes.tags = Bool.random(using: &random) ? ["front", "a\u{1B}b"] : []
    attributes.entityTag = bytes()
    attributes.lastModified = bytes()
    attributes.metadata = bytes()
    attributes.isPinned = Bool.random(using: &random)
    return attributes
  }

  @Test func `what was exported is imported byte for byte, with all that is known of it`() throws {
    var random = SeededRNG()
    let shell = try Shell(.plain)
    try shell.store.declare(
      Rules(expires: .after(.days(1)), stale: .minutes(1), limits: Limits(bytes: 5_000_000)),
      for: "a")
    try shell("limits @a --entries 5000")
    for number in 0..<1200 {
      let name = ["a", "b", "c-d"][number % 3]
      let attributes = attributes(&random, now: shell.clock.now)
      try shell.store.write { batch in
        try batch.set(
          random.awkwardBytes(upTo: 100), for: random.awkwardBytes(upTo: 12) + [1],
          in: shell.store.namespace(name), attributes)
      }
      shell.clock.advance(by: .milliseconds(Int.random(in: 0...5000, using: &random)))
    }
    try shell("export \(shell.file)")
    let other = try Shell(.plain)
    // An import treats a write time in the future as now, so the clock moves first.
    other.clock.advance(by: .hours(2))
    try other("import \(shell.file)")
    let (expected, found) = (try contents(shell), try contents(other))
    #expect(expected == found, "LARDER_SEED=\(random.seed)")
    #expect(found.count > 500)
    for facts in try shell.store.namespaces() {
      let copy = try #require(try other.store.namespace(facts.name).info())
      #expect(copy.declared == facts.declared && copy.overrides == facts.overrides)
    }
    #expect(try other.store.verify().faults.isEmpty)
  }

  @Test func `an export that was interrupted makes no file and says where it stopped`() throws {
    let shell = try Shell.filled(.plain)
    shell.stepsUntilInterrupted = 3
    #expect(try shell.error("export \(shell.file) @*").code == .interrupted)
    #expect(!FileManager.default.fileExists(atPath: shell.file))
  }

  @Test func `an import that was interrupted keeps whole batches and says which`() throws {
    let shell = try Shell(.plain)
    try shell.fill("box", 0..<5000)
    try shell("export \(shell.file)")
    let other = try Shell(.plain)
    other.stepsUntilInterrupted = 3000
    let error = try other.error("import \(shell.file)")
    #expect(error.code == .interrupted && error.code.exitCode == 130)
    let expected = "interrupted after line 2002 of \(shell.file): imported 2,000: 2,000 added"
    #expect(error.message.description == expected)
    #expect(try other.store.namespace("box").count() == 2000)
    other.stepsUntilInterrupted = .max
    try other("import \(shell.file)")
    #expect(try other.store.namespace("box").count() == 5000)
  }

  @Test func `an import whose input cannot be read to its end says what was imported`() throws {
    let shell = try Shell(.plain)
    let lines = (0...2000).map { #"{"namespace":"a","key":"\#($0)","value":"v"}"# }
    var pieces = [export(lines)]
    var host = LarderShell.Host(
      write: { _ in }, read: { _ in throw ShellError.declined },
      make: { _, _ in throw ShellError.declined })
    host.input = {
      LarderShell.Host.Input {
        guard let piece = pieces.popLast() else { throw ShellError(.io, "no", hint: nil) }
        return piece
      }
    }
    let session = Session(store: shell.store, settings: shell.session.settings, host: host)
    let failure = try error { _ = try session.run(try command("import -")) }
    #expect(failure.hint?.description == "before it: imported 2,000: 2,000 added")
  }

  @Test func `an import tells how many entries limits evict meanwhile`() throws {
    let shell = try Shell(.plain)
    try shell("limits --entries 100")
    shell.input = export((0..<300).map { #"{"namespace":"a","key":"\#($0)","value":"v"}"# })
    try shell("import -")
    let evicted = try 300 - shell.store.namespace("a").count()
    let note = "note: limits evicted \(evicted) entries meanwhile: see `limits`"
    #expect(shell.takeAside().contains(note))
  }

  @Test func `an import says which line is nested too deep, or begins a batch that fails`() throws {
    let shell = try Shell(.plain)
    let deep = String(repeating: "[", count: 600) + String(repeating: "]", count: 600)
    shell.input = export([#"{"namespace":"a","key":"k","value":"v","x":\#(deep)}"#])
    let message = try shell.error("import -").message.description
    #expect(message.contains("it is nested too deep") && !message.contains("not JSON"))
    shell.input = export([#"{"namespace":"a","key":"k","value":"v"}"#])
    shell.whenLooking = { [unowned shell] in try? shell.session.store.close() }
    #expect(try shell.error("import -").message.description.hasPrefix("stdin:2:1: "))
  }

  /// A shell on a store with the undamaged entry `l` and three damaged entries. Only a read of the value of `long` finds its damage.
  private func damagedShell() throws -> Shell {
    let place = directory.path + "/store"
    let options = with(Store.Options()) { $0.hooks.chunksAbove = 9000 }
    let store = try Store(at: place, options: options)
    let box = store.namespace("a")
    for key in ["j", "k"] { try box.set("a needle in the file", for: key) }
    try box.set(String(repeating: "a needle ", count: 50_000), for: "long")
    try box.set("sound", for: "l")
    try store.close()
    let file = URL(fileURLWithPath: place + "/data.mdb")
    var data = try Data(contentsOf: file)
    var rest = data.startIndex..<data.endIndex
    while let found = data.range(of: Data("a needle".utf8), in: rest) {
      data[found.lowerBound] = 0x62
      rest = found.upperBound..<data.endIndex
    }
    try data.write(to: file)
    return try Shell(.plain, at: place)
  }

  @Test(arguments: ["", "@a", "@a --sort size", "@a j k l long", "@a --stdin"])
  func `an export says how many damaged entries it leaves out, whatever else is read meanwhile`(
    selection: String
  ) throws {
    let shell = try damagedShell()
    // The absent key `lon` does not count as damaged, although the key `long` begins with `lon`.
    if selection.hasSuffix("--stdin") { shell.input = bytes("lon\nj\nk\nl\nlong\n") }
    var others: [Int] = []
    shell.whenLooking = {
      shell.whenLooking = {}
      var damaged = 0
      func noteDamage() { damaged += 1 }
      let scan = Result {
        try shell.store.namespace("a").scanEntries(readsValues: true, damaged: noteDamage) { _, _ in
          true
        }
      }
      if case .success = scan { others.append(damaged) }
    }
    #expect(try shell("export \(shell.file) \(selection)").hasPrefix("1\t5\t"))
    #expect(
      shell.takeAside() == ["note: 3 damaged entries were left out; `verify` lists the damage"]
        + (selection.hasSuffix("--stdin") ? ["note: 1 key not found"] : []))
    #expect(others == [3])
  }

  @Test func `a damaged entry is an error under its key, and a note below a list`() throws {
    let shell = try damagedShell()
    let lines = [
      "get @a k", "get @a l long", "info @a j", "ttl @a k", "evict @a k", "exists @a l k",
    ]
    for line in lines {
      let error = try shell.error(line)
      #expect(
        error.code == .unreadable && "\(error.message)".hasSuffix("in a is damaged"), "\(line)")
    }
    #expect(shell.printed == bytes("true\n\n"))
    for (line, count) in [
      ("keys @a", 2), ("count @a --larger 1", 2), ("get @a *", 3), ("search sound @a", 3),
      ("evict @a ? --dry-run", 2), ("pin @a ? --yes", 2), ("keys @a --stdin", 1),
      ("evict @a --stdin --yes --dry-run", 1), ("evict @a --stdin --yes", 1),
    ] {
      shell.input = bytes("k\nl\n")
      let entries = count == 1 ? "1 damaged entry was" : "\(count) damaged entries were"
      let note = "note: \(entries) left out; `verify` lists the damage"
      #expect(try !shell(line).isEmpty && shell.takeAside() == [note], "\(line)")
    }
    shell.input = bytes("k\n")
    #expect(try shell.error("get @a --stdin").code == .unreadable)
  }
}
