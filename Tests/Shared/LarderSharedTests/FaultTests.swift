import LarderSharedTesting
import TestSupport
import Testing

@testable import Larder
@testable import LarderShared

@Suite struct FaultTests {
  @Test func withoutTheTierEachMachineLoadsForItself() async throws {
    let (machines, tier, _) = try await startMachines(2)
    let origin = Origin()
    #expect(machines[0].shared.statistics.failures == 0)
    for machine in machines { try await machine.cutOff() }
    let statistics = machines[0].shared.statistics
    #expect(statistics.failures > 0, "the failures of the reader count, too")
    #expect(statistics.lastFailure?.contains("the link was cut") == true, "\(statistics)")
    let result = try await machines[0].result(origin)
    #expect(result.value == "load 1" && (result.error as? LarderError)?.code == .unreachable)
    #expect(try machines[0].copy() == "load 1")
    #expect(try await machines[1].read(origin) == "load 2")
    #expect(machines[0].shared.statistics.withoutTier == 1)
    #expect(try await machines[0].read(origin) == "load 1", "its copy is fresh")
    try await machines[0].restore(tier)
    #expect(try machines[0].copy() == nil, "a value that the tier has not got is not confirmed")
  }

  /// All copies of a connected machine count as confirmed, but the tier does not have this value, so no copy may be kept.
  @Test func aValueLoadedWithoutTheTierIsNotKeptWhileCopiesAreConfirmed() async throws {
    let (machines, tier, _) = try await startMachines(1)
    tier.fail(next: 1, with: .unreachable)
    let result = try await machines[0].result(Origin())
    #expect(result.value == "load 1" && !result.isConfirmed)
    #expect(try machines[0].copy() == nil)
  }

  /// The statistics of a store count only reads of the application, so reads of the tier's own records must not count.
  @Test func theTiersOwnRecordsAreReadUncounted() async throws {
    let machines = try await startMachines(1).machines
    _ = try await machines[0].read(Origin())
    _ = try machines[0].copies.outbox.oldest()
    let own = try machines[0].store.namespace(LocalState.namespace).statistics()
    #expect(own?.reads.hits == 0 && own?.reads.misses == 0, "\(String(describing: own))")
  }

  /// A lookup finds neither a damaged record nor an expired record.
  @Test func aChangeReachesCopiesWhoseNamespaceHasADamagedRecord() async throws {
    let (machines, tier, _) = try await startMachines(2)
    try await machines[0].cache.set("old", for: "a")
    _ = try await machines[1].read(Origin())
    let records = machines[1].store.namespace(LocalState.namespace)
    try await machines[1].store.commit { batch in
      try batch.set([], for: "namespace:prices", in: records, expires: .after(.zero))
    }
    #expect(try machines[1].copies.state.namespaces() == ["prices"])
    try await machines[0].cache.remove("a")
    try await machines[1].follow(tier)
    #expect(try machines[1].copy() == nil)
  }

  @Test func aClosedStoreIsReleasedWithTheNextOne() async throws {
    let shared = Shared(MemoryTier())
    weak var engine: StoreEngine?
    do {
      let store = try Store.temporary()
      engine = store.engine
      _ = shared.copies(of: store)
      try store.close()
    }
    let next = try Store.temporary()
    _ = shared.copies(of: next)
    try await waitUntil { engine == nil }
    try next.close()
  }

  /// Otherwise a load would fail on a full disk, or while another process writes.
  @Test func aLoadDoesNotCommitEarlierWritesBeforeItsOwn() async throws {
    let machine = try await startMachines(1).machines[0]
    let (engine, notes) = (machine.store.engine, machine.store.namespace("notes"))
    func write() throws {
      for text in ["first", "second", "third"] { try notes.set(text, for: "a") }
    }
    try write()
    try #require(engine.reader.buffer?.hasRecords == true)
    _ = try machine.copies.ticket()
    #expect(try machine.copies.outbox.count() == 0)
    _ = try machine.cache.frame([1], EntryAttributes())
    #expect(engine.reader.buffer?.hasRecords == true)
  }

  @Test func withoutTheTierOnlySomeLoadsRunAtOnce() async throws {
    let (machines, tier, _) = try await startMachines(1, options: SharedOptions(maxLoads: 3))
    let origin = Origin(isOpen: false)
    tier.failAll(with: .unreachable)
    try await withThrowingTaskGroup { group in
      for index in 0..<20 {
        group.addTask { _ = try await machines[0].read(origin, for: "\(index)") }
      }
      try await waitUntil { origin.loads == 3 }
      origin.open()
      try await group.waitForAll()
    }
    #expect(origin.mostAtOnce == 3 && origin.loads == 20)
  }

