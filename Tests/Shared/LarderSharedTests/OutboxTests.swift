import Larder
import LarderSharedTesting
import LarderSystem
import TestSupport
import Testing

@testable import LarderShared

@Suite struct OutboxTests {
  @Test func removalsOfAMachineThatIsCutOffAreSentInOrderLater() async throws {
    let (machines, tier, _) = try await startMachines(2)
    let (near, far) = (machines[0], machines[1])
    for key in ["a", "b", "c"] { try await near.cache.set("old", for: key, tags: [key]) }
    try await far.follow(tier)
    for key in ["a", "b", "c"] { _ = try await far.read(Origin(), for: key) }
    try await far.cutOff()
    #expect(await code { try await far.cache.remove("a") } == .pending)
    #expect(await code { try await far.cache.invalidate(tag: "b") } == .pending)
    // The number of the last removal may be lost, too.
    try await far.store.namespace(LocalState.namespace).remove("queued")
    #expect(await code { try await far.cache.remove("a") } == .pending)
    #expect(try far.copies.outbox.count() == 3)
    #expect(try far.copy("a") == nil && far.copy("b") == nil && far.copy("c") == "old")
    #expect(try near.copy("a") == "old")
    try far.store.clear()
    let last = tier.newest
    // The first removal is sent, the second is not, and the reader begins again with the second.
    tier.fail(next: 1, with: .delay(.zero))
    tier.fail(next: 1, with: .unreachable)
    try await far.restore(tier)
    try await near.follow(tier)
    #expect(try near.copy("a") == nil && near.copy("b") == nil && near.copy("c") == "old")
    #expect(try far.copies.outbox.count() == 0)
    #expect(far.shared.statistics.sent == 3)
    let sent = try await tier.records(after: last ?? .zero, waiting: .zero).map(\.subject)
    #expect(sent == [.key(.a), .tag("b"), .key(.a)])
  }

  /// The tier still has the value that this machine has removed, so a load must not take the value from the tier.
  @Test func whileRemovalsWaitTheTierIsNotAsked() async throws {
    let (machines, tier, _) = try await startMachines(1)
    let (machine, origin) = (machines[0], Origin())
    try await machine.cache.set("old", for: "a")
    tier.fail(next: 1, with: .unreachable)
    machine.link.cut()
    try await waitUntil { machine.copies.recent.reader(at: machine.clock.monotonic) == nil }
    #expect(await code { try await machine.cache.remove("a") } == .pending)
    machine.link.restore()
    tier.failAll(with: nil)
    // The reader may send the removal during the load. The key is then loaded again, so the value may be `load 1` or `load 2`.
    #expect(try await machine.result(origin).value != "old")
    try await whileTimePasses([machine]) { try machine.copies.outbox.count() == 0 }
    #expect(try await tier.fetch(.a, tags: []) == nil)
  }

  @Test func aRemovalWithoutAnAnswerIsSentAgain() async throws {
    let (machines, tier, _) = try await startMachines(2)
    try await machines[0].cache.set("old", for: "a")
    tier.fail(next: 1, with: .lostReply)
    #expect(await code { try await machines[1].cache.remove("a") } == .pending)
    try await whileTimePasses([machines[1]]) { try machines[1].copies.outbox.count() == 0 }
    try await machines[0].follow(tier)
    #expect(try machines[0].copy() == nil)
    #expect(try await machines[1].read(Origin()) == "load 1")
  }

  /// The process that made the removal has ended. Another process of the machine sends the removal.
  @Test func anotherProcessSendsWhatWaits() async throws {
    let folder = TemporaryDirectory()
    let tier = MemoryTier(clock: ManualClock())
    do {
      let store = try Store(at: folder.path + "/machine")
      let cache = store.cache(TextCodec(), in: "prices", shared: Shared(tier))
      try await cache.set("old", for: "a")
      tier.failAll(with: .unreachable)
      #expect(await code { try await cache.remove("a") } == .pending)
      try store.close()
    }
    tier.failAll(with: nil)
    #expect(try await tier.fetch(.a, tags: []) != nil)
    let store = try Store(at: folder.path + "/machine")
    let cache = store.cache(TextCodec(), in: "prices", shared: Shared(tier))
    try await waitUntil { try cache.copies.outbox.count() == 0 }
    #expect(try await tier.fetch(.a, tags: []) == nil)
    #expect(try store.verify().faults == [])
  }

  /// A replica that lags behind may still have the removed value, which this machine must not take.
  @Test func aRemovalThatIsSentLaterIsKnownBeforeItsRecordArrives() async throws {
    let (machines, tier, _) = try await startMachines(1)
    let machine = machines[0]
    try await machine.cache.set("old", for: "a")
    let before = try #require(tier.newest)
    try await machine.cutOff()
    #expect(await code { try await machine.cache.remove("a") } == .pending)
    machine.link.restore()
    machine.link.cutLog()
    try await whileTimePasses(machines) { try machine.copies.outbox.count() == 0 }
    #expect(!machine.copies.isCurrent(.a, tags: [], at: before))
  }

