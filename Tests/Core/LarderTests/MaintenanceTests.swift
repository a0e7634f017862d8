import Foundation
import LarderSystem
import Synchronization
import TestSupport
import Testing

@testable import Larder

@Suite struct MaintenanceTests: StoreSuite {
  private final class Log: Sendable {
    let clock: ManualClock
    private let seen = Mutex<[Duration]>([])
    private let reports = AsyncStream<Maintenance.Report>.makeStream()
    let errors = Mutex<[LarderError]>([])
    init(_ clock: ManualClock) { self.clock = clock }

    var times: [Duration] { seen.withLock { $0 } }
    func next() async -> Maintenance.Report? { await reports.stream.first { _ in true } }
    func maintenance(of store: Store, every interval: Duration, jitter: Double = 0) throws
      -> Maintenance
    {
      try Maintenance(
        of: store, every: interval, jitter: jitter,
        onRun: { [self] report in
          #expect(!isInTask, "a run blocks its thread")
          seen.withLock { $0.append(clock.monotonic) }
          reports.continuation.yield(report)
        }, onError: { [self] error in errors.withLock { $0.append(error) } })
    }
  }

  // The ring of changes is large, so a watch gets every change of a purge of 20,000 entries.
  let fixture = StoreFixture { $0.hooks.changeSlots = ChangeRing.mostSlots }
  private let log: Log
  init() { log = Log(fixture.clock) }

