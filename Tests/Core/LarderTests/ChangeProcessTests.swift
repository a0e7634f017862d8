import Foundation
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct ChangeProcessTests: StoreSuite {
  /// A clock for tests: the clock of the machine plus the added time. After a call of `stop`, the time does not change.
  private final class Machine: Sendable {
    private let added = Shared<Int64>(0)
    private let stopped = Shared<Int64?>(nil)
    func advance(_ milliseconds: Int64) { added.withLock { $0 += milliseconds } }
    func stop(at milliseconds: Int64) { stopped.withLock { $0 = milliseconds } }

    var now: Int64 { stopped.value ?? SystemClock().monotonic.roundedUpMilliseconds + added.value }
  }

  private let machine: Machine
  let fixture: StoreFixture

  init() {
    let machine = Machine()
    let options = with(Store.Options()) { $0.hooks.machineClock = { machine.now } }
    self.machine = machine
    fixture = StoreFixture(onDisk: options, usesSystemClock: true)
  }

  @Test func `a replay of what two processes do is the store`() async throws {
    var random = SeededRNG()
    let peer = try PeerProcess("commands", store.path, saying: "open")
    var watch = store.changes().makeAsyncIterator()
    var replay = Replay()
    for _ in 0..<5 {
      for _ in 0..<30 {
        let name = random.chance(percent: 50) ? "a" : "b"
        let key = "\(random.next(in: 0..<8))"
        let notes = store.namespace(name)
        switch random.next(in: 0..<9) {
        case 0..<2:
          try await notes.set([UInt8](repeating: 1, count: random.next(in: 0..<99)), for: key)
        case 2..<4: #expect(try peer.ask("set \(name) \(key) \(random.next(in: 0..<99))") == "done")
        case 4: try await notes.remove(key)
        case 5: #expect(try peer.ask("remove \(name) \(key)") == "done")
        case 6: #expect(try peer.ask("touch \(name) \(key)") == "done")
        case 7 where random.chance(percent: 20): #expect(try peer.ask("clear \(name)") == "done")
        default: if random.chance(percent: 20) { try notes.clear() }
        }
      }
      for change in try await watch.rest(of: store) {
        replay.apply(change, "LARDER_SEED=\(random.seed)")
      }
      try replay.compare(store, "LARDER_SEED=\(random.seed)")
    }
    #expect(replay.missed == 0 && replay.count > 50)
    // Another process makes this change, and this process makes no write. The watch must still get the change.
    #expect(try peer.ask("set a last 7") == "done")
    let last = try #require(await watch.next())
    #expect(
      last.key == Key("last") && last.process != Int(ProcessInfo.processInfo.processIdentifier))
  }

  @Test func `a process killed while it publishes leaves nothing out or wrong`() async throws {
    let directory = TemporaryDirectory()
    var random = SeededRNG(seed: Int(TestSettings.seed))
    // A ring that grows with the store would forget older changes, so the ring has its final size from the start.
    let options = with(Store.Options()) { $0.hooks.changeSlots = ChangeRing.mostSlots }
    let store = try Store(at: directory.path + "/s", options: options)
    var watch = store.changes().makeAsyncIterator()
    var replay = Replay()
    var round = 0
    while round < 6 || replay.count <= 1000 && round < 60 {
      let peer = try PeerProcess("churn", store.path)
      #expect(peer.line() == "open" && peer.line() == "busy")
      for _ in 0..<random.next(in: 0..<200) { _ = try store.statistics() }
      peer.kill()
      for change in try await watch.rest(of: store) { replay.apply(change, "round \(round)") }
      try replay.compare(store, "round \(round)")
      round += 1
    }
    #expect(replay.missed == 0 && replay.count > 1000)
    try store.verifyAndClose()
  }

  @Test func `the watch of a process that was killed ends by time`() throws {
    #expect(try !store.publishesChanges)
    let first = try PeerProcess("watch", store.path, saying: "watching")
    let second = try PeerProcess("watch", store.path, saying: "watching")
    #expect(try store.publishesChanges)
    try second.endInput()
    #expect(second.line() == "closed")
    #expect(try store.publishesChanges)
    first.kill()
    let ring = store.engine.changes.ring
    let leases = ChangeRing.Place.leases.lowerBound
    let end = Int64(ring.load(leases))
    machine.stop(at: end - 1)
    #expect(try store.publishesChanges)
    machine.stop(at: end)
    #expect(try !store.publishesChanges)
    #expect(ring.watchedUntil == 0)
    // A new watch takes lease 0, because the lease of the killed process is free again.
    var watch: Changes? = store.changes()
    #expect(watch != nil && ring.load(leases) > 0 && ring.load(leases + 1) == 0)
    watch = nil
    // Nobody renews this lease. No lease lasts an hour. So a lease that ends in an hour is from before a reboot and is ignored.
    #expect(ring.exchange(0, for: UInt64(end), at: ChangeRing.Place.watched))
    machine.stop(at: end - 1)
    #expect(try store.publishesChanges)
    machine.stop(at: end - 3_600_000)
    #expect(try !store.publishesChanges)
  }

  /// A process cannot map or make the file if it has no descriptors left.
  @Test func `a writer that could not publish records a gap as soon as it can`() throws {
    let watcher = try PeerProcess("watch", store.path, saying: "watching")
    let (file, files) = (store.path + "/changes", FileManager.default)
    func set(_ rights: Int) throws {
      try files.setAttributes([.posixPermissions: rights], ofItemAtPath: file)
    }
    try set(0o644)
    try files.createDirectory(atPath: file + ".new", withIntermediateDirectories: false)
    try notes.set("v", for: "k")
    try set(0o600)
    try files.removeItem(atPath: file + ".new")
    let ring = store.engine.changes.ring
    let gaps = try #require(try SharedTable.word(4, of: .changes, in: store.path))
    #expect(!ring.isUsable)
    machine.advance(1000)
    try notes.set("v", for: "k")
    #expect(ring.load(ChangeRing.Place.gaps) == gaps &+ 1)
    watcher.kill()
  }

  @Test func `a deleted file hides no change from subscribers`() throws {
    let (watch, feed) = (store.changes().makeAsyncIterator(), store.engine.changes)
    let file = store.path + "/changes"
    try notes.set("v", for: "k")
    #expect(watch.nextNow()?.kind == .set)
    try FileManager.default.removeItem(atPath: file)
    let watcher = try PeerProcess("watch", store.path, saying: "watching")
    try notes.set("v", for: "k")
    #expect(feed.ring.words.isInPlace && watch.nextNow()?.kind == .missed(nil))
    watcher.kill()
    try FileManager.default.removeItem(atPath: file)
    machine.advance(Int64(ChangeLease.renewal))
    _ = feed.poll(after: nil)
    #expect(feed.ring.words.isInPlace && watch.nextNow()?.kind == .missed(nil))
  }

  @Test func `a watcher whose lease ended learns that it may have missed something`() async throws {
    var watch = store.changes().makeAsyncIterator()
    var kinds: Set<Change.Kind> = []
    var last = 0
    for round in 0..<50 where !kinds.contains(.missed(nil)) {
      last = round
      machine.advance(Int64(ChangeLease.length) + 1)
      // The lease has ended, so this change is not published, except if the watch renewed its lease just before the write.
      try await notes.set("v", for: round)
      kinds.insert(try #require(await watch.next()).kind)
    }
    #expect(kinds.contains(.missed(nil)) && kinds.isSubset(of: [.missed(nil), .set]))
    try await waitUntil { try store.publishesChanges }
    try await notes.remove(0)
    var next = await watch.next()
    // If the last write is in the write buffer, the commit that publishes the write may come after the missed change.
    if last > 0, next?.kind == .set, next?.key == Key(last) { next = await watch.next() }
    #expect(next?.kind == .removed(.removed))
    // If no process writes between the end of a lease and its renewal, the watcher misses nothing.
    #expect(store.engine.changes.poll(after: nil) != nil)
    machine.advance(Int64(ChangeLease.length) + 1)
    try await waitUntil { try store.publishesChanges }
    try await notes.set("v", for: 0)
    #expect(await watch.next()?.kind == .set)
  }
}
