import TestSupport
import Testing

@testable import Larder

@Suite(.settling) struct LoadCommitTests: StoreSuite {
  let fixture = StoreFixture()
  let directory = TemporaryDirectory()
  let origin = Origin()

  @Test func `a value is returned while a writer holds the lock, committed later`() async throws {
    let writer = await LockHolder(store)
    let first = try await origin.ask(boards, LoadOptions())
    #expect(first.value == "load 1" && !first.isCommitted && first.error == nil)
    // Later reads in this process get the value before the commit of the value, without a second load.
    #expect(try boards.value(for: "thun") == "load 1")
    #expect(try boards.strictValue(for: "thun") == "load 1")
    #expect(try boards.values(for: ["thun", "bern"]) == ["load 1", nil])
    let again = try await origin.ask(boards, LoadOptions())
    #expect(again.value == "load 1" && !again.isCommitted && origin.loads == 1)
    #expect(try !boards.contains("thun"))
    writer.letGo()
    try await boards.settle()
    #expect(try boards.contains("thun") && boards.count() == 1)
    #expect(try await boards.result(for: "thun") { "other" }.isCommitted)
  }

  private struct ActingKey: StoreKey {
    let name: String
    let act: () -> Void

    func withKeyBytes<Result: ~Copyable, Failure: Error>(
      _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      act()
      return try name.withKeyBytes(body)
    }
  }

  @Test func `a read of many keys finds a value whose commit ends during the read`() async throws {
    let writer = await LockHolder(store)
    _ = try await origin.ask(boards, LoadOptions())
    let first = ActingKey(name: "bern") {
      writer.letGo()
      store.engine.awaitLoadWrites()
    }
    #expect(try boards.values(for: [first, ActingKey(name: "thun", act: {})]) == [nil, "load 1"])
  }

  private final class Closing: Sendable {
    let store: Store
    init(_ store: Store) { self.store = store }
    func load() async -> String { "loaded" }
    deinit { try? store.close() }
  }

  /// A load's closure may be the last owner of any object, for example of an object that closes the store.
  @Test func `the thread that commits runs no deinitializer of a load's objects`() async throws {
    let store = try Store.temporary()
    let boards = store.cache(TextCodec(), in: "boards")
    let writer = await LockHolder(store)
    func load(_ owner: Closing) async throws {
      _ = try await boards.value(for: "thun") { await owner.load() }
    }
    try await load(Closing(store))
    writer.letGo()
    try await waitUntil { failure { _ = try store.namespaces() } == .closed }
  }

