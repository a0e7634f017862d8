import Foundation
import TestSupport
import Testing

@testable import Larder

/// Removals by other processes, and damage of the file `removals`, in which all processes record their removals.
extension RemovedDuringLoadTests {
  @Test func `another process's removal ends a value that waits for its commit`() async throws {
    // The loaded value must still wait for its commit when the test removes it, also on a slow machine.
    let options = Store.Options(lockTimeout: .seconds(600))
    let store = try Store(at: directory.path + "/s", options: options)
    let boards = store.cache(TextCodec(), in: "boards")
    try await boards.set("other", for: "bern")
    let writer = try PeerProcess("hold-write", store.path, saying: "writing")
    #expect(try await boards.value(for: "thun") { "old" } == "old")
    #expect(try boards.value(for: "thun") == "old")
    // Simulates the first half of a removal by another process: a removal gets its number before its commit.
    let table = store.engine.removalTable
    let number = try #require(table.begin())
    table.record(Checksum.keyHash(of: Array("thun".utf8).span, in: try boards.namespace.id), number)
    #expect(try boards.value(for: "thun") == nil)
    try writer.endInput()
    #expect(writer.line() == "done")
    #expect(try await boards.settled() == nil)
    try store.close()
  }

  @Test(arguments: [
    "remove boards thun", "pop boards thun", "prefix boards t", "invalidate boards all",
    "clear boards", "clear-all", "rename boards b",
  ])
  func `a foreign removal wins, and later callers await no lease`(command: String) async throws {
    let storeOptions = with(Store.Options()) { $0.hooks.machineClock = { 1_000_000 } }
    let store = try Store(at: directory.path + "/s", options: storeOptions)
    let boards = store.cache(TextCodec(), in: "boards")
    try await boards.set("other", for: "bern")
    let loader = try PeerProcess("load", store.path, ["thun", "standard"], saying: "loading")
    let remover = try PeerProcess("commands", store.path, saying: "open")
    let options = LoadOptions(policy: .reload, tags: ["all"], waitsForCommit: true)
    let mine = try await origin.startHeld(boards, options)
    #expect(try remover.ask(command) == "done")
    let later = origin.startAsking(boards, LoadOptions(tags: ["all"], waitsForCommit: true))
    // After an invalidation a caller waits for the other process's load, because this process does not know that load's tags.
    let waits = command.hasPrefix("invalidate")
    if !waits { try await origin.waitForLoads(2) }
    try loader.tell("theirs")
    #expect(loader.line() == "loaded theirs")
    try await origin.waitForLoads(waits ? 1 : 2)
    origin.open()
    #expect(try await mine.value.value == "load 1")
    #expect(try await later.value.value == (waits ? "theirs" : "load 2"))
    #expect(try await boards.settled() == (waits ? "theirs" : "load 2"))
    try store.close()
  }

  /// A process cannot map or make the file if it has no descriptors left.
  @Test func `a removal that cannot be recorded refuses earlier loads`() async throws {
    let store = try Store(at: directory.path + "/s")
    let boards = store.cache(TextCodec(), in: "boards")
    try await boards.set("other", for: "thun")
    let remover = try PeerProcess("commands", store.path, saying: "open")
    let mine = try await origin.startHeld(
      boards, LoadOptions(policy: .reload, waitsForCommit: true))
    let file = store.path + "/removals"
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    try FileManager.default.createDirectory(
      atPath: file + ".new", withIntermediateDirectories: false)
    #expect(try remover.ask("remove boards thun") == "done")
    origin.open()
    #expect(try await mine.value.value == "load 1")
    #expect(try await boards.settled() == nil)
    try remover.endInput()
    try store.close()
  }

  @Test func `a removal that cannot be recorded refuses loads until its commit`() throws {
    let (file, files) = (store.path + "/removals", FileManager.default)
    #expect(store.momentOfLoad.isKnown)
    try files.removeItem(atPath: file)
    try files.createDirectory(atPath: file + ".new", withIntermediateDirectories: false)
    let moment = try store.write { batch in
      _ = try batch.remove("thun", from: boards)
      try files.removeItem(atPath: file + ".new")
      return store.momentOfLoad
    }
    #expect(moment.isKnown)
    let key = Array("thun".utf8)
    #expect(try store.write { try !$0.isNewest(moment, key, in: "boards", EntryAttributes()) })
  }

