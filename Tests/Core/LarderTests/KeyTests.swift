import Foundation
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct KeyTests: StoreSuite {
  private enum Station: String, StoreKey { case thun, bern }
  private enum Line: Int, StoreKey { case one = 1 }
  let fixture = StoreFixture()

  @Test func `any bytes from 1 byte to 64 KiB are a key`() throws {
    var random = SeededRNG(seed: 7)
    var keys: [[UInt8]] = []
    for length in [1, 2, 237, 238, 239, 249, 250, 251, 254, 255, 256, 511, 512, 4096, 65_536] {
      keys += [0, 255].map { [UInt8](repeating: $0, count: length) } + [random.bytes(length)]
    }
    for (index, key) in keys.enumerated() { try notes.set("\(index)", for: key) }
    for (index, key) in keys.enumerated() { #expect(try notes.text(key) == "\(index)") }
    #expect(try notes.count() == keys.count)
    let listed = try notes.keysByPages(of: 7).map(\.bytes)
    #expect(Set(listed) == Set(keys) && listed.count == keys.count)
    for key in keys { #expect(try notes.remove(key)) }
    #expect(try notes.count() == 0)
  }

  @Test func `integers of every width are the same key, in the order of the numbers`() {
    let numbers: [Int64] = [
      .min, .min + 1, -1_000_000, -256, -255, -1, 0, 1, 9, 10, 127, 128, 255, 256, 65_536,
      .max - 1, .max,
    ]
    let keys = numbers.map { Key($0) }
    #expect(keys == keys.sorted() && Set(keys).count == keys.count)
    #expect(keys.map(\.integer) == numbers.map { Int($0) })
    #expect(keys.allSatisfy { $0.bytes.count == 9 && $0.string == nil })
    for number: Int8 in [-128, -1, 0, 1, 127] {
      let key = Key(Int64(number))
      #expect(Key(number) == key && Key(Int16(number)) == key)
      #expect(Key(Int32(number)) == key && Key(Int(number)) == key)
      #expect(Key(Int128(number)) == key)
      if number >= 0 {
        #expect(Key(UInt8(number)) == key && Key(UInt64(number)) == key)
        #expect(Key(UInt16(number)) == key && Key(UInt128(number)) == key)
      }
    }
    #expect(Key(UInt64.max) > Key(Int64.max) && Key(UInt64.max).integer == nil)
    #expect(Key(Int128.min) < Key(Int64.min))
    #expect(Key(Int128(Int64.min) - 1) < Key(Int64.min))
    #expect(Key(UInt128.max) > Key(UInt128(UInt64.max) + 1))
    #expect(Key(UInt128(UInt64.max) + 1) > Key(UInt64.max))
  }

  @Test func `random numbers keep their order, and no text is a number`() {
    var random = SeededRNG()
    for _ in 0..<10_000 {
      let (a, b) = (
        Int.random(in: .min ... .max, using: &random), Int.random(in: -99...99, using: &random)
      )
      #expect((Key(a) < Key(b)) == (a < b), "seed \(random.seed)")
    }
    for number in -300...300 { #expect(Key(number).string == nil) }
    #expect(Key("7") != Key(7) && Key("7").integer == nil)
    #expect(Key([0xF6, 0, 0, 0, 0, 0, 0, 0, 5] as [UInt8]).integer == nil)
  }

  @Test func `data, URLs, UUIDs and raw values are keys`() throws {
    let url = try #require(URL(string: "https://example.org/a?b=%C3%A9"))
    #expect(Key(url) == Key("https://example.org/a?b=%C3%A9"))
    #expect(Key(Data([0, 1, 255])).bytes == [0, 1, 255])
    #expect(Key(Data([9, 8, 7, 6])[1...2]).bytes == [8, 7])
    let uuid = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
    #expect(Key(uuid).bytes == (0..<16).map { UInt8($0) * 0x11 })
    #expect(Key(Station.thun) == Key("thun") && Key(Line.one) == Key(1))
    #expect(Key("substring".prefix(3)) == Key("sub"))
    let boards = store.cache(of: Int.self, in: "boards")
    try boards.set(1, for: Station.bern)
    try boards.set(2, for: url)
    try boards.set(3, for: Line.one)
    #expect(try boards.values(for: [Station.bern, .thun]) == [1, nil])
    #expect(try boards.value(for: "bern") == 1 && boards.value(for: UInt16(1)) == 3)
    #expect(try boards.value(for: url) == 2)
  }

  @Test func `every read misses an impossible key or name, every write refuses it`() async throws {
    let possible = store.cache(TextCodec(), in: "notes")
    try await possible.set("v", for: "k")
    let cases: [(Larder.Cache<String>, [UInt8])] = [
      (possible, []), (possible, Array(repeating: 1, count: 65_537)),
      (store.cache(TextCodec(), in: "no such @ name"), Array("k".utf8)),
      (store.cache(TextCodec(), in: ""), Array("k".utf8)),
      (store.cache(TextCodec(), in: String(repeating: "n", count: 101)), Array("k".utf8)),
    ]
    for (cache, key) in cases {
      let bytes = cache.namespace
      #expect(try cache.value(for: key) == nil && cache.strictValue(for: key) == nil)
      #expect(try cache.values(for: [key]) == [nil] && !cache.contains(key))
      #expect(try cache.entry(for: key) == nil && bytes.text(key) == nil)
      #expect(try bytes.withValue(for: key) { $0.count } == nil)
      let isThere = try store.read { snapshot in
        try snapshot.value(for: key, in: cache) != nil || snapshot.contains(key, in: bytes)
      }
      #expect(!isThere)
      #expect(try await !cache.remove(key))
      #expect(try await !cache.touch(key))
      #expect(try await !cache.namespace.pin(key))
      #expect(try await cache.pop(key) == nil)
      let options = LoadOptions(policy: .cacheOnly)
      let missing = await code { try await cache.value(for: key, options: options) { "v" } }
      #expect(missing == .notStored)
      #expect(failure { try cache.set("v", for: key) } == .invalidArgument)
      #expect(failure { try cache.setIfAbsent("v", for: key) } == .invalidArgument)
      #expect(failure { try bytes.increment(key) } == .invalidArgument)
      let loaded = try await cache.result(for: key, options: .committed) { "loaded" }
      #expect(loaded.value == "loaded" && !loaded.isCommitted)
      #expect((loaded.error as? LarderError)?.code == .invalidArgument)
    }
    #expect(try store.namespaces().map(\.name) == ["notes"])
  }

  @Test func `a date that is not a number is refused`() throws {
    let never = Date(timeIntervalSince1970: .nan)
    #expect(
      failure { try notes.set("v", for: "k", expires: .at(Timestamp(never))) } == .invalidArgument)
    let rules = Rules(expires: .at(Timestamp(never)))
    #expect(failure { try store.declare(rules, for: "n") } == .invalidArgument)
  }
}

@Suite struct KeyHashTests {
  @Test func `no two of a hundred thousand keys of all lengths collide`() {
    let hash = KeyHash()
    var hashes: Set<UInt64> = []
    for number in 0..<100_000 {
      let key = Array("\(number)".utf8) + [UInt8](repeating: 0, count: number % 40)
      hashes.insert(hash.hash(of: key.span))
    }
    #expect(hashes.count == 100_000)
  }

  @Test func `each byte of a key counts, and its length`() {
    let hash = KeyHash()
    for length in 0...70 {
      let key = [UInt8](repeating: 7, count: length)
      var hashes: Set<UInt64> = [hash.hash(of: key.span), hash.hash(of: (key + [0]).span)]
      for index in key.indices {
        let other = with(key) { $0[index] = 8 }
        hashes.insert(hash.hash(of: other.span))
      }
      #expect(hashes.count == length + 2, "length \(length)")
    }
  }

  /// The keys have the same checksum for every seed, because the first word of each key makes the product in the checksum 0.
  @Test func `keys that are chosen to collide do not`() {
    let first = [UInt8](littleEndian: 0xE703_7ED1_A0B4_28DB as UInt64)
    let keys = (0..<1000).map { first + [UInt8](littleEndian: UInt64($0)) }
    let seed = UInt64.random(in: .min ... .max)
    #expect(Set(keys.map { Checksum.of($0.span, seed: seed) }).count == 1)
    let hash = KeyHash()
    #expect(Set(keys.map { hash.hash(of: $0.span) }).count == keys.count)
  }

  @Test func `each cache has its own secrets`() {
    let key = Array("key".utf8)
    #expect(KeyHash().hash(of: key.span) != KeyHash().hash(of: key.span))
  }
}
