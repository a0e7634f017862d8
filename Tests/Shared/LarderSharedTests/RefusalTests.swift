import Larder
import LarderSharedTesting
import LarderSystem
import TestSupport
import Testing

@testable import LarderShared

/// Requests that no store can serve do not reach the tier. Values that no store can keep are loaded only once.
@Suite struct RefusalTests {
  @Test func tooManyTagsAreRefusedAndAKeyThatNoStoreTakesIsLoadedWithoutTheTier() async throws {
    let (machines, tier, _) = try await startMachines(1)
    let (cache, origin, before) = (machines[0].cache, Origin(), tier.requests)
    let options = LoadOptions(tags: (0...Frame.mostTags).map { "t\($0)" })
    #expect(await code { try await machines[0].read(origin, options: options) } == .invalidArgument)
    #expect(origin.loads == 0 && tier.requests == before, "too many tags are refused")
    let keys = ["", String(repeating: "k", count: Key.longest + 1)]
    for key in keys {
      let result = try await machines[0].result(origin, for: key)
      #expect((result.error as? LarderError)?.code == .invalidArgument)
    }
    #expect(origin.loads == 2 && tier.requests == before)
    try await cache.set("1", for: "a")
    let newest = tier.newest
    for key in keys {
      try await cache.remove(key)
      #expect(await code { try await cache.set("1", for: key) } == .invalidArgument)
    }
    #expect(tier.newest == newest)
  }

  @Test(arguments: SharedChange.allCases)
  func aReadOnlyHandleChangesNothingAndStopsNoOtherHandle(_ change: SharedChange) async throws {
    let (directory, clock) = (TemporaryDirectory(), ManualClock())
    let path = directory.path + "/store"
    let store = try Store(at: path, options: Store.Options(clock: clock))
    let reading = try Store(at: path, options: Store.Options(readOnly: true, clock: clock))
    let tier = MemoryTier(clock: clock)
    let shared = Shared(tier, options: SharedOptions(pace: .zero))
    let first = reading.cache(TextCodec(), in: "prices", shared: shared)
    #expect(await code { try await change.make(in: first) } == .readOnly)
    #expect(tier.requests == 0)
    let cache = store.cache(TextCodec(), in: "prices", shared: shared)
    try await cache.remove("a")
    try await waitUntil { cache.copies.standing(limit: .zero) == .confirmed }
    try await cache.set("new", for: "a")
    #expect(try first.local.value(for: "a") == "new")
    try store.close()
  }

  @Test func aValueThatTheNamespaceRefusesIsNotSet() async throws {
    let (machines, tier, _) = try await startMachines(1, rules: Rules(largestValue: 10))
    let before = tier.requests
    let long = String(repeating: "x", count: 11)
    #expect(await code { try await machines[0].cache.set(long, for: "a") } == .overLimit)
    #expect(tier.requests == before)
    let result = try await machines[0].cache.result(for: "a") { long }
    #expect(result.value == long && (result.error as? LarderError)?.code == .overLimit)
  }

  /// The first write of a process declares the rules of its cache, so the tier gets the value with the lifetime of these rules.
  @Test func theFirstSetFollowsTheRulesThatItDeclares() async throws {
    let tier = MemoryTier(clock: ManualClock())
    let machine = try Machine(tier)
    try machine.store.declare(Rules(expires: .after(.hours(9)), largestValue: 1), for: "prices")
    try machine.store.override(Rules.Overrides(stale: .hours(3)), for: "prices")
    try await machine.follow(tier)
    try await machine.cache.set("new", for: "a")
    let fetched = try #require(try await tier.fetch(.a, tags: []))
    let frame = Frame.parse(fetched.frame, for: .a, of: "test").frame
    #expect(frame?.soft == .minutes(10) && frame?.stale == .hours(3))
  }

  @Test(arguments: [LocalState.namespace, Outbox.namespace])
  func theTiersOwnNamespacesAreNotShared(name: String) async throws {
    let machine = try await startMachines(1).machines[0]
    let cache = machine.store.cache(TextCodec(), in: name, shared: machine.shared)
    #expect(await code { try await cache.set("a", for: "a") } == .invalidArgument)
    #expect(await code { try await cache.clear() } == .invalidArgument)
    #expect(await code { try await cache.value(for: "a") { "a" } } == .invalidArgument)
  }

