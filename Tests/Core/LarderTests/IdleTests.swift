import LMDB
import TestSupport
import Testing

@testable import Larder

@Suite struct IdleTests: StoreSuite {
  let fixture: StoreFixture
  let timer: ManualTimer

  init() throws {
    let timer = ManualTimer()
    self.timer = timer
    fixture = StoreFixture {
      $0.hooks.timer = timer.start
      $0.hooks.chunksAbove = 10_000
    }
    try store.declare(Rules(expires: .afterAccess(.seconds(1600))), for: "notes")
  }

  @Test func `an entry goes when it was not used for the interval and a sixteenth`() throws {
    try notes.set("v", for: "k")
    let entry = try #require(try notes.entry(for: "k"))
    #expect(entry.timeToIdle == .seconds(1600))
    #expect(entry.expires == clock.now.advanced(by: .seconds(1700)))
    clock.advance(by: .seconds(1700) - .milliseconds(1))
    #expect(try notes.contains("k"))
    clock.advance(by: .milliseconds(1))
    #expect(try notes.text("k") == nil)
    #expect(try notes.count() == 0)
  }

  @Test func `an entry used once in each interval stays, though nothing is written`() throws {
    try notes.set("v", for: "k")
    let before = try notes.entry(for: "k")
    for _ in 0..<50 {
      clock.advance(by: .seconds(1600))
      #expect(try notes.text("k") == "v")
      timer.runOut()
    }
    let after = try notes.entry(for: "k")
    #expect(after?.version == before?.version && after?.written == before?.written)
    clock.advance(by: .seconds(1700))
    #expect(try notes.text("k") == nil)
  }

