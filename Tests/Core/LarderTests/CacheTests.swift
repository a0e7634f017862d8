import Foundation
import LarderSystem
import TestSupport
import Testing

@testable import Larder

struct Color: Codable, Equatable, Sendable {
  var id: Int
  var name: String
  var rgb: String?
}

@Suite struct CacheTests: StoreSuite {
  let fixture = StoreFixture()

  /// Encodes numbers as decimal text. The codec cannot encode an odd number, and cannot decode a text that is no number.
  struct EvenCodec: Codec {
    let id = CodecID(rawValue: 200)
    func encode(_ value: Int) throws -> [UInt8] {
      if value % 2 != 0 { throw Stop() }
      return Array(String(value).utf8)
    }
    func decode(_ bytes: Span<UInt8>) throws -> Int {
      guard let value = Int(String(decoding: bytes.copied, as: UTF8.self)) else { throw Stop() }
      return value
    }
  }

  @Test func `typed values come back as they were`() throws {
    let colors = store.cache(of: Color.self, in: "colors")
    #expect(try colors.namespace.info() == nil && colors.namespace.statistics() == nil)
    let red = Color(id: 4, name: "R\u{f6}t \"x\"", rgb: nil)
    try colors.set(red, for: 4)
    #expect(try colors.value(for: 4) == red)
    #expect(try colors.strictValue(for: 4) == red)
    #expect(try colors.value(for: 5) == nil)
    #expect(try colors.entry(for: 4)?.codec == .json)
    let bytes = store.cache(BytesCodec(), in: "bytes")
    let texts = store.cache(TextCodec(), in: "texts")
    let evens = store.cache(EvenCodec(), in: "evens")
    try bytes.set([0, 255], for: "k")
    try texts.set("caf\u{e9}", for: "k")
    try evens.set(42, for: "k")
    #expect(try bytes.value(for: "k") == [0, 255])
    #expect(try texts.value(for: "k") == "caf\u{e9}")
    #expect(try texts.withValue(for: "k") { $0.count } == 5)
    #expect(try evens.value(for: "k") == 42)
    #expect(try evens.entry(for: "k")?.codec.name == "200")
    #expect(try texts.entry(for: "k")?.codec == .text)
  }

  @Test func `a typed value can carry all that an entry can say, but for its codec`() async throws {
    let colors = store.cache(of: Color.self, in: "colors", rules: Rules(expires: .after(.days(1))))
    let red = Color(id: 4, name: "Red")
    let attributes = EntryAttributes.with(
      codec: .bytes, expires: .after(.hours(1)), stale: .hours(2), tags: ["a"], entityTag: [2],
      metadata: [1])
    try { try colors.set(red, for: 1, attributes) }()
    try await colors.set(red, for: 2, attributes)
    try store.write { try $0.set(red, for: 3, in: colors, attributes) }
    for key in 1...3 {
      let entry = try #require(try colors.entry(for: key))
      #expect(entry.codec == .json && entry.tags == ["a"])
      #expect(entry.metadata == [1] && entry.entityTag == [2])
      #expect(entry.expires == clock.now.advanced(by: .hours(1)))
      #expect(entry.staleUntil == clock.now.advanced(by: .hours(3)))
      #expect(try colors.value(for: key) == red)
    }
    #expect(try colors.namespace.info()?.declared.expires == .after(.days(1)))
    #expect(try store.invalidate(tag: "a").entries == 3)
    #expect(try colors.value(for: 1) == nil, "not from memory either")
  }

