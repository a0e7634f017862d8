import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct MemoryTests: StoreSuite {
  let fixture = StoreFixture { $0.hooks.chunksAbove = 2000 }
  let codec = CountingCodec()

  @Test func `a hit decodes nothing and looks nothing up`() throws {
    let notes = store.cache(codec, in: "notes")
    try notes.set("v", for: "k")
    for _ in 0..<5 { #expect(try notes.value(for: "k") == "v") }
    #expect(try notes.strictValue(for: "k") == "v")
    #expect(codec.decoded == 1)
    let statistics = try #require(notes.memory?.statistics)
    #expect(statistics.hits == 5 && statistics.revalidatedHits == 0 && statistics.misses == 1)
    #expect(statistics.usage == MemoryUsage(cost: 1, entries: 1) && statistics.hitRate == 5.0 / 6)
    let reads = try notes.namespace.reads
    #expect(reads.hits == 6 && reads.memoryHits == 5 && reads.misses == 0)
    #expect(try store.statistics().namespaces.first?.memory == statistics)
  }

  @Test(arguments: ["v", String(repeating: "in chunks ", count: 10_000)])
  func `a commit that leaves the entry alone costs a lookup and no decoding`(text: String) throws {
    let notes = store.cache(codec, in: "notes")
    try notes.set(text, for: "k")
    #expect(try notes.value(for: "k") == text)
    for round in 0..<3 {
      try store.namespace("other").set("x", for: round)
      for _ in 0..<2 { #expect(try notes.value(for: "k") == text) }
    }
    #expect(codec.decoded == 1)
    let statistics = try #require(notes.memory?.statistics)
    #expect(statistics.revalidatedHits == 3 && statistics.hits == 3 && statistics.misses == 1)
    let reads = try notes.namespace.reads
    #expect(reads.hits == 7 && reads.memoryHits == 6)
  }

  @Test func `a request that may load is a memory miss whatever the store has`() async throws {
    let store = try Store.temporary()
    let notes = store.cache(codec, in: "notes")
    #expect(try await notes.value(for: "k") { "v" } == "v")
    #expect(notes.memory?.statistics.misses == 1)
    try await store.namespace("notes").set(
      [1], for: "l", EntryAttributes(expires: .at(store.now.advanced(by: .seconds(-1)))))
    #expect(try await notes.value(for: "l") { "v" } == "v")
    #expect(notes.memory?.statistics.misses == 2)
  }

  @Test func `what a lossless codec wrote is read without decoding it`() throws {
    let codec = CountingCodec(isLossless: true)
    let notes = store.cache(codec, in: "notes")
    try notes.set("1", for: "k")
    #expect(try notes.value(for: "k") == "1")
    try notes.set("2", for: "k")
    #expect(try notes.value(for: "k") == "2")
    // A write leaves its value in memory, so reads decode nothing. The first read after each write revalidates the value.
    #expect(codec.decoded == 0 && notes.memory?.statistics.revalidatedHits == 2)
    try store.write { batch in
      try batch.set("3", for: "k", in: notes)
      #expect(try notes.value(for: "k") == "2")
    }
    #expect(try notes.value(for: "k") == "3")
    #expect(codec.decoded == 1)
  }

  @Test func `another codec gives what it would read, not what was written`() throws {
    struct Whole: Codec {
      let id = CodecID(rawValue: 202)
      func encode(_ value: Double) -> [UInt8] { Array(String(Int(value)).utf8) }
      func decode(_ bytes: Span<UInt8>) -> Double {
        Double(String(decoding: bytes.copied, as: UTF8.self))!
      }
    }
    let numbers = store.cache(Whole(), in: "numbers")
    try numbers.set(2.5, for: "k")
    for _ in 0..<2 { #expect(try numbers.value(for: "k") == 2) }
  }

  @Test func `the clock decides at each hit, to the millisecond`() throws {
    try store.declare(Rules(stale: .hours(1)), for: "notes")
    let notes = store.cache(codec, in: "notes")
    try notes.set("v", for: "k", expires: .after(.seconds(2)))
    #expect(try notes.value(for: "k") == "v")
    clock.advance(by: .milliseconds(1999))
    #expect(try notes.value(for: "k") == "v")
    clock.advance(by: .milliseconds(1))
    #expect(try notes.value(for: "k") == nil)
    #expect(try notes.namespace.reads.stale == 1 && codec.decoded == 1)
  }

  @Test func `a value has a life of its own in memory if told so`() throws {
    let notes = store.cache(
      codec, in: "notes", memory: MemoryLimits(entries: 10, lifetime: .seconds(10)))
    try notes.set("v", for: "k")
    for _ in 0..<4 {
      #expect(try notes.value(for: "k") == "v")
      clock.advance(by: .seconds(5))
    }
    #expect(codec.decoded == 2)
  }

  @Test func `a shorter lifetime in memory holds for the values that memory has`() throws {
    let notes = store.cache(codec, in: "notes")
    try notes.set("v", for: "k")
    #expect(try notes.value(for: "k") == "v" && codec.decoded == 1)
    notes.memory?.limits.lifetime = .seconds(10)
    clock.advance(by: .seconds(10))
    for _ in 0..<2 { #expect(try notes.value(for: "k") == "v" && codec.decoded == 2) }
    let owner = store.cache(codec, in: "notes", memory: MemoryLimits(lifetime: .seconds(5)))
    clock.advance(by: .seconds(5))
    #expect(try owner.value(for: "k") == "v" && codec.decoded == 3)
  }

  @Test func `a moment sees its snapshot, whatever memory has`() throws {
    let notes = store.cache(codec, in: "notes")
    try notes.set("old", for: "k")
    try store.read { moment in
      try notes.set("new", for: "k")
      #expect(try notes.value(for: "k") == "new")
      #expect(try moment.value(for: "k", in: notes) == "old")
      #expect(try notes.value(for: "k") == "new")
    }
  }

  @Test func `optional values that are nil are values`() throws {
    let numbers = store.cache(of: Int?.self, in: "numbers")
    try numbers.set(nil, for: "none")
    for _ in 0..<2 {
      let value: Int?? = try numbers.value(for: "none")
      #expect(value == .some(nil))
      #expect(try numbers.value(for: "absent") == Int??.none)
    }
    #expect(numbers.memory?.statistics.hits == 1)
  }

  @Test func `long keys that share a stored form are told apart`() throws {
    let notes = store.cache(codec, in: "notes")
    let keys = (0..<20).map { String(repeating: "k", count: 300) + "\($0)" } + ["", "a", "ab"]
    for key in keys where !key.isEmpty { try notes.set(key, for: key) }
    for _ in 0..<2 {
      for key in keys { #expect(try notes.value(for: key) == (key.isEmpty ? nil : key)) }
    }
    #expect(codec.decoded == 22)
  }

  @Test func `after closing nothing is given any more`() throws {
    try withTemporaryDirectory { path in
      var store = try Store(at: path + "/s")
      var notes = store.cache(codec, in: "notes")
      try notes.set("v", for: "k")
      for _ in 0..<3 { #expect(try notes.value(for: "k") == "v") }
      try store.close()
      #expect(failure { _ = try notes.value(for: "k") } == .closed)
      #expect(notes.memory?.usage == MemoryUsage())
      store = try Store(at: path + "/s")
      notes = store.cache(codec, in: "notes")
      #expect(try notes.value(for: "k") == "v")
      #expect(try notes.namespace.reads.memoryHits == 2 && notes.namespace.reads.hits == 4)
      try store.close()
    }
  }

  @Test func `without memory each read decodes`() throws {
    let notes = store.cache(codec, in: "notes", memory: MemoryLimits.off)
    #expect(notes.memory == nil)
    try notes.set("v", for: "k")
    for _ in 0..<3 { #expect(try notes.value(for: "k") == "v") }
    #expect(codec.decoded == 3)
    #expect(try notes.namespace.reads.memoryHits == 0)
    #expect(try store.statistics().namespaces.first?.memory == nil)
  }

  @Test func `caches share a memory if their codecs are alike`() throws {
    let colors = store.cache(of: Color.self, in: "colors")
    #expect(store.cache(of: Color.self, in: "colors").memory === colors.memory)
    #expect(store.cache(of: Color.self, in: "others").memory !== colors.memory)
    #expect(store.cache(of: Int.self, in: "colors").memory !== colors.memory)
    #expect(store.cache(codec, in: "c").memory === store.cache(codec, in: "c").memory)
    #expect(store.cache(codec, in: "c").memory !== store.cache(CountingCodec(), in: "c").memory)
    #expect(store.cache(TextCodec(), in: "c").memory === store.cache(TextCodec(), in: "c").memory)
    let limits = MemoryLimits(cost: 5, entries: 2)
    #expect(store.cache(of: Color.self, in: "colors", memory: limits).memory?.limits == limits)
    #expect(colors.memory?.limits == limits)
    #expect(store.cache(of: Color.self, in: "colors").memory?.limits == limits)
  }

  @Test func `a memory that no cache uses and that keeps nothing is released`() throws {
    let held = store.cache(codec, in: "held")
    let copy = { held }()
    do {
      let kept = store.cache(codec, in: "kept")
      try kept.set("v", for: "k")
      #expect(try kept.value(for: "k") == "v")
    }
    for number in 0..<1000 { _ = store.cache(codec, in: "name\(number)") }
    let members = store.engine.memory.budget.members
    #expect(members.count <= 128)
    #expect(members.contains { $0 === held.memory } && copy.memory === held.memory)
    #expect(store.cache(codec, in: "held").memory === held.memory)
    #expect(store.engine.allHandles.count <= 256)
    #expect(try store.cache(codec, in: "kept").value(for: "k") == "v")
    #expect(codec.decoded == 1)
  }

  @Test func `a clear of some namespaces keeps the values of the others`() throws {
    let caches = ["a", "b"].map { store.cache(codec, in: $0) }
    for cache in caches {
      try cache.set("v", for: "k")
      #expect(try cache.value(for: "k") == "v")
    }
    _ = try store.clear { $0 == "a" }
    #expect(caches.map { $0.memory?.usage.entries } == [0, 1])
    #expect(try caches[0].value(for: "k") == nil && caches[1].value(for: "k") == "v")
    #expect(codec.decoded == 2)
  }

  @Test func `very many memories that no cache uses are released with their values`() throws {
    let held = store.cache(codec, in: "held")
    let names = (0..<8200).map { "name\($0)" }
    try store.write { batch in
      for name in ["held"] + names { try batch.set("v", for: "k", in: store.namespace(name)) }
    }
    for name in ["held"] + names {
      #expect(try store.cache(codec, in: name).value(for: "k") == "v")
    }
    #expect(store.engine.memory.budget.members.count < 1000)
    #expect(store.engine.memory.budget.used < 1000)
    #expect(try held.value(for: "k") == "v")
    #expect(codec.decoded == 8201)
  }

  @Test func `the memories of unequal codecs of one namespace are released`() {
    for _ in 0..<255 { _ = store.cache(CountingCodec(), in: "notes") }
    #expect(store.engine.memory.budget.members.count <= 128)
  }

  @Test func `a codec nobody can compare has a memory that goes with its cache`() throws {
    struct Shift: Codec {
      let by: UInt8
      let id = CodecID(rawValue: 203)
      func encode(_ value: [UInt8]) -> [UInt8] { value.map { $0 &+ by } }
      func decode(_ bytes: Span<UInt8>) -> [UInt8] { bytes.copied.map { $0 &- by } }
    }
    for _ in 0..<2 {
      let one = store.cache(Shift(by: 1), in: "notes")
      let two = store.cache(Shift(by: 2), in: "notes")
      try one.set([5], for: "k")
      for _ in 0..<2 {
        #expect(try one.value(for: "k") == [5])
        #expect(try two.value(for: "k") == [4])
      }
      #expect(store.memory.usage.entries == 2)
    }
    #expect(store.memory.usage == MemoryUsage())
    #expect(try store.namespace("notes").reads.memoryHits == 4)
  }
}
