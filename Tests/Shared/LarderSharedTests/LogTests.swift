import Foundation
import Larder
import LarderSharedTesting
import TestSupport
import Testing

@testable import LarderShared

@Suite struct LogTests {
  private let origin = Origin()

  @Test(arguments: SharedChange.allCases)
  func aChangeEndsTheCopiesOfOtherMachines(_ change: SharedChange) async throws {
    let (machines, tier, _) = try await startMachines(2)
    let (writer, reader) = (machines[0].cache, machines[1])
    _ = try await reader.read(origin, options: LoadOptions(tags: ["t"], waitsForCommit: true))
    _ = try await reader.read(origin, for: "b")
    try await change.make(in: writer)
    try await reader.follow(tier)
    #expect(try reader.copy("a") == nil)
    #expect(try reader.copy("b") == (change == .clear ? nil : "load 2"))
    let next = try await reader.result(origin)
    #expect(next.value == (change == .set ? "new" : "load 3"))
    #expect(next.isConfirmed)
  }

  @Test func loadsAreNoChanges() async throws {
    let (machines, tier, _) = try await startMachines(2)
    let head = tier.newest
    for index in 0..<20 { _ = try await machines[index % 2].read(origin, for: "\(index)") }
    #expect(tier.newest == head)
  }

  /// The log sends only the records of the gap again, so only the copies of keys that changed during the gap are removed.
  @Test func afterAGapTheMissedChangesAreReplayed() async throws {
    let (machines, tier, _) = try await startMachines(2)
    let (near, far) = (machines[0], machines[1])
    for index in 0..<120 { _ = try await far.read(origin, for: "\(index)") }
    try await far.cutOff()
    for index in 0..<60 { try await near.cache.set("new", for: "\(index)") }
    try await far.restore(tier)
    for index in 0..<120 {
      #expect(try far.copy("\(index)") == (index < 60 ? nil : "load \(index + 1)"))
    }
    #expect(far.shared.statistics.gaps == 0)
    #expect(far.shared.statistics.superseded == 60)
  }

  /// A cache without the tier may have written the entries. The log of changes has removed none of them.
  @Test func entriesFromBeforeTheFirstCopyAreNoCopies() async throws {
    let (machines, tier, _) = try await startMachines(2)
    let (near, far) = (machines[0], machines[1])
    try await far.store.commit { [local = far.cache.local] batch in
      for key in ["a", "b"] { try batch.set("before", for: key, in: local) }
    }
    try await near.cache.set("new", for: "a")
    try await far.follow(tier)
    #expect(try await far.read(Origin()) == "new")
    #expect(try far.copy("b") == nil)
    #expect(try await far.result(Origin()).isConfirmed)
  }

  @Test func positionsRiseAfterTheLogForgotAllRecords() async throws {
    let tier = MemoryTier(clock: ManualClock())
    let key = SharedKey(namespace: "prices", bytes: [1])
    for _ in 0..<2 { _ = try await tier.change(.remove(key)) }
    let before = try #require(tier.newest)
    tier.trimLog(to: 0)
    #expect(try await tier.change(.clear(namespace: "prices")) > before)
  }