  @Test func `a process that is killed during a removal costs a load`() async throws {
    try await boards.set("other", for: "bern")
    let table = boards.namespace.engine.removalTable
    let number = try #require(table.begin())
    table.record(Checksum.keyHash(of: Array("thun".utf8).span, in: try boards.namespace.id), number)
    #expect(try await origin.ask(boards).isCommitted == false)
    #expect(try await origin.ask(boards).isCommitted)
    #expect(try boards.value(for: "thun") == "load 2")
  }

  @Test func `a removal that is rolled back costs no later load`() async throws {
    try await boards.set("kept", for: "thun", expires: .after(.minutes(1)))
    #expect(
      failure {
        try store.write { batch in
          _ = try batch.remove("thun", from: boards)
          throw LarderError(.failed, "changed my mind")
        }
      } == .failed)
    clock.advance(by: .minutes(1))
    #expect(try await origin.ask(boards).isCommitted)
  }

  @Test(arguments: [0, 1, 2, 7], [0, .max, 1 << 40] as [UInt64])
  func `a damaged file costs loads and revives no value`(place: Int, word: UInt64) async throws {
    try await boards.set("other", for: "bern")
    _ = try await origin.ask(boards)
    try await boards.remove("thun")
    let first = try await origin.startHeld(boards)
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: store.path + "/removals"))
    // `index` is the number of a word after the header. For place 7, `index` is the number of the word that belongs to the key.
    let hash = Checksum.keyHash(of: Array("thun".utf8).span, in: try boards.namespace.id)
    let index = place == 7 ? 8 + hash % (1 << 14) : UInt64(place)
    try file.seek(toOffset: 128 + 8 * index)
    try file.write(contentsOf: (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) })
    try await boards.remove("thun")
    origin.open()
    _ = try await first.value
    #expect(try await boards.settled() == nil)
    for _ in 1...3 { _ = try await origin.ask(boards) }
    #expect(try await boards.settled() != nil)
  }

  @Test func `without the file a load is given and not stored`() async throws {
    let path = store.path + "/removals"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    #expect(try await origin.ask(boards).isCommitted == false)
    #expect(try await boards.remove("thun") == false)
    try FileManager.default.removeItem(atPath: path)
    // A commit in time may make the file while the load runs. Then the value is not stored.
    try await waitUntil { try await origin.ask(boards).isCommitted }
  }

  @Test(.timeLimit(.minutes(30)))
  func `no caller of any process gets what was removed before it asked`() throws {
    let path = directory.path + "/s"
    // The file has one time for each of four keys in two namespaces. No caller may get a value from before the time of its key.
    try Data(count: 64).write(to: URL(fileURLWithPath: path + ".floors"))
    let steps = 250 * TestSettings.trials
    var random = SeededRNG()
    let store = try Store(at: path)
    func peer(_ number: Int, _ steps: Int) throws -> PeerProcess {
      let peer = try PeerProcess(
        "remove-and-load", path, ["\(random.seed % 1000 + UInt64(number))", "\(steps)"],
        saying: "open")
      try peer.tell("go")
      return peer
    }
    let peers = [try peer(1, steps), try peer(2, steps)]
    // Again and again starts a third process, and kills this process after a random delay.
    var number = 3
    while peers.contains(where: \.isRunning) {
      let victim = try peer(number, 100_000)
      usleep(UInt32(random.next(in: 1_000..<100_000)))
      victim.kill()
      number += 1
    }
    for peer in peers {
      let lines = peer.lines()
      for line in lines { #expect(!line.hasPrefix("WRONG"), "LARDER_SEED=\(random.seed): \(line)") }
      #expect(lines.last == "end", "LARDER_SEED=\(random.seed)")
    }
    try store.verifyAndClose()
  }
}
