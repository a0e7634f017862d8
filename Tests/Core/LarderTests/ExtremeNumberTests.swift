import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct ExtremeNumberTests {
  /// Includes durations whose seconds do not fit in `Int64`. The property `components` of such a duration would trap.
  static let durations: [Duration] = [
    .zero, .milliseconds(Int64.max), .seconds(Int64.max), .seconds(Int64.min), .seconds(1e20),
    .seconds(-1e20), .days(Int.max), Duration(attoseconds: .max), Duration(attoseconds: .min),
  ]

  @Test(arguments: durations)
  func `a lifetime of any length is stored, or refused as negative`(duration: Duration) throws {
    let notes = try Store.temporary(options: Store.Options(clock: ManualClock())).namespace("notes")
    let expirations: [Expiration] = [
      .after(duration), .afterAccess(duration), .at(notes.store.now.advanced(by: duration)),
    ]
    for (index, expires) in expirations.enumerated() {
      let isPossible =
        switch expires {
        case .after: duration >= .zero
        case .afterAccess: duration > .zero
        default: true
        }
      let attributes = EntryAttributes.with(
        expires: expires, stale: duration >= .zero ? duration : nil)
      do {
        try notes.set(Array("v".utf8), for: "\(index)", attributes)
        try notes.touch("\(index)", expires: expires)
      } catch { #expect(!isPossible && error.code == .invalidArgument) }
      if duration > .zero { #expect(try notes.text("\(index)") == "v") }
      var rules = Rules(expires: expires, stale: duration, jitter: 1)
      rules.limits = Limits(entries: .max, bytes: .max)
      do {
        try notes.store.declare(rules, for: "rules")
        try notes.store.namespace("rules").set("v", for: "k")
      } catch { #expect(duration <= .zero && error.code == .invalidArgument) }
    }
    #expect(
      Timestamp(milliseconds: 0).advanced(by: .seconds(1e20)) == Timestamp(milliseconds: .max))
    #expect(Timestamp(milliseconds: 0).advanced(by: .seconds(-1e20)).milliseconds == .min)
    #expect(Expiration.after(.seconds(1e20)).inMilliseconds == .after(.milliseconds(Int64.max)))
  }

  @Test(arguments: durations.filter { $0 > .zero })
  func `a load may take any time`(limit: Duration) async throws {
    for clock in [ManualClock(), SystemClock()] as [any LarderClock] {
      let cache = try Store.temporary(options: Store.Options(clock: clock)).cache(
        TextCodec(), in: "notes")
      var options = LoadOptions(refreshAhead: limit, timeout: limit, refreshTimeout: limit)
      options.stale = Staleness(whileRevalidating: limit, onError: limit)
      #expect(try await cache.value(for: "k", options: options) { "v" } == "v")
      let sleeper = Task { try await clock.sleep(until: clock.monotonic + limit.bounded) }
      await Task.yield()
      sleeper.cancel()
      await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
  }

  @Test(arguments: durations.filter { $0 > .zero })
  func `maintenance may run at any interval`(interval: Duration) throws {
    for clock in [ManualClock(), SystemClock()] as [any LarderClock] {
      let maintenance = try Maintenance(
        of: Store.temporary(options: Store.Options(clock: clock)), every: interval, jitter: 1)
      try maintenance.runOnce()
      maintenance.start()
      maintenance.stop()
    }
  }

  @Test func `a manual clock stops at the end of time`() {
    let clock = ManualClock()
    for _ in 0..<2 { clock.advance(by: .seconds(Int64.max)) }
    #expect(clock.now == Timestamp(milliseconds: .max))
    #expect(clock.monotonic == .milliseconds(Int64.max))
  }

  @Test(arguments: durations)
  func `a store may wait and flush after any time`(duration: Duration) throws {
    let path = TemporaryDirectory.unusedPath
    let store = try Store(
      at: path,
      options: Store.Options(
        lockTimeout: max(duration, .seconds(5)), durability: .checkpointed,
        checkpointInterval: duration))
    let notes = store.namespace("notes")
    // The threads write at the same time, so some threads wait for the writer lock with the lock timeout of the test.
    try inThreads(8) { thread in
      for number in 0..<20 {
        try store.write { batch in try batch.set("v", for: "\(thread) \(number)", in: notes) }
      }
    }
    #expect(try notes.count() == 160)
    try store.close()
  }

  @Test func `sizes and costs stop at the largest number`() throws {
    #expect(Int.kilobytes(.max) == .max && Int.megabytes(.min) == .min)
    #expect(Int.gigabytes(.max) == .max && Int.gigabytes(2) == 2_000_000_000)
    let store = try Store.temporary(
      options: Store.Options(limits: StoreLimits(entries: .max, bytes: .max, memory: .max)))
    for cost in [Int.max, .min, -1] {
      let cache = store.cache(
        TextCodec(), in: "notes\(cost)", memory: MemoryLimits(), cost: { _ in cost })
      try cache.set("v", for: "a")
      try cache.set("v", for: "b")
      #expect(try cache.value(for: "a") == "v" && cache.value(for: "b") == "v")
      cache.memory?.trim(toFraction: 1)
      cache.memory?.trim(to: .min)
      store.trimMemory(toFraction: .nan)
    }
    var removal = RemovalResult(entries: .max, bytes: .max)
    removal += RemovalResult(entries: 1, bytes: .max)
    #expect(removal == RemovalResult(entries: .max, bytes: .max))
  }

  @Test func `an entry with very many tags is written in a moment`() throws {
    let notes = try Store.temporary().namespace("notes")
    let attributes = EntryAttributes.with(tags: (0..<20_000).map { "t\($0)" } + ["t0", "t19999"])
    let seconds = try processorTime { try notes.set(Array("v".utf8), for: "k", attributes) }
    #expect(try notes.entry(for: "k")?.tags.count == 20_000)
    // A write that compared each tag with each other tag would take minutes, and so exceed this limit.
    #expect(seconds < .seconds(20))
  }

  @Test func `the repair of an entry with very many tags takes a moment`() throws {
    let store = try Store.temporary()
    let notes = store.namespace("notes")
    let attributes = EntryAttributes.with(
      tags: (0..<20_000).map { "t\($0)" }, owners: [Owner(Key("owner"), in: "notes")])
    try notes.set("v", for: "owner")
    try notes.set(Array("v".utf8), for: "k", attributes)
    let slot = try notes.slot("k")
    try store.tamper { transaction, indexes in
      for number in 0..<20_000 {
        let key = IndexKey.tag(Array("u\(number)".utf8), entry: slot)
        try transaction.put([], for: key, in: indexes.tags)
      }
    }
    try store.engine.commit { batch in
      try RepairMark.note(NamespaceID(rawValue: 1), &batch.session.transaction)
    }
    var repaired = 0
    let seconds = try processorTime { repaired = try RepairJob(engine: store.engine).run() }
    #expect(repaired == 1)
    #expect(try store.verify().faults == [])
    // A repair that read all tags for each record would take minutes, and so exceed this limit.
    #expect(seconds < .seconds(20))
  }

  @Test func `an error that quotes an argument of any length is short`() throws {
    let store = try Store.temporary()
    let text = String(repeating: "x", count: 1_000_000)
    for call in [
      { try store.invalidate(tag: text) }, { try store.namespace(text).set("v", for: "k") },
      { try store.namespace("notes").set("v", for: text) },
      { _ = try store.namespace("notes").page(after: PageCursor(text)) },
    ] as [() throws -> Void] {
      let error = #expect(throws: LarderError.self) { try call() }
      #expect(try #require(error).description.utf8.count < 11_000)
    }
  }

  @Test func `a path is not cut at a zero byte`() throws {
    let path = TemporaryDirectory.unusedPath
    try Store(at: path).close()
    for name in [path + "\0", path + "\0x", "\0" + path] {
      let code = failure { _ = try Store(at: name) }
      #expect(code == .invalidArgument || code == .cannotOpen)
    }
  }

  @Test func `more transforms than an entry can name, and two with one id, are refused`() throws {
    var options = Store.Options()
    options.transforms = (100..<108).map { PlainTransform(id: TransformID(rawValue: $0)) }
    let notes = try Store.temporary(options: options).namespace("notes")
    try notes.set("v", for: "k")
    #expect(try notes.text("k") == "v")
    options.transforms.append(PlainTransform(id: TransformID(rawValue: 108)))
    #expect(failure { _ = try Store.temporary(options: options) } == .invalidArgument)
    options.transforms = [options.transforms[0], options.transforms[0]]
    #expect(failure { _ = try Store.temporary(options: options) } == .invalidArgument)
  }

  @Test(arguments: [UInt64.max, .max - 1, 1 << 63] as [UInt64])
  func `no position in the file of changes stops a writer or a reader`(head: UInt64) async throws {
    let notes = try Store.temporary().namespace("notes")
    try await notes.set("v", for: "k")
    var watch = notes.store.changes().makeAsyncIterator()
    try await notes.set("v", for: "a")
    #expect(await watch.next()?.key == Key("a"))
    notes.store.engine.changes.ring.publish(head)
    if case .missed = try #require(await watch.next()).kind {} else { Issue.record("not missed") }
    // The next write begins a new ring, and the watch reports the missed changes again.
    try await notes.set("v", for: "b")
    if case .missed = try #require(await watch.next()).kind {} else { Issue.record("not missed") }
    try await notes.set("v", for: "c")
    #expect(await watch.next()?.key == Key("c"))
  }
}