  /// Another process holds the writer lock, so the store cannot note that the removal was sent.
  @Test func aRemovalIsSentOnceEvenIfTheStoreIsBusyThen() async throws {
    let (folder, clock, tier) = (TemporaryDirectory(), ManualClock(), MemoryTier())
    let options = Store.Options(clock: clock, lockTimeout: .milliseconds(10))
    let store = try Store(at: folder.path + "/machine", options: options)
    let shared = Shared(tier, options: SharedOptions(pace: .zero))
    let cache = store.cache(TextCodec(), in: "prices", shared: shared)
    try await waitUntil { cache.copies.standing(limit: .zero) == .confirmed }
    tier.failAll(with: .unreachable)
    #expect(await code { try await cache.remove("a") } == .pending)
    let failures = shared.statistics.failures
    let lock = try FileLock(opening: store.path + "/lock.write", in: ForkGuard())
    try lock.wait(lockTimeout: .seconds(10))
    tier.failAll(with: nil)
    try await whileTimePasses([], clock) { shared.statistics.failures >= failures + 5 }
    lock.release()
    try await whileTimePasses([], clock) { try cache.copies.outbox.count() == 0 }
    let subjects = try await tier.records(after: .zero, waiting: .zero).map(\.subject)
    #expect(subjects == [.nothing, .key(.a)])
  }

  @Test func theOutboxIsBounded() async throws {
    let machine = try await startMachines(1).machines[0]
    machine.link.cut()
    let outbox = machine.copies.outbox
    try await machine.store.commit { batch in
      for _ in 0..<Outbox.most { try outbox.add(.tag("t"), in: &batch) }
    }
    #expect(await code { try await machine.cache.remove("a") } == .unreachable)
    #expect(try outbox.count() == Outbox.most)
  }

  /// A listing omits expired entries, as it omits damaged entries.
  @Test func aRemovalThatNoListingHasIsDropped() async throws {
    let machine = try await startMachines(1).machines[0]
    machine.link.cut()
    let waiting = machine.store.namespace(Outbox.namespace)
    try await machine.store.commit { batch in
      try batch.set([1], for: "removal1", in: waiting, expires: .after(.zero))
    }
    #expect(try machine.copies.outbox.count() == 1)
    let dropped = try machine.copies.outbox.oldest()
    #expect(dropped.map(\.key) == [Key("removal1")] && dropped[0].change == nil)
  }

  @Test func entriesOfAnyBytesAreReadOrDropped() throws {
    var rng = SeededRNG()
    let key = SharedKey(namespace: "n:1", bytes: [0, 255, 58])
    let subjects: [LogRecord.Subject] = [.key(key), .namespace("n"), .tag("t")]
    for subject in subjects { #expect(Outbox.decode(Outbox.encoded(subject)) != nil) }
    guard case .remove(key)? = Outbox.decode(Outbox.encoded(.key(key))) else {
      return #expect(Bool(false), "a removal does not come back")
    }
    for _ in 0..<1000 {
      var bytes = Outbox.encoded(subjects[rng.next(in: 0..<3)])
      bytes[rng.next(in: 0..<bytes.count)] ^= UInt8(rng.next(in: 1..<256))
      _ = Outbox.decode(Array(bytes.prefix(rng.next(in: 0..<bytes.count + 1))))
    }
  }
}

/// A breaker keeps requests away from a tier that fails. These tests pass the time to the breaker as a number.
@Suite struct BreakerTests {
  @Test func fiveFailuresInARowStopRequestsForAWhile() {
    let breaker = Breaker()
    for _ in 0..<4 { breaker.failed(at: .zero) }
    breaker.succeeded()
    for _ in 0..<4 { breaker.failed(at: .zero) }
    #expect(breaker.admits(at: .zero) && breaker.openings == 0)
    breaker.failed(at: .zero, part: 1)
    #expect(!breaker.admits(at: .milliseconds(999)))
    #expect(breaker.openings == 1)
    #expect(breaker.admits(at: .seconds(1)), "one request tries")
    #expect(!breaker.admits(at: .seconds(1)), "and the others wait for it")
    breaker.succeeded()
    #expect(breaker.admits(at: .seconds(1)))
  }

  @Test func requestsOfTasksThatAreCancelledAreNoFailures() async {
    let breaker = Breaker()
    for _ in 0..<2 * Breaker.mostFailures {
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        await #expect(throws: LarderError.self) {
          try await breaker.run(ManualClock(), isConnected: false) { () throws(LarderError) in
            throw LarderError(.unanswered, "the task was cancelled before the reply")
          }
        }
      }
      task.cancel()
      await task.value
    }
    #expect(breaker.openings == 0)
    #expect(breaker.admits(at: .zero))
  }

  @Test func thePauseDoublesUpToHalfAMinute() {
    let breaker = Breaker()
    for _ in 0..<5 { breaker.failed(at: .zero, part: 1) }
    var now = Duration.zero
    for pause in [1, 2, 4, 8, 16, 30, 30] {
      now += .seconds(pause)
      #expect(!breaker.admits(at: now - .milliseconds(1)))
      #expect(breaker.admits(at: now))
      breaker.failed(at: now, part: 1)
      // A request from before the pause fails only now. This failure must not make the pause longer.
      breaker.failed(at: now + .milliseconds(1), part: 1)
    }
    #expect(breaker.openings == 1)
  }

  /// The first five callers ask the failing tier. Later callers load their values without a request to the tier.
  @Test func callersGoOnWithoutATierThatFails() async throws {
    let (machines, tier, _) = try await startMachines(1)
    let origin = Origin()
    tier.failAll(with: .unreachable)
    let before = tier.requests
    for index in 0..<20 { _ = try await machines[0].read(origin, for: "\(index)") }
    #expect(origin.loads == 20)
    #expect(tier.requests - before == 5)
    #expect(machines[0].shared.statistics.pauses == 1)
  }
}