  @Test func `a loaded value that waits for its commit precedes a stale value`() async throws {
    let stale = Staleness(whileRevalidating: .minutes(10), onError: .hours(1))
    func ask(_ policy: RequestPolicy) async throws -> String {
      try await origin.ask(
        boards, LoadOptions(policy: policy, expires: .after(.minutes(2)), stale: stale)
      ).value
    }
    _ = try await origin.ask(boards, LoadOptions(expires: .after(.minutes(2)), stale: stale))
    try await boards.settle()
    clock.advance(by: .minutes(3))
    let writer = await LockHolder(store)
    #expect(try await ask(.revalidate) == "load 2")
    for policy in [RequestPolicy.standard, .cacheElseLoad, .cacheOnly] {
      #expect(try await ask(policy) == "load 2", "\(policy)")
    }
    _ = try await origin.ask(boards, LoadOptions(), for: "bern")
    #expect(
      try await origin.ask(boards, LoadOptions(policy: .cacheOnly), for: "bern").value == "load 3")
    #expect(origin.loads == 3)
    writer.letGo()
  }

  @Test func `a fresh value precedes a loaded value that waits for its commit`() async throws {
    try await boards.set("old", for: "thun", expires: .after(.minutes(1)))
    clock.advance(by: .seconds(40))
    let writer = await LockHolder(store)
    #expect(try await origin.ask(boards, LoadOptions(policy: .revalidate)).value == "load 1")
    #expect(try await origin.ask(boards, LoadOptions(refreshAhead: .minutes(2))).value == "old")
    writer.letGo()
    #expect(try await boards.settled() == "load 1")
  }

  @Test(arguments: [true, false])
  func `a plain value replaces only an earlier absence`(isEarlier: Bool) async throws {
    let held = isEarlier ? nil : try await origin.startHeld(boards, LoadOptions())
    clock.advance(by: .seconds(1))
    let writer = await LockHolder(store)
    let absent = LoadOptions(policy: .reload, absent: .after(.hours(1)))
    #expect(try await boards.value(for: "thun", options: absent) { _ in .absent } == nil)
    origin.open()
    #expect(try await (held ?? origin.startAsking(boards, LoadOptions())).value.value == "load 1")
    writer.letGo()
    #expect(try await boards.settled() == (isEarlier ? "load 1" : nil))
  }

  @Test func `the thread that commits does not run a cost function`() async throws {
    let notes = try Store.temporary().namespace("notes")
    let boards = notes.store.cache(TextCodec(), in: "boards") { _ in
      // This write would wait for ever on the thread that commits.
      #expect(thrown { try notes.set("v", for: "k") } == nil)
      return 1
    }
    let writer = await LockHolder(notes.store)
    _ = try await boards.value(for: "thun") { "loaded" }
    writer.letGo()
    try await waitUntil { try notes.text("k") == "v" }
  }

  @Test func `loaded values are committed in the order of their loads`() async throws {
    let writer = await LockHolder(store)
    for number in 0..<60 {
      let key = number % 3 == 0 ? "again" : "\(number)"
      let loaded = try await boards.result(for: key, options: LoadOptions(policy: .reload)) {
        "load \(number)"
      }
      #expect(loaded.value == "load \(number)" && !loaded.isCommitted)
      #expect(try boards.value(for: key) == loaded.value)
    }
    writer.letGo()
    #expect(try await boards.settled("again") == "load 57")
    #expect(try boards.namespace.text("again") == "load 57")
    let versions = try (0..<60).filter { $0 % 3 != 0 }.map {
      try #require(try boards.entry(for: "\($0)")).version
    }
    #expect(versions == versions.sorted() && Set(versions).count == 40)
  }

  @Test func `a value that ends before its commit is not returned after its end`() async throws {
    let writer = await LockHolder(store)
    let options = LoadOptions(expires: .after(.minutes(2)))
    #expect(try await origin.ask(boards, options).value == "load 1")
    clock.advance(by: .minutes(2))
    #expect(try boards.value(for: "thun") == nil)
    #expect(try await origin.ask(boards, options).value == "load 2")
    writer.letGo()
  }

  @Test func `an undecodable value does not hide a loaded value that waits for its commit`()
    async throws
  {
    try await boards.namespace.set([0xFF], for: "thun")
    let writer = await LockHolder(store)
    #expect(try await origin.ask(boards, LoadOptions()).value == "load 1")
    #expect(try boards.value(for: "thun") == "load 1")
    writer.letGo()
    #expect(try await boards.settled() == "load 1")
  }

  @Test func `a value that is loaded before the daily hour ends at this hour`() async throws {
    let daily = Expiration.daily(at: TimeOfDay(4), in: "UTC")
    clock.advance(by: .hours(4) - .milliseconds(50))
    let writer = await LockHolder(store)
    _ = try await origin.ask(boards, LoadOptions(expires: daily))
    clock.advance(by: .milliseconds(100))
    #expect(try boards.value(for: "thun") == nil)
    writer.letGo()
    try await boards.settle()
    #expect(try boards.value(for: "thun") == nil)
  }

  @Test func `a caller may wait for the commit`() async throws {
    let writer = await LockHolder(store)
    let (waiting, cancelled) = (origin.startAsking(boards), origin.startAsking(boards))
    #expect(try await !origin.ask(boards, LoadOptions()).isCommitted && origin.loads == 1)
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    writer.letGo()
    #expect(try await waiting.value.isCommitted)
    #expect(try boards.contains("thun"))
  }

  @Test func `a caller that gets a waiting value without a load may wait, too`() async throws {
    let writer = await LockHolder(store)
    #expect(try await !origin.ask(boards, LoadOptions()).isCommitted)
    let waiting = origin.startAsking(boards, with(.committed) { $0.policy = .cacheOnly })
    for _ in 0..<1000 { await Task.yield() }
    writer.letGo()
    #expect(try await waiting.value.isCommitted)
  }

  @Test(.timeLimit(.minutes(5)))
  func `a miss ends after a loaded absence that changed nothing`() async throws {
    let reload = with(LoadOptions.committed) { $0.policy = .reload }
    _ = try await boards.value(for: "thun", options: reload) { _ in .absent }
    #expect(try boards.value(for: "bern") == nil)
  }

  @Test(arguments: ["remove", "set", "batch", "clear"])
  func `a write that begins after the load has returned wins`(how: String) async throws {
    let writer = await LockHolder(store)
    _ = try await boards.value(for: "thun") { try await origin.text() }
    let later = Task.detached {
      switch how {
      case "remove": try await boards.remove("thun")
      case "set": try await boards.set("set", for: "thun")
      case "batch": try store.write { batch in _ = try batch.remove("thun", from: boards) }
      default: try boards.clear()
      }
    }
    writer.letGo()
    _ = try await later.value
    #expect(try boards.value(for: "thun") == (how == "set" ? "set" : nil))
    #expect(try await boards.settled() == (how == "set" ? "set" : nil))
    #expect(try await boards.value(for: "thun") { "next" } == (how == "set" ? "set" : "next"))
  }

  @Test func `no caller gets a value after a clear, or after the end of its write`() async throws {
    try await boards.set("other", for: "bern")
    let key = Array("thun".utf8)
    let lookup = try boards.lookUp(key.span, for: .request)
    let write = LoadWrite(
      base: lookup.found.base, size: 0, end: nil, links: [], engine: store.engine
    ) { _ in nil }
    #expect(
      write.mayAnswer(than: lookup.found.base, snapshot: lookup.found.snapshot, now: clock.now))
    try boards.clear()
    try await boards.set("other", for: "bern")
    let cleared = try boards.lookUp(key.span, for: .request)
    #expect(
      !write.mayAnswer(than: cleared.found.base, snapshot: cleared.found.snapshot, now: clock.now))
    try store.write { batch in
      try batch.set([1], for: "zug", in: boards.namespace)
      try write.run(in: &batch)
    }
    let written = try boards.lookUp(key.span, for: .request)
    #expect(
      !write.mayAnswer(than: lookup.found.base, snapshot: written.found.snapshot, now: clock.now))
    store.engine.loads.writes.add(write)
    write.finish(Origin.Refusal(number: 1))
    #expect(
      !write.mayAnswer(than: lookup.found.base, snapshot: lookup.found.snapshot, now: clock.now))
  }

  @Test func `counting and closing wait for what was loaded`() async throws {
    for key in 0..<50 { _ = try await boards.value(for: key) { "\(key)" } }
    #expect(try boards.count() == 50)
    for key in 50..<100 { _ = try await boards.value(for: key) { "\(key)" } }
    #expect(try store.statistics().entries == 100)
  }

  @Test(arguments: [false, true])
  func `beyond the bounds a load waits for its own commit`(isKnown: Bool) async throws {
    let large = String(repeating: "x", count: LoadWrites.mostBytes / 4)
    for key in 0..<5 where isKnown { try await boards.set(large, for: key) }
    let writer = await LockHolder(store)
    @Sendable func load(
      _ key: Int, _ isLoaded: @escaping @Sendable () -> Void = {}
    ) async throws -> CacheResult<String>? {
      try await boards.result(for: key, options: LoadOptions(policy: .revalidate)) { stored in
        isLoaded()
        return stored == nil ? .value(large) : .unchanged
      }
    }
    for key in 0..<4 { #expect(try await load(key)?.isCommitted == false) }
    let (isLoaded, isDone) = (Shared(false), Shared(false))
    let last = Task {
      let result = try await load(4) { isLoaded.withLock { $0 = true } }
      isDone.withLock { $0 = true }
      return result
    }
    try await waitUntil { isLoaded.withLock { $0 } }
    for _ in 0..<1000 { await Task.yield() }
    #expect(isDone.withLock { !$0 })
    writer.letGo()
    #expect(try await last.value?.isCommitted == true)
  }

  @Test func `a lifetime begins when the value was loaded`() async throws {
    let writer = await LockHolder(store)
    _ = try await boards.value(for: "thun", expires: .after(.seconds(10))) { "board" }
    let loaded = clock.now
    clock.advance(by: .seconds(3))
    writer.letGo()
    try await boards.settle()
    let entry = try #require(try boards.entry(for: "thun"))
    #expect(entry.expires == loaded.advanced(by: .seconds(10)) && entry.written == loaded)
  }
}
