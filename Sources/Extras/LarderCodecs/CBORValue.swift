import LarderSystem

/// A data item of CBOR (RFC 8949) without its tags. The cases are the kinds of items that `Codable` needs and the shell shows.
package indirect enum CBORValue: Equatable, Sendable {
  case unsigned(UInt64)
  /// The value is -1 minus this number.
  case negative(UInt64)
  case bytes([UInt8])
  case text(String)
  case array([CBORValue])
  case map([String: CBORValue])
  case bool(Bool)
  case null
  case float(Float)
  case double(Double)

  /// The deepest nesting of an item. Deeper items are refused, because reading or decoding them could exhaust the stack.
  package static let deepest = 512

  /// Reads an item that fills `bytes` exactly. The memory is in proportion to `bytes`, even if a length in `bytes` is wrong.
  package init(_ bytes: Span<UInt8>) throws(DecodingError) {
    var reader = CBORReader(bytes)
    self = try reader.item(depth: 0)
    guard reader.isAtEnd else { throw reader.flaw("bytes follow the value") }
  }
}

/// Reads data items one after the other. Every length is checked against the bytes that are left.
private struct CBORReader: ~Escapable {
  private let bytes: Span<UInt8>
  private var offset = 0

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  var isAtEnd: Bool { offset == bytes.count }

  func flaw(_ reason: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: "not CBOR at byte \(offset): \(reason)"))
  }

  /// The next item. If a tag (section 3.4) precedes the item, the tag is skipped, because readers need only the content.
  mutating func item(depth: Int) throws(DecodingError) -> CBORValue {
    guard depth <= CBORValue.deepest else { throw flaw("nested too deeply") }
    let (major, info) = try initial()
    switch major {
    case 0: return .unsigned(try argument(info))
    case 1: return .negative(try argument(info))
    case 2: return .bytes(try string(info, major))
    case 3:
      guard let text = String(validating: try string(info, major), as: UTF8.self) else {
        throw flaw("text that is not UTF-8")
      }
      return .text(text)
    case 4: return .array(try array(info, depth))
    case 5: return .map(try map(info, depth))
    case 6:
      _ = try argument(info)
      return try item(depth: depth + 1)
    default: return try simple(info)
    }
  }

  private mutating func initial() throws(DecodingError) -> (major: UInt8, info: UInt8) {
    guard offset < bytes.count else { throw flaw("a value is missing") }
    defer { offset += 1 }
    return (bytes[offset] >> 5, bytes[offset] & 31)
  }

  private mutating func number(_ count: Int) throws(DecodingError) -> UInt64 {
    guard count <= bytes.count - offset else { throw flaw("a number is cut short") }
    var number: UInt64 = 0
    for index in offset..<offset + count { number = number << 8 | UInt64(bytes[index]) }
    offset += count
    return number
  }

  /// The argument of an item: a number or a length (section 3).
  private mutating func argument(_ info: UInt8) throws(DecodingError) -> UInt64 {
    switch info {
    case 0..<24: return UInt64(info)
    case 24...27: return try number(1 << Int(info - 24))
    default: throw flaw("an unknown length")
    }
  }

  /// The number of elements, at most one for each byte that is left; nil for an indefinite number (section 3.2).
  private mutating func count(_ info: UInt8) throws(DecodingError) -> Int? {
    if info == 31 { return nil }
    let claimed = try argument(info)
    guard claimed <= UInt64(bytes.count - offset) else { throw flaw("longer than the value") }
    return Int(claimed)
  }

  /// Whether the end of an indefinite item is next. If so, skips the end.
  private mutating func breaks() throws(DecodingError) -> Bool {
    guard offset < bytes.count else { throw flaw("an end is missing") }
    guard bytes[offset] == 0xFF else { return false }
    offset += 1
    return true
  }

  private mutating func isOpen(_ count: Int?, after read: Int) throws(DecodingError) -> Bool {
    if let count { return read < count }
    return try !breaks()
  }

  private mutating func string(_ info: UInt8, _ major: UInt8) throws(DecodingError) -> [UInt8] {
    if let count = try count(info) {
      defer { offset += count }
      return bytes.extracting(offset..<offset + count).copied
    }
    var whole: [UInt8] = []
    while try !breaks() {
      let part = try initial()
      guard part.major == major, part.info != 31 else { throw flaw("a part of another kind") }
      whole += try string(part.info, major)
    }
    return whole
  }

  private mutating func array(_ info: UInt8, _ depth: Int) throws(DecodingError) -> [CBORValue] {
    let count = try count(info)
    var items: [CBORValue] = []
    while try isOpen(count, after: items.count) { items.append(try item(depth: depth + 1)) }
    return items
  }

  private mutating func map(
    _ info: UInt8, _ depth: Int
  ) throws(DecodingError) -> [String: CBORValue] {
    let count = try count(info)
    var pairs: [String: CBORValue] = [:]
    while try isOpen(count, after: pairs.count) {
      guard case .text(let key) = try item(depth: depth + 1) else {
        throw flaw("a key that is not text")
      }
      guard pairs.updateValue(try item(depth: depth + 1), forKey: key) == nil else {
        throw flaw("a key occurs twice")
      }
    }
    return pairs
  }

  private mutating func simple(_ info: UInt8) throws(DecodingError) -> CBORValue {
    switch info {
    case 20: return .bool(false)
    case 21: return .bool(true)
    // Swift has no undefined value, so undefined is read as null.
    case 22, 23: return .null
    case 25: return .float(Self.half(UInt16(try number(2))))
    case 26: return .float(Float(bitPattern: UInt32(try number(4))))
    case 27: return .double(Double(bitPattern: try number(8)))
    default: throw flaw("an unknown simple value")
    }
  }

  /// Converts a number of binary16 (appendix D) by hand, because Swift has no `Float16` on some machines.
  private static func half(_ bits: UInt16) -> Float {
    let exponent = Int(bits >> 10 & 31)
    let fraction = Float(bits & 1023)
    let size: Float =
      switch exponent {
      case 0: fraction / 16_777_216
      case 31: fraction == 0 ? .infinity : .nan
      default: Float(sign: .plus, exponent: exponent - 25, significand: fraction + 1024)
      }
    return bits >> 15 == 0 ? size : -size
  }
}
