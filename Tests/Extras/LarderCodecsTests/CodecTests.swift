import Foundation
import Larder
import LarderSystem
import LarderTesting
import TestSupport
import Testing

@testable import LarderCodecs

@Suite struct CodecTests {
  private struct Palette: Codable, Equatable, Sendable {
    enum Kind: String, Codable { case plain, metallic }
    var name = "Gr\u{FC}n \u{1F33F}"
    var numbers: [Int] = [0, 23, 24, 255, 256, 65_536, 1 << 40, .min, .max, -1, -256]
    var wide: UInt64 = .max
    var small: Int8 = -128
    var floats: [Double] = [0, -0.0, .pi, .infinity, .leastNonzeroMagnitude]
    var float: Float = 0.1
    var kind = Kind.metallic
    var optional: Int?
    var present: String? = "$null"
    var byNumber = [4: "red", -1: "none"]
    var nested: [String: [String: Bool]] = ["a": ["b": true], "": [:]]
    var data = Data([0, 255])
    var url: URL? = URL(string: "https://example.org/a?b=%20")
    var date = Date(timeIntervalSinceReferenceDate: 812_345_678.123_456_7)
    var id = UUID()
    var parts: [Palette]? = []
  }

  @Test func `CBOR returns every value exactly, also at the top`() throws {
    func returns<Value: Codable & Sendable & Equatable>(_ value: Value) throws {
      let codec = CBORCodec<Value>()
      let bytes = try codec.encode(value)
      let decoded = try codec.decode(bytes.span)
      #expect(decoded == value)
    }
    var palette = Palette()
    try returns(palette)
    palette.parts = [Palette(), Palette()]
    try returns(palette)
    try returns(7)
    try returns("")
    try returns([Int?]([nil, 4]))
    try returns(Int?.none)
    try returns(Data())
    try returns([[[UInt8]]]())
    try returns(Decimal(string: "1.10"))
  }

