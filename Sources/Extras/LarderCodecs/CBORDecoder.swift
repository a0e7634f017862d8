import LarderSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension CBORValue {
  /// Decodes the item as a value of `type`. Throws a `DecodingError` if the item does not hold a value of this type.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try CBORDecoder(item: self, codingPath: []).decode(type)
  }

  fileprivate var kind: String {
    switch self {
    case .unsigned, .negative: "an integer"
    case .bytes: "a byte string"
    case .text: "text"
    case .array: "an array"
    case .map: "a map"
    case .bool: "true or false"
    case .null: "null"
    case .float, .double: "a float"
    }
  }
}

/// Decodes an item. This type is also the container of a single value.
struct CBORDecoder: Decoder, SingleValueDecodingContainer {
  let item: CBORValue
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .map(let items) = item else { throw mismatch([String: CBORValue].self) }
    return KeyedDecodingContainer(CBORKeyedDecoder<Key>(items: items, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let items) = item else { throw mismatch([CBORValue].self) }
    return CBORUnkeyedDecoder(items: items, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { item == .null }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    guard let value = try scalar(type) else { return try Value(from: self) }
    guard let value = value as? Value else { throw mismatch(type) }
    return value
  }

  /// The value of the item if CBOR has its own form for `type`; nil if `type` is decoded through containers.
  private func scalar(_ type: any Decodable.Type) throws -> Any? {
    if type == Bool.self {
      guard case .bool(let value) = item else { throw mismatch(type) }
      return value
    }
    if type == String.self { return try text(type) }
    if type == Double.self { return try float(Double.self) }
    if type == Float.self { return try float(Float.self) }
    if type == Data.self {
      guard case .bytes(let bytes) = item else { throw mismatch(type) }
      return Data(bytes)
    }
    if type == URL.self {
      guard let url = URL(string: try text(type)) else { throw mismatch(type) }
      return url
    }
    if let integer = type as? any CBORInteger.Type { return try number(integer) }
    return nil
  }

  private func text(_ type: Any.Type) throws -> String {
    guard case .text(let text) = item else { throw mismatch(type) }
    return text
  }

  private func number<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
    let number: Number? =
      switch item {
      case .unsigned(let number): Number(exactly: number)
      case .negative(let number): number > UInt64(Int64.max) ? nil : Number(exactly: ~Int64(number))
      default: throw mismatch(type)
      }
    guard let number else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: codingPath, debugDescription: "the number does not fit \(type)"))
    }
    return number
  }

  private func float<Number: BinaryFloatingPoint>(_ type: Number.Type) throws -> Number {
    switch item {
    case .float(let number): return Number(number)
    case .double(let number): return Number(number)
    case .unsigned(let number): return Number(number)
    case .negative(let number): return -1 - Number(number)
    default: throw mismatch(type)
    }
  }

  private func mismatch(_ type: Any.Type) -> DecodingError {
    .typeMismatch(
      type, .init(codingPath: codingPath, debugDescription: "the value is \(item.kind)"))
  }
}

private struct CBORKeyedDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let items: [String: CBORValue]
  let codingPath: [any CodingKey]

  var allKeys: [Key] { items.keys.compactMap(Key.init(stringValue:)) }
  func contains(_ key: Key) -> Bool { items[key.stringValue] != nil }

  private func decoder(_ key: any CodingKey) throws -> CBORDecoder {
    guard let item = items[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "the map has no such key"))
    }
    return CBORDecoder(item: item, codingPath: codingPath + [key])
  }

  func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decoder(key).decode(type)
  }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }
  func superDecoder() throws -> any Decoder { try decoder(CBORKey(stringValue: "super")) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
}

private struct CBORUnkeyedDecoder: UnkeyedDecodingContainer {
  let items: [CBORValue]
  let codingPath: [any CodingKey]
  var currentIndex = 0

  var count: Int? { items.count }
  var isAtEnd: Bool { currentIndex >= items.count }

  /// Decodes the present element and moves to the next element. If the decoding fails, the container does not move.
  private mutating func next<Result>(
    _ type: Any.Type = Never.self, _ decode: (CBORDecoder) throws -> Result
  ) throws -> Result {
    let path = codingPath + [CBORKey(intValue: currentIndex)]
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type, .init(codingPath: path, debugDescription: "the array has no more elements"))
    }
    let result = try decode(CBORDecoder(item: items[currentIndex], codingPath: path))
    currentIndex += 1
    return result
  }

  mutating func decodeNil() throws -> Bool {
    let isNil = try next { $0.decodeNil() }
    if !isNil { currentIndex -= 1 }
    return isNil
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try next(type) { try $0.decode(type) }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> { try next(type) { try $0.container(keyedBy: type) } }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try next { $0 } }
}