  @Test func aLogThatDoesNotReachBackEndsAllCopies() async throws {
    let (machines, tier, _) = try await startMachines(2)
    let (near, far) = (machines[0], machines[1])
    for index in 0..<10 { _ = try await far.read(origin, for: "\(index)") }
    try await far.cutOff()
    for _ in 0..<10 { try await near.cache.set("new", for: "0") }
    tier.trimLog(to: 5)
    try await far.restore(tier)
    #expect(far.shared.statistics.gaps == 1)
    for index in 0..<10 { #expect(try far.copy("\(index)") == nil) }
    #expect(try await far.read(origin, for: "0") == "new")
    #expect(try await far.read(origin, for: "1") == "load 2")
    #expect(origin.loads == 10)
  }

  /// After a failover to a replica that lagged behind, the position of a machine belongs to another sequence of records
  /// (history), even if the new primary has more records.
  @Test(arguments: [0, 1, 50]) func anotherHistoryEndsAllCopies(_ changes: Int) async throws {
    let (machines, tier, _) = try await startMachines(2)
    let (one, two) = (machines[0], machines[1])
    try await one.cache.set("old", for: "a")
    let replica = tier.image
    try await one.cache.set("lost", for: "a")
    for machine in machines { try await machine.follow(tier) }
    #expect(try await two.read(Origin()) == "lost")
    tier.failOver(to: replica)
    for index in 0..<changes { try await one.cache.set("\(index)", for: "b") }
    try await whileTimePasses(machines) { machines.allSatisfy { $0.shared.statistics.gaps >= 1 } }
    for machine in machines {
      try await machine.follow(tier)
      #expect(try machine.copy("a") == nil)
      #expect(try await machine.read(Origin()) == "old")
    }
  }

  /// The last records of both histories have the same key, position and previous position. Only earlier records differ.
  @Test func aHistoryThatDiffersBeforeTheLastRecordEndsAllCopies() async throws {
    let (machines, tier, _) = try await startMachines(2)
    let (one, two) = (machines[0], machines[1])
    try await one.cache.set("old", for: "a")
    try await one.cache.set("old", for: "b")
    let replica = tier.image
    func change(_ key: String) async throws -> Position {
      try await tier.change(.remove(SharedKey(namespace: "prices", bytes: Array(key.utf8))))
    }
    _ = try await change("a")
    let last = try await change("c")
    #expect(try await two.read(Origin(), for: "b") == "old")
    for machine in machines { try await machine.follow(tier) }
    for machine in machines { try await machine.cutOff() }
    tier.failOver(to: replica)
    _ = try await change("b")
    #expect(try await change("c") == last)
    #expect(try two.copy("b") == "old")
    for machine in machines { try await machine.restore(tier) }
    #expect(try two.copy("b") == nil)
  }

  /// When a machine has lost its connection, its copies are unconfirmed. After a minute, reads do not use the copies any more.
  @Test func aMachineThatIsCutOffSaysSoAndEndsItsCopies() async throws {
    let (machines, tier, _) = try await startMachines(1)
    let machine = machines[0]
    #expect(try await machine.result(origin).isConfirmed)
    #expect(try await machine.result(origin).isConfirmed)
    try await machine.cutOff()
    var result = try await machine.result(origin)
    #expect(result.value == "load 1" && !result.isConfirmed)
    #expect(machine.shared.statistics.unconfirmed == 1)
    machine.clock.advance(by: .seconds(57))
    #expect(try await machine.result(origin).value == "load 1")
    machine.clock.advance(by: .seconds(3))
    result = try await machine.result(origin)
    #expect(result.value == "load 2", "the copy counts no more")
    #expect(!result.isConfirmed && result.error != nil)
    origin.fail()
    result = try await machine.result(origin)
    #expect(result.value == "load 2" && result.error != nil, "it is used where the load fails")
    origin.fail(false)
    try await machine.restore(tier)
    result = try await machine.result(origin)
    #expect(
      result.isConfirmed && result.value == "load 1",
      "the value that the tier has not got is never confirmed")
  }

  /// After a gap, a machine soon knows the newest position of the log, but has not applied the missed changes. Until the
  /// machine has applied these changes, its copies stay unconfirmed, however much time passes.
  @Test func copiesAreNotConfirmedBeforeTheMissedChangesAreApplied() async throws {
    let (machines, tier, _) = try await startMachines(2)
    let (near, far) = (machines[0], machines[1])
    try await near.cache.set("old", for: "a")
    #expect(try await far.read(Origin()) == "old")
    try await far.cutOff()
    try await near.cache.set("new", for: "a")
    far.link.restore()
    far.link.cutLog()
    try await whileTimePasses([far]) { far.copies.recent.head == tier.newest }
    #expect(far.standing != .confirmed)
    #expect(try far.copy() == "old")
    try await far.restore(tier)
    #expect(try far.copy() == nil)
  }

  /// Names share slots, so the change of another key may be noted for this key. This machine does not apply the change.
  @Test func aLargeValueIsLoadedOnceWhileTheLogCannotBeRead() async throws {
    let (machines, tier, _) = try await startMachines(2, options: SharedOptions(maxValueSize: 4))
    let (near, far) = (machines[0], machines[1])
    try await near.cache.set("large value", for: "a")
    try await far.follow(tier)
    far.link.cutLog()
    try await waitUntil { far.copies.recent.reader(at: far.clock.monotonic) == nil }
    try await near.cache.set("new", for: "b")
    far.copies.recent.note(.key(.a), at: tier.newest ?? .zero)
    #expect(try await far.read(origin) == "load 1")
  }