  @Test func `use within a sixteenth of the interval costs nothing`() throws {
    try notes.set("v", for: "k")
    let before = try store.engine.beginRead().id
    clock.advance(by: .seconds(100) - .milliseconds(1))
    for _ in 0..<1000 { #expect(try notes.text("k") == "v") }
    #expect(timer.delays.isEmpty && store.engine.leftovers.accesses.queue.count == 0)
    clock.advance(by: .milliseconds(1))
    for _ in 0..<1000 { #expect(try notes.text("k") == "v") }
    #expect(timer.delays == [.seconds(1)] && store.engine.leftovers.accesses.queue.count == 1)
    #expect(try store.engine.beginRead().id == before)
    timer.runOut()
    #expect(try store.engine.beginRead().id == before + 1)
    #expect(store.engine.leftovers.accesses.queue.count == 0)
    #expect(try notes.entry(for: "k")?.expires == clock.now.advanced(by: .seconds(1700)))
    for _ in 0..<1000 { #expect(try notes.text("k") == "v") }
    #expect(timer.delays.isEmpty)
  }

  @Test func `looking is no use`() throws {
    try notes.set("v", for: "k")
    clock.advance(by: .seconds(1000))
    let before = try store.statistics().file.transaction
    _ = try notes.contains("k")
    _ = try notes.entry(for: "k")
    _ = try notes.page()
    _ = try notes.count()
    _ = try notes.info()
    _ = try store.statistics()
    _ = try store.nextExpiries()
    try notes.scan { _, _ in true }
    try store.read { moment in
      _ = try moment.entry(for: "k", in: notes)
      _ = try moment.contains("k", in: notes)
    }
    #expect(try store.statistics().file.transaction == before)
    _ = try store.write { batch in try batch.entry(for: "k", in: notes) }
    #expect(try notes.reads == ReadCounters())
    #expect(timer.delays.isEmpty && store.engine.leftovers.accesses.queue.count == 0)
    clock.advance(by: .seconds(700))
    #expect(try !notes.contains("k"))
  }

  @Test(
    arguments: [
      { try $1.bytes("k") != nil }, { try $1.text("k") != nil },
      { try $1.withValue(for: "k") { $0.count } != nil },
      { store, notes in try store.read { try $0.value(for: "k", in: notes) != nil } },
      { store, _ in try store.cache(TextCodec(), in: "notes").value(for: "k") != nil },
      { store, _ in try store.cache(TextCodec(), in: "notes").strictValue(for: "k") != nil },
      { store, notes in try store.write { try $0.value(for: "k", in: notes) != nil } },
      { try !$1.setIfAbsent("w", for: "k") },
    ] as [@Sendable (Store, Store.Namespace) throws -> Bool])
  func `any way to read is use`(read: @Sendable (Store, Store.Namespace) throws -> Bool) throws {
    try notes.set("v", for: "k")
    clock.advance(by: .seconds(1000))
    let isFound = try read(store, notes)
    #expect(isFound)
    timer.runOut()
    clock.advance(by: .seconds(1600))
    #expect(try notes.text("k") == "v")
  }

  @Test func `a loading read is a use, even if the value is in memory`() async throws {
    let cache = store.cache(TextCodec(), in: "notes")
    try await cache.set("v", for: "k")
    for _ in 0..<5 {
      for _ in 0..<2 {
        #expect(try await cache.value(for: "k") { "loaded" } == "v")
        timer.runOut()
      }
      clock.advance(by: .seconds(1000))
    }
  }

  @Test
  func `a load that fails after the former end of a used value gives this value`() async throws {
    let cache = store.cache(TextCodec(), in: "notes")
    try await cache.set("v", for: "k")
    clock.advance(by: .seconds(1690))
    let asking = LoadOptions(policy: .revalidate)
    let value = try await cache.value(for: "k", options: asking) { [clock] () throws -> String in
      clock.advance(by: .seconds(100))
      throw Origin.Refusal(number: 1)
    }
    #expect(value == "v")
  }

  @Test(
    arguments: [
      { try $0.namespace("other").set("v", for: "k") }, { try $0.purge() },
      { try $0.namespace("other").remove("k") },
    ] as [@Sendable (Store) throws -> Void])
  func `the next write and a purge put down a use`(write: @Sendable (Store) throws -> Void) throws {
    try notes.set("v", for: "k")
    clock.advance(by: .seconds(1000))
    #expect(try notes.text("k") == "v")
    let used = clock.now
    clock.advance(by: .seconds(10))
    try write(store)
    #expect(try notes.header("k").expires == used.advanced(by: .seconds(1700)).milliseconds)
  }

  @Test func `use is put down by closing`() throws {
    try withTemporaryDirectory { path in
      var store = try Store(at: path + "/s", options: .init(clock: clock))
      try store.namespace("notes").set("v", for: "k", expires: .afterAccess(.hours(1)))
      clock.advance(by: .minutes(50))
      #expect(try store.namespace("notes").text("k") == "v")
      try store.close()
      clock.advance(by: .minutes(60))
      store = try Store(at: path + "/s", options: .init(clock: clock))
      #expect(try store.namespace("notes").text("k") == "v")
      try store.close()
    }
  }

  @Test func `a used entry is there for this process though nobody wrote the use yet`() throws {
    for number in 0..<200 { try notes.set("v", for: number) }
    clock.advance(by: .seconds(1650))
    for number in 0..<200 { #expect(try notes.text(number) == "v") }
    clock.advance(by: .seconds(1000))
    for number in 0..<200 {
      #expect(try notes.contains(number))
      #expect(try notes.text(number) == "v")
    }
    #expect(try notes.page(limit: 1000).items.count == 200)
    #expect(try store.purge() == RemovalResult())
    clock.advance(by: .seconds(1699))
    #expect(try store.purge() == RemovalResult())
    clock.advance(by: .seconds(1))
    #expect(try store.purge().entries == 200)
  }

  @Test func `a timer is set once, sooner for what ends soon, and again after it ran out`() throws {
    for number in 0..<100 { try notes.set("v", for: number) }
    try notes.set("v", for: "short", expires: .afterAccess(.milliseconds(6400)))
    clock.advance(by: .milliseconds(6000))
    #expect(try notes.text("short") == "v")
    #expect(timer.delays == [.milliseconds(100)])
    timer.runOut()
    clock.advance(by: .seconds(1690))
    for number in 0..<100 { _ = try notes.text(number) }
    // The entries expire in 4 s. The longest delay of the timer is one second, so the timer gets this delay.
    #expect(timer.delays == [.seconds(1)])
    timer.runOut()
    #expect(store.engine.leftovers.accesses.queue.count == 0)
  }

  @Test func `a touch, another lifetime and an overwrite decide anew whether use counts`() throws {
    try store.declare(
      Rules(expires: .afterAccess(.seconds(1600)), stale: .seconds(5)), for: "notes")
    try notes.set("v", for: "k")
    let stored = try #require(try notes.entry(for: "k")).storedSize
    clock.advance(by: .seconds(500))
    #expect(try notes.text("k") == "v")
    try notes.touch("k", expires: .after(.seconds(10)))
    var entry = try #require(try notes.entry(for: "k"))
    // The entry is smaller without the field of the interval (10 bytes) and the length of all fields (4 bytes).
    #expect(entry.timeToIdle == nil && entry.storedSize == stored - 14)
    #expect(entry.expires == clock.now.advanced(by: .seconds(10)))
    timer.runOut()
    #expect(try notes.entry(for: "k")?.expires == clock.now.advanced(by: .seconds(10)))
    try notes.touch("k")
    entry = try #require(try notes.entry(for: "k"))
    // The expiry index still has the former, earlier end. So 4 more bytes of the entry store the difference of the two ends.
    #expect(entry.timeToIdle == .seconds(1600) && entry.storedSize == stored + 4)
    #expect(entry.expires?.advanced(by: .seconds(5)) == entry.staleUntil)
    clock.advance(by: .seconds(500))
    #expect(try notes.text("k") == "v")
    // The last read was a use of the old value, so this use does not extend the lifetime of the new value.
    try notes.set("w", for: "k", expires: .after(.seconds(20)))
    timer.runOut()
    #expect(try notes.entry(for: "k")?.expires == clock.now.advanced(by: .seconds(20)))
    try notes.set("x", for: "zero", expires: .afterAccess(.zero))
    #expect(try notes.text("zero") == nil)
    try notes.set("x", for: "ever", expires: .afterAccess(.days(Int.max)))
    clock.advance(by: .days(10_000))
    #expect(try notes.text("ever") == "x")
    for interval in [Duration.zero, .seconds(-1)] {
      let rules = Rules(expires: .afterAccess(interval))
      #expect(failure { try store.declare(rules, for: "notes") } == .invalidArgument)
    }
  }
}
