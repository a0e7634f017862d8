import TestSupport
import Testing

@testable import Larder

@Suite(.settling) struct StaleTests: StoreSuite {
  let fixture = StoreFixture()
  private let origin = Origin()
  private let windows = Staleness(whileRevalidating: .minutes(10), onError: .hours(24))

  private func ask(_ policy: RequestPolicy = .standard) async throws -> CacheResult<String> {
    try await origin.ask(
      boards,
      LoadOptions(
        policy: policy, expires: .after(.minutes(2)), stale: windows, waitsForCommit: true))
  }

  @Test func `a stale value is served at once while one refresh runs`() async throws {
    _ = try await ask()
    clock.advance(by: .minutes(2))
    origin.close()
    for _ in 0..<100 {
      let served = try await ask()
      #expect(served.value == "load 1" && served.source == .stale && served.error == nil)
      #expect(served.age == .minutes(2))
    }
    try await origin.waitForLoads(2)
    #expect(origin.loads == 2)
    origin.open()
    try await waitUntil { boards.namespace.engine.loads.running.count == 0 }
    let fresh = try await ask()
    #expect(fresh.value == "load 2" && fresh.source != .stale && origin.loads == 2)
    #expect(try boards.namespace.reads.staleHits == 100)
  }

  @Test func `after a failed refresh the next refresh waits for a second`() async throws {
    _ = try await ask()
    clock.advance(by: .minutes(2))
    origin.fail()
    for _ in 0..<10 {
      #expect(try await ask().value == "load 1")
      try await waitUntil { boards.namespace.engine.loads.running.count == 0 }
    }
    #expect(origin.loads == 2)
    clock.advance(by: .seconds(1))
    _ = try await ask()
    try await origin.waitForLoads(3)
  }

  @Test func `a stale value that cannot be decoded takes no hit away`() async throws {
    try await boards.set("board", for: "bern")
    #expect(try boards.value(for: "bern") == "board")
    try await boards.namespace.set(
      [0xFF], for: "thun", .with(expires: .after(.minutes(1)), stale: .hours(1)))
    clock.advance(by: .minutes(2))
    #expect(try await ask().value == "load 1")
    let reads = try boards.namespace.reads
    #expect(reads.hits == 1 && reads.stale == 1 && reads.undecodable == 0)
  }

  @Test func `behind its window it is served only if a load fails, up to its end`() async throws {
    _ = try await ask()
    clock.advance(by: .minutes(12))
    origin.fail()
    let served = try await ask()
    #expect(served.value == "load 1" && served.source == .stale && served.age == .minutes(12))
    #expect(served.error as? Origin.Refusal == Origin.Refusal(number: 2))
    clock.advance(by: .hours(24) - .minutes(10) - .milliseconds(1))
    #expect(try await ask().source == .stale)
    clock.advance(by: .milliseconds(1))
    await #expect(throws: Origin.Refusal(number: 4)) { try await ask() }
    origin.fail(false)
    #expect(try await ask().value == "load 5")
  }

  @Test(arguments: [Staleness(onError: .hours(1)), nil])
  func `with a clock set back a value that may not be served is loaded first`(
    stale: Staleness?
  ) async throws {
    let options = LoadOptions(expires: .after(.hours(4)), stale: stale, waitsForCommit: true)
    _ = try await origin.ask(boards, options)
    clock.advance(by: .hours(-2))
    origin.fail()
    let kept = try? await origin.ask(boards, options)
    #expect(kept?.value == (stale == nil ? nil : "load 1") && kept?.isStale != false)
    origin.fail(false)
    #expect(try await origin.ask(boards, options).value == "load 3" && origin.loads == 3)
  }

  @Test(arguments: [Duration.zero, .hours(1)])
  func `a read of a stale value does not extend its time to idle`(window: Duration) async throws {
    let options = LoadOptions(
      expires: .afterAccess(.minutes(10)),
      stale: Staleness(whileRevalidating: window, onError: .hours(1)), waitsForCommit: true)
    _ = try await origin.ask(boards, options)
    clock.advance(by: .minutes(20))
    #expect(try await origin.ask(boards, options).value == (window == .zero ? "load 2" : "load 1"))
    #expect(try await boards.settled() == "load 2")
  }

