import TestSupport
import Testing

@testable import Larder

@Suite struct CacheVerbTests: StoreSuite {
  private struct Color: Codable, Equatable, Sendable { var name: String }
  let fixture = StoreFixture()
  private let colors: Larder.Cache<Color>
  init() { colors = fixture.store.cache(of: Color.self, in: "lego.colors") }

  @Test func `many keys are read as one commit left them`() throws {
    for number in 0..<10 { try colors.set(Color(name: "color \(number)"), for: "\(number)") }
    try colors.set(Color(name: "old"), for: "gone", expires: .after(.seconds(1)))
    clock.advance(by: .seconds(1))
    let some = try colors.values(for: ["4", "5", "7", "4", "gone", "absent", ""])
    #expect(some.map { $0?.name } == ["color 4", "color 5", "color 7", "color 4", nil, nil, nil])
    #expect(try colors.values(for: [Int]()).isEmpty)
    // The values are in memory now. After a write by another handle, a read must still find the new value.
    let other = store.cache(of: Color.self, in: "lego.colors", memory: MemoryLimits.off)
    try other.set(Color(name: "new"), for: "4")
    #expect(try colors.values(for: ["4"]) == [Color(name: "new")])
  }

  @Test(arguments: [0, 1, 255, 256, 257, 1000])
  func `iteration shows every entry once, in order, in both forms`(count: Int) async throws {
    for number in 0..<count { try await colors.set(Color(name: "\(number)"), for: number) }
    try await colors.namespace.set("not a color", for: "zz", expires: .never)
    var keys: [Int] = []
    for try await (key, color) in colors.entries() {
      let number = try #require(key.integer)
      #expect(color.name == "\(number)")
      keys.append(number)
    }
    #expect(keys == Array(0..<count))
    var again: [Int] = []
    try colors.entries().visit { key, _ in again.append(key.integer ?? -1) }
    #expect(again == keys)
    #expect(try colors.keys().count == count + 1)
    #expect(try colors.namespace.reads == ReadCounters())
  }

  @Test func `iteration of a prefix goes on during writes, and ends with a clear`() throws {
    for number in 0..<600 { try colors.set(Color(name: "x"), for: "a\(number)") }
    try colors.set(Color(name: "other"), for: "b")
    var seen = 0
    try colors.entries(prefix: "a").visit { key, _ in
      seen += 1
      try colors.remove(key)
    }
    #expect(seen == 600)
    #expect(try colors.keys() == [Key("b")])
    for number in 0..<600 { try colors.set(Color(name: "x"), for: "a\(number)") }
    var iterator = colors.entries().makeAsyncIterator()
    _ = try iterator.nextEntry()
    try colors.clear()
    var rest = 0
    while try iterator.nextEntry() != nil { rest += 1 }
    #expect(rest == 255)
  }

  @Test func `a prefix is removed, and nothing else`() throws {
    for number in 0..<2500 { try colors.set(Color(name: "x"), for: "a/\(number)") }
    for key in ["a", "a0", "b/1"] { try colors.set(Color(name: "kept"), for: key) }
    try colors.set(Color(name: "long"), for: "a/" + String(repeating: "l", count: 400))
    let removed = try colors.remove(prefix: "a/")
    #expect(removed.entries == 2501 && removed.bytes > 2500 * 10)
    #expect(try colors.keys().map(\.string) == ["a", "a0", "b/1"])
    #expect(try colors.remove(prefix: "a/").entries == 0)
    #expect(try store.namespace("absent").remove(prefix: "a").entries == 0)
  }