  /// The outer load has the only place. The inner load neither needs a place nor waits for the load that does.
  @Test(.timeLimit(.minutes(1)), arguments: [true, false])
  func withoutTheTierALoadInsideALoadRuns(isBulk: Bool) async throws {
    let (machines, tier, _) = try await startMachines(1, options: SharedOptions(maxLoads: 1))
    let (cache, origin) = (machines[0].cache, Origin(isOpen: false))
    tier.failAll(with: .unreachable)
    let outer = Task {
      try await cache.value(for: "a") {
        _ = try await origin.text()
        if !isBulk { return try await cache.value(for: "b") { "inner" } }
        return try await cache.values(for: ["b"]) { _ in [("b", .value("inner"))] }[0] ?? "none"
      }
    }
    try await waitUntil { origin.loads == 1 }
    let queued = Task { try await cache.value(for: "b") { "queued" } }
    try await waitUntil { machines[0].shared.statistics.withoutTier == 2 }
    origin.open()
    #expect(try await outer.value == "inner")
    #expect(try await queued.value == "queued")
  }

  @Test func aCallerThatIsCancelledWhileItWaitsForItsTurnLeavesNoGap() async throws {
    let limiter = LoadLimiter(1)
    let origin = Origin(isOpen: false)
    let first = Task { try await limiter.run(.a) { try await origin.text() } }
    try await waitUntil { origin.loads == 1 }
    let second = Task { try await limiter.run(.a) { try await origin.text() } }
    let third = Task { try await limiter.run(.a) { try await origin.text() } }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    origin.open()
    _ = try await first.value
    _ = try await third.value
    #expect(origin.loads == 2)
    _ = try await limiter.run(.a) { try await origin.text() }
  }

  /// If only the reply is lost, the tier has the new value, so the machine must remove its copy of the old value.
  @Test(arguments: [true, false])
  func aSetThatFailsKeepsTheCopyOnlyIfTheTierRefusedIt(isReplyLost: Bool) async throws {
    let (machines, tier, _) = try await startMachines(1)
    let cache = machines[0].cache
    try await cache.set("old", for: "a")
    tier.fail(next: 1, with: isReplyLost ? .lostReply : .unreachable)
    let error = await code { try await cache.set("new", for: "a") }
    #expect(error == (isReplyLost ? .unanswered : .unreachable))
    #expect(try machines[0].copy() == (isReplyLost ? nil : "old"))
    #expect(try machines[0].copies.outbox.count() == 0, "a set does not wait")
    #expect(try await machines[0].read(Origin()) == (isReplyLost ? "new" : "old"))
  }

  @Test(arguments: [SharedChange.set, .remove])
  func aChangeWhoseCallerIsCancelledDropsTheCopy(_ change: SharedChange) async throws {
    let (machines, tier, _) = try await startMachines(1)
    let cache = machines[0].cache
    try await cache.set("old", for: "a")
    let requests = tier.requests
    tier.fail(next: 1, with: .delay(.seconds(1)))
    let changing = Task { await code { try await change.make(in: cache) } }
    try await waitUntil { tier.requests > requests }
    changing.cancel()
    #expect(await changing.value == (change == .set ? .unanswered : .pending))
    #expect(try machines[0].copy() == nil)
  }

  @Test(arguments: SharedChange.removals)
  func aRemovalActsHereEvenIfTheTierCannotBeReached(_ change: SharedChange) async throws {
    let (machines, tier, _) = try await startMachines(1)
    let cache = machines[0].cache
    try await cache.set("old", for: "a", tags: ["t"])
    tier.fail(next: 1, with: .unreachable)
    #expect(await code { try await change.make(in: cache) } == .pending)
    #expect(try machines[0].copy() == nil)
  }

  @Test func aValueWhoseFillHasNoAnswerIsReturnedAndNotKept() async throws {
    let (machines, tier, _) = try await startMachines(1)
    let origin = Origin(isOpen: false)
    let read = Task { try await machines[0].result(origin, options: .committed) }
    try await waitUntil { origin.loads == 1 }
    tier.fail(next: 1, with: .lostReply)
    origin.open()
    let result = try await read.value
    #expect((result.error as? LarderError)?.code == .unanswered)
    #expect(try machines[0].copy() == nil)
    #expect(try await machines[0].read(origin) == "load 1", "the tier has it all the same")
  }