  @Test func aSuspendedMachineIsUnconfirmedUntilItHasLooked() async throws {
    let (machines, tier, _) = try await startMachines(1)
    let machine = machines[0]
    _ = try await machine.result(Origin())
    machine.link.cut()
    try await waitUntil { machine.copies.recent.reader(at: machine.clock.monotonic) == nil }
    // Only the wall clock moves. The monotonic clock stands still, as on a suspended machine.
    machine.clock.set(to: machine.store.now.advanced(by: .seconds(30)))
    #expect(machine.standing == .unconfirmed)
    try await machine.restore(tier)
    #expect(try await machine.result(Origin()).isConfirmed)
  }

  /// Two processes of one machine. When the process that reads the log ends, the other process continues at the same position.
  @Test func anotherProcessReadsOnWhenTheReaderIsGone() async throws {
    let tier = MemoryTier(clock: ManualClock())
    let writer = try Machine(tier)
    let clock = ManualClock()
    let store = try Store.temporary(options: Store.Options(clock: clock))
    func process() -> SharedCache<String> {
      store.cache(TextCodec(), in: "prices", shared: Shared(tier))
    }
    let next: SharedCache<String>
    do {
      let first = process()
      try await waitUntil { first.copies.standing(limit: .zero) == .confirmed }
      _ = try await first.result(for: "a", options: .committed) { "loaded" }
      next = process()
    }
    #expect(try next.local.value(for: "a") == "loaded")
    try await writer.cache.set("new", for: "a")
    try await whileTimePasses([], clock) { try next.local.value(for: "a") == nil }
    #expect(next.shared.statistics.gaps == 0, "the second reader knows how far the first one was")
    #expect(try store.verify().faults == [])
  }

  @Test(.timeLimit(.minutes(1))) func theReaderOfTheLogEndsWithItsStore() async throws {
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    let reader = LogReader(
      tier: MemoryTier(), copies: LocalCopies(store, of: "test"), options: SharedOptions(),
      breaker: Breaker(), count: { _ in })
    try store.close()
    await reader.run()
  }

  private final class Request: Sendable { @TaskLocal static var current: Request? }

  @Test func theReaderOfTheLogKeepsNoTaskLocalValue() throws {
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    let shared = Shared(MemoryTier())
    weak var request: Request?
    Request.$current.withValue(Request()) {
      request = Request.current
      _ = store.cache(TextCodec(), in: "prices", shared: shared)
    }
    withExtendedLifetime(shared) { #expect(request == nil) }
  }

  /// A folder in the place of the file `shared` prevents the first attempt, as a full disk does.
  @Test func theLogIsReadAsSoonAsTheFileOfChangesCanBeMade() async throws {
    let clock = ManualClock()
    let store = try Store.temporary(options: Store.Options(clock: clock))
    let path = store.path + "/shared"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let cache = store.cache(
      TextCodec(), in: "prices", shared: Shared(MemoryTier(clock: ManualClock())))
    #expect(cache.copies.standing(limit: .hours(1)) == .disconnected)
    try FileManager.default.removeItem(atPath: path)
    try await whileTimePasses([], clock) { cache.copies.standing(limit: .zero) == .confirmed }
  }

  /// The positions of the value and the change have the same word, because a word has only 20 bits of the sequence number. Such
  /// positions occur after a server's clock was set back. So a change with an equal word must count as later.
  @Test func aValueIsNotStoredAfterAChangeWhoseWordIsItsOwn() async throws {
    // At its start, the reader replaces all noted positions. The position below must stay, so it comes later.
    let machine = try await startMachines(1).machines[0]
    let key = SharedKey(namespace: "n", bytes: [1])
    let fetched = Position(milliseconds: 1_900_000_000_000, sequence: 2 << 20)
    #expect(machine.copies.isCurrent(key, tags: [], at: fetched))
    machine.copies.recent.note(
      .key(key), at: Position(milliseconds: 1_900_000_000_000, sequence: 3 << 20))
    #expect(!machine.copies.isCurrent(key, tags: [], at: fetched))
  }

  @Test func positionsFitIntoAWord() {
    let positions = [
      Position.zero, Position(milliseconds: 1, sequence: 2),
      Position(milliseconds: 1_900_000_000_000, sequence: 1_000_000),
    ]
    for position in positions { #expect(Position(word: position.word) == position) }
    #expect(positions.map(\.word) == positions.map(\.word).sorted())
    #expect(Position(milliseconds: .max, sequence: .max).word == .max)
  }
}