  @Test func `of those who pop one gets the value`() async throws {
    try await colors.set(Color(name: "red"), for: "4")
    let popped = try await withThrowingTaskGroup(of: Color?.self) { group in
      for _ in 0..<20 { group.addTask { try await colors.pop("4") } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(popped.compactMap { $0 } == [Color(name: "red")])
    #expect(try colors.value(for: "4") == nil && colors.count() == 0)
    try await colors.namespace.set([1, 2], for: "bytes")
    #expect(try await colors.namespace.pop("bytes") == [1, 2])
    #expect(try await colors.namespace.pop("bytes") == nil)
  }

  @Test func `counters add up, keep their end, and say what cannot be added`() async throws {
    let visits = store.namespace("visits")
    try await inTasks(200) { _ in _ = try await visits.increment("zurich") }
    #expect(try visits.value(for: "zurich") == "200")
    #expect(try await visits.increment("zurich", by: -50) == 150)
    #expect(try await visits.increment("short", by: 2, expires: .after(.seconds(10))) == 2)
    clock.advance(by: .seconds(9))
    #expect(try await visits.increment("short", expires: .never) == 3)
    #expect(try visits.entry(for: "short")?.codec == .text)
    clock.advance(by: .seconds(1))
    #expect(try await visits.increment("short") == 1)
    try await visits.set("many", for: "word")
    #expect(failure { try visits.increment("word") } == .undecodable)
    try await visits.set("\(Int.max)", for: "full")
    #expect(failure { try visits.increment("full") } == .invalidArgument)
    #expect(try visits.value(for: "full") == "\(Int.max)")

    let bytes = store.cache(of: UInt8.self, in: "bytes")
    #expect(try await bytes.increment("a", by: 250) == 250)
    #expect(failure { try bytes.increment("a", by: 10) } == .invalidArgument)
    #expect(try bytes.value(for: "a") == 250)
    // A number that the type cannot hold must not begin again at 0, in the write buffer and in a transaction.
    try await store.cache(of: Int.self, in: "bytes").set(300, for: "b")
    #expect(failure { try bytes.increment("b") } == .undecodable)
    #expect(try await bytes.namespace.pin("b"))
    #expect(failure { try bytes.increment("b") } == .undecodable)
    #expect(try bytes.namespace.value(for: "b") == "300" && bytes.namespace.reads.undecodable == 0)
  }

  @Test func `rules are declared once per opening`() throws {
    let first = store.cache(of: Int.self, in: "n", rules: Rules(limits: Limits(entries: 10)))
    let second = store.cache(of: Int.self, in: "n", rules: Rules(limits: Limits(entries: 5)))
    try first.set(1, for: "a")
    try second.set(1, for: "b")
    try first.set(2, for: "a")
    #expect(try store.namespace("n").info()?.declared.limits.entries == 5)
    // The caches do not declare their rules again, so rules that another program has declared meanwhile remain in force.
    try store.declare(Rules(limits: Limits(entries: 7)), for: "n")
    try first.set(3, for: "a")
    #expect(try first.namespace.info()?.declared.limits.entries == 7)
  }

  @Test func `rules are declared again if the name belongs to another namespace`() throws {
    let rules = Rules(limits: Limits(entries: 10))
    let cache = store.cache(of: Int.self, in: "n", rules: rules)
    try cache.set(1, for: "a")
    clock.advance(by: .seconds(1))
    try store.namespace("prepared").set([1], for: "a")
    try store.rename("n", to: "old")
    try store.rename("prepared", to: "n")
    try cache.set(2, for: "a")
    #expect(try cache.namespace.info()?.declared == rules)
    let other = store.cache(of: Int.self, in: "m", rules: rules)
    try withStore { elsewhere, _ in
      try elsewhere.write { batch in try batch.set(1, for: "a", in: other) }
      #expect(try elsewhere.namespace("m").info()?.declared == rules)
    }
    try other.set(1, for: "a")
    #expect(try other.namespace.info()?.declared == rules)
  }

  @Test func `two spellings of a letter are two keys`() throws {
    let (one, two) = ("caf\u{e9}", "cafe\u{301}")
    try colors.set(Color(name: "one"), for: one)
    #expect(try colors.values(for: [one, two]) == [Color(name: "one"), nil])
    try colors.set(Color(name: "two"), for: two)
    #expect(try colors.values(for: [one, two, one]).map { $0?.name } == ["one", "two", "one"])
    #expect(Set([one, two].map { Owner(Key("k"), in: $0) }).count == 2)
  }

  @Test func `two spellings of a name are two namespaces, each with its figures`() async throws {
    let names = ["caf\u{e9}", "cafe\u{301}"]
    let caches = names.map { store.cache(of: Int.self, in: $0) }
    for (number, cache) in caches.enumerated() {
      for key in 0...number {
        try await cache.set(1, for: key, expires: .after(.hours(number + 1)))
        #expect(try cache.value(for: key) == 1)
      }
    }
    #expect(try store.namespaces().map(\.entries) == [2, 1], "in the order of bytes")
    #expect(try store.nextExpiries().count == 2)
    #expect(try caches.map { try $0.namespace.statistics()?.memory?.usage.entries } == [1, 2])
    try store.declare(Rules(limits: Limits(guaranteed: 600)), for: names[0])
    try store.declare(StoreLimits(bytes: 1000))
    let rules = Rules(limits: Limits(guaranteed: 600))
    #expect(failure { try store.declare(rules, for: names[1]) } == .invalidArgument)
    try caches[0].namespace.clear()
    #expect(try store.namespaces().map(\.entries) == [2, 0])
    #expect(caches.map(\.namespace.memory.usage.entries) == [0, 2])
    try store.write { batch in
      for (number, cache) in caches.enumerated() { try batch.set(number, for: "k", in: cache) }
    }
    for (number, cache) in caches.enumerated() {
      #expect(try cache.value(for: "k") == number)
      #expect(try await cache.value(for: "loaded") { number } == number)
    }
    #expect(failure { try store.rename(names[0], to: names[1]) } == .exists)
  }

  @Test func `an increment keeps the validators of the entry`() async throws {
    let visits = store.cache(of: Int.self, in: "visits")
    try await colors.set(Color(name: "red"), for: "4", expires: .after(.seconds(1)))
    let attributes = EntryAttributes.with(
      codec: .text, tags: ["tag"], owners: [Owner(Key("4"), in: colors.name)],
      entityTag: Array("\"etag\"".utf8),
      lastModified: Array("Thu, 01 Jan 2026 00:00:00 GMT".utf8), metadata: [1, 2], isPinned: true)
    try await visits.namespace.set(Array("1".utf8), for: "a", attributes)
    clock.advance(by: .seconds(1))
    try await visits.increment("a")
    try await visits.namespace.increment("a")
    let entry = try #require(try visits.entry(for: "a"))
    #expect(
      entry.entityTag == attributes.entityTag && entry.lastModified == attributes.lastModified)
    #expect(entry.metadata == [1, 2] && entry.tags == ["tag"] && entry.isPinned)
    #expect(try visits.value(for: "a") == 3)
  }
}