  /// Damage may leave a change with a position beyond the log. Every load seems older than that change, but is not repeated.
  @Test func aChangeAheadOfTheLogCostsOneLoad() async throws {
    let (machine, origin) = (try await startMachines(1).machines[0], Origin())
    try await machine.cutOff()
    machine.copies.recent.note(.key(.a), at: Position(milliseconds: 1 << 43, sequence: 0))
    let result = try await machine.result(origin)
    #expect(result.value == "load 1" && !result.isConfirmed)
    #expect(origin.loads == 1)
  }

  @Test func copiesOfAnotherApplicationAreNotTrusted() async throws {
    let machine = try await startMachines(1).machines[0]
    let other = Shared(MemoryTier(application: "other", clock: ManualClock()))
    let copies = other.copies(of: machine.store)
    #expect(machine.standing == .confirmed)
    #expect(copies.standing(limit: .hours(1)) == .disconnected)
  }
}

/// The smallest and largest numbers of a type: in options, in the file `shared`, and in the store's own records.
@Suite struct ExtremeTests {
  @Test(arguments: [UInt64.max, 1 << 63, 1 << 63 - 1, 1 << 62] as [UInt64])
  func wordsOfAnyValueInTheFileAreNoTrustAndNoLease(_ word: UInt64) throws {
    for now in [
      Timestamp(milliseconds: .min), Timestamp(milliseconds: 0), .init(milliseconds: .max),
    ] {
      let clock = ManualClock(now: now)
      let store = try Store.temporary(options: Store.Options(clock: clock))
      clock.advance(by: .seconds(10))
      let recent = RecentChanges(store, of: "test")
      recent.confirm(monotonic: clock.monotonic, wall: clock.now)
      let words = store.sharedWords(layout: 2, count: 2 * (8 + 8192))
      words.open(making: 2 * (8 + 8192))
      for place in 0..<7 { words.view.release(word, to: place) }
      for limit in [Duration.zero, .seconds(Int64.max), .seconds(1e20), .seconds(-1e20)] {
        #expect(recent.standing(at: store.roundedUpTimes, limit: limit) != .confirmed)
      }
      #expect(recent.reader(at: clock.monotonic) == nil)
      #expect(recent.lead(nil, at: clock.monotonic, process: 1) != nil)
      recent.note(.tag("t"), at: .zero)
    }
  }

  @Test func theNumberOfQueuedRemovalsMayBeAny() async throws {
    let machines = try await startMachines(1).machines
    let (store, cache) = (machines[0].store, machines[0].cache)
    try await store.namespace(LocalState.namespace).set(
      [UInt8](repeating: 0xFF, count: 8), for: "queued")
    machines[0].link.cut()
    await #expect(throws: LarderError.self) { try await cache.remove("a") }
    try await machines[0].copies.drop(SharedKey(namespace: "prices", bytes: [1]))
    #expect(try machines[0].copies.outbox.count() == 1)
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.max), .seconds(1e20)])
  func optionsMayHaveAnyNumber(_ duration: Duration) async throws {
    let tier = MemoryTier()
    let options = SharedOptions(
      readTimeout: duration, writeTimeout: duration, leaseDuration: duration,
      maxValueSize: duration > .zero ? .max : .min, logLength: duration > .zero ? .max : .min,
      maxLoads: duration > .zero ? .max : .min, unconfirmedLimit: duration, pace: duration)
    let machine = try Machine(tier, options: options)
    let origin = Origin()
    for key in ["a", "a", "b"] { _ = try await machine.read(origin, for: key) }
    try await machine.cache.set("v", for: "a", expires: .after(duration))
    try await machine.cache.remove("a")
    let shared = machine.shared.options
    #expect(shared.leaseDuration >= .milliseconds(100) && shared.leaseDuration <= .hours(1))
    for timeout in [shared.readTimeout, shared.writeTimeout] {
      #expect(timeout >= .zero && timeout <= .hours(1))
    }
    #expect(shared.unconfirmedLimit >= .zero)
    #expect(shared.logLength >= 1 && shared.maxLoads >= 1 && shared.maxValueSize >= 0)
  }

  @Test func durationsOfAnyLengthHaveNumbers() {
    for duration in [Duration.seconds(1e20), .seconds(Int64.max), .seconds(-1e20)] {
      _ = (duration.frameMilliseconds, duration.wholeMicroseconds)
    }
    #expect(Duration.seconds(3).frameMilliseconds == 3000)
    #expect(Duration.microseconds(1).frameMilliseconds == 1)
    #expect(Duration.seconds(-1).frameMilliseconds == 0)
    #expect(Duration.milliseconds(-1).wholeMicroseconds == 0)
  }
}