  @Test func `an undecodable value is a counted miss and gives way to the next write`() throws {
    let colors = store.cache(of: Color.self, in: "colors")
    try store.namespace("colors").set("{\"id\": \"not a number\"}", for: 4)
    for _ in 0..<2 { #expect(try colors.value(for: 4) == nil) }
    #expect(try store.read { moment in try moment.value(for: 4, in: colors) } == nil)
    #expect(failure { _ = try colors.strictValue(for: 4) } == .undecodable)
    let reads = try colors.namespace.reads
    #expect(reads.undecodable == 4 && reads.hits == 0 && reads.misses == 4)
    #expect(reads.hitRate == 0)
    #expect(try colors.setIfAbsent(Color(id: 4, name: "Red"), for: 4))
    #expect(try colors.value(for: 4)?.name == "Red")
    #expect(try !colors.setIfAbsent(Color(id: 4, name: "Blue"), for: 4))
    #expect(try colors.namespace.reads.hits == 1)
    try store.namespace("texts").set([0xFF], for: "k")
    #expect(try store.cache(TextCodec(), in: "texts").value(for: "k") == nil)
    #expect(try store.namespace("texts").reads.undecodable == 1)
  }

  @Test func `a value that cannot be encoded is an error of its own and changes nothing`() throws {
    let evens = store.cache(EvenCodec(), in: "evens")
    try evens.set(2, for: "k")
    #expect(failure { try evens.set(3, for: "k") } == .unencodable)
    #expect(failure { try evens.setIfAbsent(3, for: "n") } == .unencodable)
    let floats = store.cache(of: Double.self, in: "floats")
    #expect(failure { try floats.set(.infinity, for: "k") } == .unencodable)
    try store.write { batch in
      try batch.set(4, for: "k", in: evens)
      #expect(throws: LarderError.self) { try batch.set(5, for: "k", in: evens) }
    }
    #expect(try evens.value(for: "k") == 4)
    #expect(try store.namespaces().map(\.name) == ["evens"])
  }

  @Test func `the first write of a cache declares its rules, which hold for everybody`() throws {
    let rules = Rules(expires: .after(.minutes(1)))
    let colors = store.cache(of: Color.self, in: "colors", rules: rules)
    #expect(try colors.value(for: 1) == nil)
    #expect(try store.namespaces().isEmpty)
    try colors.set(Color(id: 1, name: "Blue"), for: 1)
    try store.write { batch in
      try batch.set(Color(id: 2, name: "Green"), for: 2, in: colors, expires: .never)
      try batch.set(Color(id: 3, name: "Teal"), for: 3, in: colors)
      try batch.remove(3, from: colors)
    }
    #expect(try store.namespaces()[0].declared == rules)
    let plain = store.cache(of: Color.self, in: "colors")
    try plain.set(Color(id: 4, name: "Red"), for: 4)
    clock.advance(by: .minutes(1))
    #expect(try [1, 2, 3, 4].map { try plain.contains($0) } == [false, true, false, false])
    #expect(try plain.touch(2) && plain.touch(2, expires: .never))
    #expect(try plain.touch(2, expires: .after(.zero)))
    #expect(try !plain.remove(2))
  }

  @Test func `a read does not decode what the caller does not want`() throws {
    let codec = CountingCodec()
    let cache = store.cache(codec, in: "c")
    try cache.set("v", for: "k")
    #expect(try cache.contains("k"))
    #expect(try cache.entry(for: "k")?.size == 1)
    #expect(try cache.touch("k", expires: .never))
    #expect(try cache.remove("k"))
    #expect(codec.decoded == 0)
  }

  @Test func `Data and bytes are stored as they are, by whatever way they come`() throws {
    func generic<Value: Codable & Sendable>(_ store: Store, _ value: Value) throws {
      try store.cache(of: Value.self, in: "raw").set(value, for: "generic")
    }
    let data = store.cache(of: Data.self, in: "raw")
    try data.set(Data([0, 255, 10]), for: "k")
    try generic(store, Data([7]))
    #expect(try store.namespace("raw").bytes("k") == [0, 255, 10])
    #expect(try store.namespace("raw").bytes("generic") == [7])
    #expect(try data.entry(for: "k")?.codec == .bytes)
    #expect(try store.cache(of: [UInt8].self, in: "raw").value(for: "k") == [0, 255, 10])
    #expect(try store.cache(DataCodec(), in: "raw").value(for: "k") == Data([0, 255, 10]))
  }
}