  @Test func anEmptiedTierIsFilledAgain() async throws {
    let (machines, tier, server) = try await startMachines(2)
    let origin = Origin()
    _ = try await machines[0].read(origin)
    // The clock moves, so the first record of the new log has another position than the records of the old log.
    server.advance(by: .seconds(1))
    try await machines[0].store.namespace(LocalState.namespace).remove("progress")
    tier.failOver(to: MemoryTier().image)
    #expect(try await machines[1].read(origin) == "load 2")
    try await whileTimePasses(machines) { machines[0].shared.statistics.gaps == 1 }
    #expect(try await machines[0].read(origin) == "load 2", "its copy is of a lost history")
    try await machines[0].follow(tier)
  }

  /// The reply has the old value, and arrives after the machine has applied a change of the key. A machine that remembers the
  /// change asks again. A machine that has forgotten the change returns and stores the old value.
  @Test(arguments: [true, false])
  func aReplyThatIsLateIsNotUsed(remembersChanges: Bool) async throws {
    let (machines, tier, server) = try await startMachines(2)
    let (machine, other) = (machines[0], machines[1])
    try await other.cache.set("old", for: "a")
    try await machine.follow(tier)
    tier.fail(next: 1, with: .lateReply(.seconds(1)))
    let late = Task { try await machine.read(Origin()) }
    try await waitUntil { server.isAwaited }
    try await other.cache.set("new", for: "a")
    try await machine.follow(tier)
    if !remembersChanges {
      let recent = machine.copies.recent
      recent.replace(recent.changes, with: .zero)
    }
    server.advance(by: .seconds(1))
    let expected = remembersChanges ? "new" : "old"
    #expect(try await late.value == expected)
    #expect(try machine.copy() == expected)
  }

  /// Three machines load, set, remove and invalidate the same keys, and replies get lost. A machine sees its own changes
  /// immediately. At the end, all machines get the same values from the tier.
  @Test func randomHistoriesEndWithWhatTheTierHas() async throws {
    var rng = SeededRNG()
    let (machines, tier, server) = try await startMachines(3)
    let origin = Origin()
    // If the reply that grants a lease gets lost, no machine releases the lease. Time must pass so that this lease expires.
    let time = Task {
      while !Task.isCancelled {
        for machine in machines { machine.clock.advance(by: .milliseconds(10)) }
        server.advance(by: .milliseconds(10))
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    defer { time.cancel() }
    for step in 0..<400 * TestSettings.trials {
      let machine = machines[rng.next(in: 0..<3)]
      let key = "\(rng.next(in: 0..<4))"
      if rng.chance(percent: 5) { tier.fail(next: 1, with: .lostReply) }
      if rng.chance(percent: 5) { tier.fail(next: 1, with: .unreachable) }
      do {
        switch rng.next(in: 0..<10) {
        case 0:
          try await machine.cache.set("set \(step)", for: key, tags: ["t"])
          // A record of an earlier `clear`, or a removal that waited, may have removed the copy by now, so the copy may be nil.
          let copy = try machine.copy(key)
          #expect(copy == nil || copy == "set \(step)", "LARDER_SEED=\(rng.seed)")
        case 1:
          try await machine.cache.remove(key)
          #expect(try machine.copy(key) == nil, "LARDER_SEED=\(rng.seed)")
        case 2 where rng.chance(percent: 20): try await machine.cache.invalidate(tag: "t")
        case 3 where rng.chance(percent: 20):
          try await machine.cache.clear()
          #expect(try machine.copy(key) == nil, "LARDER_SEED=\(rng.seed)")
        default: _ = try await machine.read(origin, for: key)
        }
      } catch let error as LarderError {
        #expect(
          [.unreachable, .unanswered, .pending].contains(error.code), "LARDER_SEED=\(rng.seed)")
      }
    }
    tier.failAll(with: nil)
    for machine in machines {
      try await waitUntil { try machine.copies.outbox.count() == 0 }
      try await machine.follow(tier)
    }
    for key in 0..<4 {
      var values: Set<String> = []
      for machine in machines {
        let cache = machine.cache
        let result = try await cache.currentResult(for: "\(key)", options: .committed) { _ in
          .value(try await origin.text())
        }
        values.insert(try #require(result).value)
      }
      #expect(values.count == 1, "LARDER_SEED=\(rng.seed)")
    }
  }
}