  @Test func `a lifetime of the rules begins when the value was loaded`() async throws {
    let rules = Rules(expires: .after(.minutes(2)), stale: .minutes(5))
    let boards = store.cache(TextCodec(), in: "boards", rules: rules)
    let writer = await LockHolder(store)
    #expect(try await origin.ask(boards, LoadOptions()).value == "load 1")
    clock.advance(by: .minutes(2))
    #expect(try await origin.ask(boards, LoadOptions()).value == "load 2")
    let loaded = clock.now
    clock.advance(by: .minutes(1))
    writer.letGo()
    #expect(try await boards.settled() == "load 2")
    #expect(try boards.entry(for: "thun")?.expires == loaded.advanced(by: .minutes(2)))
  }

  @Test func `without windows of its own a request has those of the namespace`() async throws {
    let boards = store.cache(
      TextCodec(), in: "boards", rules: Rules(expires: .after(.minutes(1)), stale: .minutes(4)))
    let ask = { try await origin.ask(boards) }
    _ = try await ask()
    clock.advance(by: .minutes(5) - .milliseconds(1))
    origin.fail()
    let served = try await ask()
    #expect(served.source == .stale && served.value == "load 1")
    try await boards.settle()
    clock.advance(by: .milliseconds(1))
    await #expect(throws: Origin.Refusal.self) { try await ask() }
  }

  @Test func `a body that is no value fails, and never replaces the last good one`() async throws {
    struct Board: Codable, Equatable { var station: String }
    let boards = store.cache(of: Board.self, in: "boards")
    let body = Shared("{\"station\":\"Thun\"}")
    let ask = {
      try await boards.result(
        for: "thun",
        options: LoadOptions(expires: .after(.minutes(2)), stale: windows, waitsForCommit: true)
      ) { try JSONCodec<Board>().decode(Array(body.withLock { $0 }.utf8).span) }
    }
    _ = try await ask()
    clock.advance(by: .hours(1))
    body.withLock { $0 = "<html>503</html>" }
    for _ in 0..<2 {
      let served = try await ask()
      #expect(served.value == Board(station: "Thun") && served.source == .stale)
      #expect(served.error is DecodingError)
    }
  }

  @Test(arguments: [RequestPolicy.standard, .cacheElseLoad])
  func `a value near its end is used while a newer one is fetched`(
    policy: RequestPolicy
  ) async throws {
    let options = LoadOptions(
      policy: policy, expires: .after(.minutes(10)), refreshAhead: .minutes(1),
      waitsForCommit: true)
    let ask = { try await origin.ask(boards, options) }
    _ = try await ask()
    // A caller may get the value while the load is still in the table of running loads, so the test waits for an empty table.
    try await waitUntil { boards.namespace.engine.loads.running.count == 0 }
    clock.advance(by: .minutes(9) - .milliseconds(1))
    #expect(try await ask().value == "load 1" && origin.loads == 1)
    #expect(boards.namespace.engine.loads.running.count == 0)
    clock.advance(by: .milliseconds(1))
    let used = try await ask()
    #expect(used.value == "load 1" && used.source == .memory)
    try await origin.waitForLoads(2)
    try await boards.settle()
    #expect(try await ask().value == "load 2")
    clock.advance(by: .minutes(5))
    #expect(try await ask().value == "load 2" && origin.loads == 2)
  }

  @Test func `each policy asks what it says`() async throws {
    #expect(await code { try await ask(.cacheOnly) } == .notStored)
    #expect(try await ask(.cacheElseLoad).value == "load 1")
    #expect(try await ask(.cacheOnly).value == "load 1")
    #expect(try await ask(.reload).value == "load 2")
    #expect(try await ask(.revalidate).value == "load 3")
    clock.advance(by: .hours(23))
    for policy in [RequestPolicy.cacheOnly, .cacheElseLoad] {
      let served = try await ask(policy)
      #expect(served.value == "load 3" && served.source == .stale && served.age == .hours(23))
    }
    #expect(origin.loads == 3)
    origin.fail()
    #expect(try await ask(.standard).source == .stale)
    #expect(try await ask(.revalidate).source == .stale)
    await #expect(throws: Origin.Refusal.self) { try await ask(.reload) }
    origin.fail(false)
    #expect(try await ask(.standard).value == "load 7")
  }
}