  @Test
  func `an error names its element, and a second container of a key continues the first`() throws {
    struct Failing: Encodable {
      func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(
          0, .init(codingPath: encoder.codingPath, debugDescription: ""))
      }
    }
    let encoder = CBOREncoder(node: CBORNode(), codingPath: [])
    let error = #expect(throws: EncodingError.self) { try encoder.encode([Failing()]) }
    guard case .invalidValue(_, let context)? = error else { return }
    #expect(context.codingPath.first?.intValue == 0)
    var outer = encoder.container(keyedBy: CBORKey.self)
    for name in ["a", "b"] {
      var inner = outer.nestedContainer(keyedBy: CBORKey.self, forKey: CBORKey(stringValue: "k"))
      try inner.encode(1, forKey: CBORKey(stringValue: name))
    }
    #expect(encoder.node.members["k"]?.members.count == 2)
  }

  /// Examples of RFC 8949, appendix A.
  @Test(arguments: [
    ("1818", CBORValue.unsigned(24)), ("1bffffffffffffffff", .unsigned(.max)),
    ("3bffffffffffffffff", .negative(.max)), ("3903e7", .negative(999)),
    ("f90001", .float(5.9604645e-8)), ("f93c00", .float(1)), ("f9c400", .float(-4)),
    ("f97c00", .float(.infinity)), ("fa47c35000", .float(100_000)),
    ("fb3ff199999999999a", .double(1.1)), ("f4", .bool(false)), ("f6", .null), ("f7", .null),
    ("c11a514b67b0", .unsigned(1_363_896_240)), ("4401020304", .bytes([1, 2, 3, 4])),
    ("62c3bc", .text("\u{FC}")), ("5f42010243030405ff", .bytes([1, 2, 3, 4, 5])),
    ("7f657374726561646d696e67ff", .text("streaming")), ("9fff", .array([])),
    ("83010203", .array([.unsigned(1), .unsigned(2), .unsigned(3)])),
    (
      "bf61610161629f0203ffff",
      .map(["a": .unsigned(1), "b": .array([.unsigned(2), .unsigned(3)])])
    ),
  ]) func `the examples of the standard are read`(_ hex: String, _ value: CBORValue) throws {
    let bytes = Self.bytes(hex)
    let read = try CBORValue(bytes.span)
    #expect(read == value)
  }

  @Test(arguments: [
    "", "18", "1c00", "5bffffffffffffffff00", "9bffffffffffffffff", "bbffffffffffffffff", "5f01ff",
    "5f5f41ffff", "9f01", "7f61", "61ff", "a1", "a10102", "a2616101616102", "f8ff", "ff", "0000",
    "d8", "bf6161ff",
  ]) func `bytes that are not CBOR are an error`(_ hex: String) {
    let bytes = Self.bytes(hex)
    #expect(throws: DecodingError.self) { try CBORValue(bytes.span) }
  }

  @Test func `nesting is bounded in both directions`() throws {
    struct List: Codable, Sendable {
      var items: [List]
      init(depth: Int) { items = depth == 0 ? [] : [List(depth: depth - 1)] }
      init(from decoder: any Decoder) throws {
        items = try decoder.singleValueContainer().decode([List].self)
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(items)
      }
    }
    struct Boxes: Codable {
      func encode(to encoder: any Encoder) throws {
        var box = encoder.unkeyedContainer()
        for _ in 0..<600 { box = box.nestedUnkeyedContainer() }
      }
    }
    let codec = CBORCodec<List>()
    let fits = [UInt8](repeating: 0x81, count: CBORValue.deepest) + [0x80]
    _ = try codec.decode(fits.span)
    for head: UInt8 in [0x81, 0xC1, 0x9F] {
      let tooDeep = [UInt8](repeating: head, count: 1_000_000) + [0x80]
      #expect(throws: DecodingError.self) { try codec.decode(tooDeep.span) }
    }
    _ = try codec.encode(List(depth: 500))
    let error = #expect(throws: EncodingError.self) { try codec.encode(List(depth: 600)) }
    if case .invalidValue(let value, _)? = error { #expect(value is Any.Type) }
    #expect(throws: EncodingError.self) { try CBORCodec<Boxes>().encode(Boxes()) }
    #expect(throws: EncodingError.self) { try CBORCodec<Int128>().encode(1) }
  }

  @Test func `no damage to CBOR is more than an error`() throws {
    var rng = SeededRNG(seed: TestSettings.seed)
    let palette = with(Palette()) { $0.parts = [Palette()] }
    let codec = CBORCodec<Palette>()
    let whole = try codec.encode(palette)
    #expect(try codec.encode(palette) == whole, "equal values have equal bytes")
    var failures = 0
    let rounds = 20_000 * TestSettings.trials
    for _ in 0..<rounds {
      var bytes = whole
      for _ in 0..<rng.next(in: 1..<4) {
        let place = rng.next(in: 0..<bytes.count)
        switch rng.next(in: 0..<4) {
        case 0: bytes[place] = UInt8(rng.next(in: 0..<256))
        case 1:
          bytes[place] = [0x1B, 0x5B, 0x9B, 0xBB, 0xFF, 0x9F, 0x5F, 0xF9].randomElement(
            using: &rng)!
        case 2: bytes.removeSubrange(place...)
        default: bytes.insert(UInt8(rng.next(in: 0..<256)), at: place)
        }
        if bytes.isEmpty { bytes = [0] }
      }
      do { _ = try codec.decode(bytes.span) } catch { failures += 1 }
    }
    #expect(failures > rounds / 4, "seed \(rng.seed)")
  }

  @Test func `the codecs conform`() async throws {
    let palettes = [Palette(), Palette(name: "", numbers: [], parts: [Palette()])]
    try await checkConformance(of: CBORCodec<Palette>(isLossless: true), with: palettes)
    try await checkConformance(of: CBORCodec<[[String: Int]]>(), with: [[], [["a": 1], [:]]])
    let versioned = VersionedCodec(CBORCodec<Palette>(), version: 2) { try $0.decode(Palette.self) }
    try await checkConformance(of: versioned, with: palettes)
  }

  private struct One: Codable, Sendable { var name: String }
  private struct Two: Codable, Sendable, Equatable { var name: String, hex: String }
  private struct Unmigratable: Error {}

  private func secondCache(_ store: Store) -> Cache<Two> {
    store.cache(of: Two.self, in: "colors", version: 2) { old in
      guard old.version > 0 || old.codec == .json else { throw Unmigratable() }
      return Two(name: try old.decode(One.self).name, hex: "v\(old.version)")
    }
  }

  @Test func `an added field is not a miss`() throws {
    try withTemporaryStore { store, _ in
      try store.cache(of: One.self, in: "colors").set(One(name: "red"), for: "unversioned")
      let first = store.cache(of: One.self, in: "colors", version: 1) { try $0.decode(One.self) }
      try first.set(One(name: "blue"), for: "first")
      let binary = VersionedCodec(CBORCodec<One>(), version: 1) { try $0.decode(One.self) }
      try store.cache(binary, in: "colors").set(One(name: "teal"), for: "binary")
      let second = secondCache(store)
      try second.set(Two(name: "lime", hex: "00ff00"), for: "second")
      #expect(try second.value(for: "unversioned") == Two(name: "red", hex: "v0"))
      #expect(try second.value(for: "first") == Two(name: "blue", hex: "v1"))
      #expect(try second.value(for: "binary") == Two(name: "teal", hex: "v1"))
      #expect(try second.value(for: "second") == Two(name: "lime", hex: "00ff00"))
      #expect(try second.namespace.statistics()?.reads.undecodable == 0)
      #expect(try second.entry(for: "first")?.codec == .versioned)
      #expect(secondCache(store).memory === second.memory, "one version is one memory")
      // The older program does not read the newer value as a value of its own type.
      #expect(try first.value(for: "second") == nil)
      #expect(throws: LarderError.self) { try first.strictValue(for: "second") }
      #expect(try first.pop("second") == nil)
      #expect(try second.value(for: "second")?.hex == "00ff00", "and it stays")
      #expect(try second.pop("second")?.hex == "00ff00" && !second.contains("second"))
    }
  }

  @Test func `a damaged version is a miss`() throws {
    try withTemporaryStore { store, _ in
      let cache = secondCache(store)
      let wrapped = ValueEnvelope(codec: .versioned, number: 1).wrap([0xFF, 1, 2])
      for (index, bytes) in [
        [], [0xFF], [0xFF, 1, 2, 2, 0, 0], [0xFF, 9, 2, 2, 0, 0, 0, 1], wrapped,
      ]
      .enumerated() {
        try cache.namespace.set(bytes, for: index, EntryAttributes(codec: .versioned))
        #expect(try cache.value(for: index) == nil)
      }
      #expect(try cache.namespace.statistics()?.reads.undecodable == 5)
    }
  }

  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count, by: 2).map {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)!
    }
  }
}