  @Test func `a run says what it has done`() async throws {
    let other = store.namespace("other")
    for key in 0..<3 { try await notes.set("four", for: key, expires: .after(.seconds(1))) }
    try await notes.set("stays", for: "k")
    try other.fill(0..<700)
    try other.clear()
    _ = try notes.text("k")
    clock.advance(by: .seconds(1))
    // The removals that these reads leave to the next commit are in the report, too.
    for key in 0..<3 { #expect(try notes.text(key) == nil) }
    let upkeep = try log.maintenance(of: store, every: .hours(1))
    #expect(upkeep.latest == nil && !upkeep.isRunning)
    let report = try upkeep.runOnce()
    #expect(report.removed == RemovalResult(entries: 3, bytes: 12))
    // The clear itself may already have reclaimed up to 200 of the 700 entries, so this run may reclaim fewer than 700.
    #expect((500...700).contains(report.reclaimed) && report.deadReaders == 0)
    #expect(store.engine.allHandles.allSatisfy { $0.unmerged() == ReadCounters() })
    #expect(try upkeep.latest?.get() == report)
    #expect(try upkeep.runOnce() == Maintenance.Report())
    #expect(try store.verify().garbage == 0)
  }

  @Test func `readers that were killed are cleared`() throws {
    try withTemporaryDirectory { path in
      // This test needs `durable`. At other levels, a checkpoint may clear the killed readers before this run. At `durable` the
      // first write clears killed readers, and then no write for a minute.
      let store = try Store(at: path + "/s", options: Store.Options(durability: .durable))
      try store.namespace("notes").set("v", for: "k")
      try PeerProcess("larder-hold", store.path, saying: "holding").kill()
      let upkeep = try Maintenance(of: store)
      #expect(try upkeep.runOnce().deadReaders >= 1)
      #expect(try upkeep.runOnce().deadReaders == 0)
      try store.close()
      #expect(failure { try upkeep.runOnce() } == .closed)
    }
  }

  @Test(arguments: [1800, 3600])
  func `it runs at its interval and not before`(seconds: Int) async throws {
    let interval = Duration.seconds(seconds)
    let upkeep = try log.maintenance(of: store, every: interval)
    try await store.namespace("notes").set("v", for: 0, expires: .after(interval))
    // A store without earlier maintenance is overdue, so the first run begins immediately.
    upkeep.start()
    upkeep.start()
    #expect(await log.next() == Maintenance.Report())
    for round in 1...4 {
      clock.advance(by: interval - .seconds(1))
      #expect(upkeep.isRunning && log.times.count == round)
      clock.advance(by: .seconds(1))
      #expect(await log.next()?.removed.entries == (round == 1 ? 1 : 0))
    }
    #expect(log.times == (0...4).map { interval * $0 })
    upkeep.stop()
  }

  @Test func `it stops, and starts again`() async throws {
    let upkeep = try log.maintenance(of: store, every: .hours(1))
    for round in 1...3 {
      upkeep.start()
      #expect(upkeep.isRunning)
      #expect(await log.next() != nil)
      upkeep.stop()
      upkeep.stop()
      #expect(!upkeep.isRunning)
      clock.advance(by: .hours(10))
      try await store.namespace("notes").set("v", for: 0)
      #expect(log.times.count == round)
    }
  }

  @Test func `letting go of it stops it`() async throws {
    weak var held: Maintenance?
    do {
      let upkeep = try log.maintenance(of: store, every: .hours(1))
      held = upkeep
      upkeep.start()
      #expect(await log.next() != nil)
    }
    // The maintenance task may hold the object for a short time after the end of the scope, so the test waits for the release.
    try await waitUntil { held == nil }
    clock.advance(by: .hours(10))
    #expect(log.times.count == 1)
  }

  @Test func `several look after a store as one`() async throws {
    let keepers = try (0..<3).map { _ in
      try log.maintenance(of: store, every: .hours(1), jitter: 0.1)
    }
    for keeper in keepers { keeper.start() }
    let stamp = { try store.state.maintained }
    var stamps: [UInt64] = [0]
    for _ in 1...5 {
      // The jitter makes the time of a run unknown, so the loop moves the clock in short steps until an object makes a run.
      while try stamp() == stamps.last {
        clock.advance(by: .seconds(5))
        for _ in 0..<20 { await Task.yield() }
      }
      stamps.append(try stamp())
      #expect(await log.next() != nil)
    }
    for keeper in keepers { keeper.stop() }
    #expect(log.times.count == 5)
    for (earlier, later) in zip(stamps, stamps.dropFirst()) {
      #expect(later - earlier >= 3_600_000)
    }
  }

  @Test(arguments: 0..<20)
  func `a run comes later by no more than the jitter`(round: Int) async throws {
    let upkeep = try log.maintenance(of: store, every: .seconds(1000), jitter: 0.1)
    try upkeep.runOnce()
    upkeep.start()
    clock.advance(by: .seconds(999))
    #expect(log.times == [])
    clock.advance(by: .seconds(101))
    #expect(await log.next() != nil)
    upkeep.stop()
  }

  @Test func `an error is told, and a store that is closed ends it`() async throws {
    let upkeep = try log.maintenance(of: store, every: .hours(1))
    upkeep.start()
    #expect(await log.next() != nil)
    try store.close()
    clock.advance(by: .hours(1))
    try await waitUntil { log.errors.withLock { !$0.isEmpty } && !upkeep.isRunning }
    #expect(log.errors.withLock { $0.map(\.code) } == [.closed])
    #expect(failure { _ = try upkeep.latest?.get() } == .closed)
  }

  @Test func `a run that fails is tried again after an interval`() async throws {
    let store = try Store.temporary(options: Store.Options(clock: clock))
    let upkeep = try log.maintenance(of: store, every: .hours(1))
    try FileManager.default.removeItem(atPath: store.path)
    upkeep.start()
    try await waitUntil(within: .seconds(20)) { clock.isAwaited }
    #expect(log.errors.withLock { $0.count } == 1)
    upkeep.stop()
  }

  @Test func `stopping waits for the run under way, which ends early`() async throws {
    try notes.fill(0..<20_000, .with(expires: .after(.seconds(1))))
    clock.advance(by: .seconds(1))
    let upkeep = try log.maintenance(of: store, every: .hours(1))
    var watch = store.changes().makeAsyncIterator()
    upkeep.start()
    // The change of the first entry shows that the run is under way.
    #expect(await watch.next()?.kind == .removed(.expired))
    upkeep.stop()
    let removed = try notes.removals[.expired]
    #expect(await log.next()?.removed.entries == Int(removed))
    #expect(try notes.removals[.expired] == removed)
    #expect(removed >= 500)
  }

  @Test func `a purge that doubts the clock is repeated when a minute has passed`() async throws {
    let upkeep = try log.maintenance(of: store, every: .days(3))
    try await store.namespace("notes").set("v", for: 0, expires: .after(.hours(1)))
    clock.set(to: clock.now.advanced(by: .days(2)))
    upkeep.start()
    #expect(await log.next()?.removed.skippedAfterClockJump == true)
    // The time of the next run is computed after the report.
    try await waitUntil { clock.isAwaited }
    clock.advance(by: .seconds(61))
    #expect(await log.next()?.removed == RemovalResult(entries: 1, bytes: 1))
    upkeep.stop()
  }
}
