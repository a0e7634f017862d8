import TestSupport
import Testing

@testable import Larder

@Suite(.settling) struct AnswerTests: StoreSuite {
  let fixture = StoreFixture()
  private let origin = Origin()
  private let directory = TemporaryDirectory()

  @Test func `that there is nothing is known for as long as its rule says`() async throws {
    let options = LoadOptions(
      expires: .after(.hours(1)), absent: .after(.minutes(1)), waitsForCommit: true)
    let isThere = Shared(false)
    let ask = {
      try await boards.result(for: "thun", options: options) { _ in
        let load = try await origin.text()
        return isThere.withLock { $0 } ? .value(load) : .absent
      }
    }
    for _ in 0..<3 { #expect(try await ask() == nil) }
    #expect(origin.loads == 1)
    #expect(try boards.value(for: "thun") == nil && !boards.contains("thun"))
    #expect(try boards.entry(for: "thun")?.isNegative == true)
    #expect(try boards.namespace.text("thun") == nil)
    isThere.withLock { $0 = true }
    clock.advance(by: .minutes(1))
    #expect(try await ask()?.value == "load 2")
    #expect(try boards.contains("thun") && boards.entry(for: "thun")?.isNegative == false)
    // A load without a value replaces the expired value by a negative entry.
    isThere.withLock { $0 = false }
    clock.advance(by: .hours(1))
    #expect(try await ask() == nil)
    #expect(try boards.entry(for: "thun")?.isNegative == true)
    #expect(try store.write { try $0.value(for: "thun", in: boards) } == nil)
    #expect(try await boards.setIfAbsent("set", for: "thun"))
    #expect(try await ask()?.value == "set")
  }

  @Test func `without a rule absence is not kept, and removes what was there`() async throws {
    try await boards.set("old", for: "thun", expires: .after(.minutes(1)))
    clock.advance(by: .seconds(59))
    let options = LoadOptions(policy: .revalidate, waitsForCommit: true)
    #expect(try await boards.value(for: "thun", options: options) { _ in .absent } == nil)
    #expect(try boards.count() == 0 && boards.value(for: "thun") == nil)
    let reload = LoadOptions(policy: .reload, waitsForCommit: true)
    _ = try await boards.value(for: "thun", options: reload) { _ in
      try await boards.set("set", for: "thun")
      return .absent
    }
    #expect(try boards.value(for: "thun") == nil)
  }

  @Test func `a value says itself how long it stays and what validates it`() async throws {
    let attributes = EntryAttributes.with(
      expires: .after(.seconds(10)), tags: ["line 1"], entityTag: Array("\"v1\"".utf8))
    let (stored, stale) = (attributes, Staleness(onError: .minutes(1)))
    let options = LoadOptions(expires: .never, stale: stale, waitsForCommit: true)
    _ = try await boards.result(for: "thun", options: options) { _ in .value("board", stored) }
    let entry = try #require(try boards.entry(for: "thun"))
    #expect(entry.entityTag == Array("\"v1\"".utf8) && entry.tags == ["line 1"])
    #expect(entry.expires == clock.now.advanced(by: .seconds(10)))
    #expect(entry.staleUntil == clock.now.advanced(by: .seconds(70)))
    #expect(entry.codec == .text)
  }

  @Test(arguments: [nil, Expiration.after(.minutes(1))])
  func `what is unchanged begins its life anew, neither written nor decoded`(
    expires: Expiration?
  ) async throws {
    let stored = EntryAttributes.with(
      expires: .after(.minutes(1)), entityTag: Array("\"v1\"".utf8), metadata: [1, 2, 3])
    let options = LoadOptions(
      expires: expires, stale: Staleness(onError: .hours(1)), waitsForCommit: true)
    _ = try await boards.result(for: "thun", options: options) { _ in .value("board", stored) }
    let version = try boards.entry(for: "thun")?.version
    clock.advance(by: .minutes(2))
    let told = Shared<CachedValue<String>?>(nil)
    let loaded = try await boards.result(for: "thun", options: options) { known in
      told.withLock { $0 = known }
      return known == nil ? .value("new") : .unchanged
    }
    #expect(loaded?.value == "board" && loaded?.source == .loaded && loaded?.error == nil)
    let known = try #require(told.withLock { $0 })
    #expect(known.value == "board" && known.validators.entityTag == stored.entityTag)
    #expect(known.metadata == [1, 2, 3])
    let entry = try #require(try boards.entry(for: "thun"))
    #expect(entry.version == version && entry.state == .fresh)
    #expect(entry.entityTag == stored.entityTag)
    #expect(entry.expires == clock.now.advanced(by: .minutes(1)))
  }

  @Test func `a value in memory has the age since its last confirmation`() async throws {
    let cache = store.cache(TextCodec(), in: "ages")
    let options = LoadOptions(
      policy: .revalidate, expires: .after(.minutes(10)), waitsForCommit: true)
    for _ in 0..<2 {
      clock.advance(by: .minutes(5))
      _ = try cache.value(for: "k")
      _ = try await cache.result(for: "k", options: options) { known in
        known == nil ? .value("v") : .unchanged
      }
    }
    clock.advance(by: .seconds(5))
    for _ in 0..<2 {
      let result = try await cache.result(for: "k") { _ in .value("other") }
      #expect(result?.source == .memory && result?.age == .seconds(5))
    }
  }

  private let expiring = LoadOptions(
    expires: .after(.minutes(1)), stale: Staleness(onError: .hours(1)), waitsForCommit: true)

  @Test(arguments: [true, false])
  func `what was evicted while its origin was asked is stored again when it is unchanged`(
    isRemoved: Bool
  ) async throws {
    let stored = EntryAttributes.with(tags: ["line 1"], entityTag: [7])
    _ = try await boards.result(for: "thun", options: expiring) { _ in .value("board", stored) }
    clock.advance(by: .minutes(2))
    let loaded = try await boards.result(for: "thun", options: expiring) { _ in
      if isRemoved {
        try await boards.remove("thun")
      } else {
        try store.declare(Rules(limits: Limits(entries: 1)), for: "boards")
        try await boards.set("other", for: "bern")
      }
      #expect(try boards.entry(for: "thun") == nil)
      return .unchanged
    }
    #expect(loaded?.value == "board" && loaded?.error == nil)
    // A removal during the load is intended, so the load stores nothing. After an eviction, the load stores the value again.
    #expect(try boards.value(for: "thun") == (isRemoved ? nil : "board"))
    #expect(try boards.entry(for: "thun")?.entityTag == (isRemoved ? nil : [7]))
    #expect(try boards.entry(for: "thun")?.tags == (isRemoved ? nil : ["line 1"]))
  }

  @Test
  func `an evicted value with an owner is not stored again when it is unchanged`() async throws {
    try await store.cache(TextCodec(), in: "lines").set("line", for: "1")
    let stored = EntryAttributes.with(owners: [Owner(Key("1"), in: "lines")])
    for isKnown in [false, true] {
      _ = try await boards.result(for: "thun", options: expiring) { _ in
        if !isKnown { return .value("board", stored) }
        try store.declare(Rules(limits: Limits(entries: 1)), for: "boards")
        try await boards.set("other", for: "bern")
        return .unchanged
      }
      clock.advance(by: .minutes(2))
    }
    #expect(try boards.value(for: "thun") == nil && boards.value(for: "bern") == "other")
  }

  @Test func `a read-only store passes on that a key has no value`() async throws {
    try Store.leave(at: directory.path + "/s")
    let reading = try Store(at: directory.path + "/s", options: Store.Options(readOnly: true))
    let cache = reading.cache(TextCodec(), in: "notes")
    let asking = LoadOptions(policy: .revalidate, absent: .never, waitsForCommit: true)
    for key in ["x", "k"] {
      #expect(try await cache.value(for: key, options: asking) { _ in .absent } == nil)
    }
  }

  @Test func `a read-only store starts no load for a stale value that a read returns`()
    async throws
  {
    let (path, origin) = (directory.path + "/s", Origin(isOpen: false))
    let writing = try Store(at: path, options: Store.Options(clock: clock))
    let stale = EntryAttributes.with(expires: .after(.minutes(1)), stale: .hours(1))
    try await writing.namespace("notes").set(Array("old".utf8), for: "k", stale)
    clock.advance(by: .minutes(2))
    let reading = try Store(at: path, options: Store.Options(readOnly: true, clock: clock))
    let result = try await origin.ask(
      reading.cache(TextCodec(), in: "notes"), LoadOptions(), for: "k")
    #expect(result.value == "old" && result.isStale)
    #expect(reading.engine.loads.running.count == 0)
  }

  @Test func `unchanged without anything known is an error`() async throws {
    let ask = { try await boards.result(for: "thun", options: .committed) { _ in .unchanged } }
    #expect(await code { try await ask() } == .failed)
  }
}
