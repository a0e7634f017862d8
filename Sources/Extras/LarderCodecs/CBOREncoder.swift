import LarderSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A data item that encoders fill step by step. The containers and the encoders of the item share this object.
final class CBORNode {
  enum Content {
    case none
    case scalar(CBORValue)
    case array
    case map
  }

  var content = Content.none
  var elements: [CBORNode] = []
  var members: [String: CBORNode] = [:]

  /// Appends the item. If the value has encoded nothing, appends an empty map, as for a type without properties.
  func append(to bytes: inout [UInt8], depth: Int = 0) throws {
    guard depth <= CBORValue.deepest else { throw CBORValue.tooDeep(self, []) }
    switch content {
    case .none: bytes.append(0xA0)
    case .scalar(let value): value.append(to: &bytes)
    case .array:
      Self.append(head: 4, UInt64(elements.count), to: &bytes)
      for node in elements { try node.append(to: &bytes, depth: depth + 1) }
    case .map:
      Self.append(head: 5, UInt64(members.count), to: &bytes)
      for (key, node) in members.sorted(by: { $0.key < $1.key }) {
        CBORValue.text(key).append(to: &bytes)
        try node.append(to: &bytes, depth: depth + 1)
      }
    }
  }

  /// Appends a major type and its argument in the shortest form (RFC 8949, section 4.2.1).
  static func append(head major: UInt8, _ argument: UInt64, to bytes: inout [UInt8]) {
    switch argument {
    case 0..<24: bytes.append(major << 5 | UInt8(argument))
    case 0...0xFF: bytes += [major << 5 | 24, UInt8(argument)]
    case 0...0xFFFF:
      bytes.append(major << 5 | 25)
      bytes.append(bigEndian: UInt16(argument))
    case 0...0xFFFF_FFFF:
      bytes.append(major << 5 | 26)
      bytes.append(bigEndian: UInt32(argument))
    default:
      bytes.append(major << 5 | 27)
      bytes.append(bigEndian: argument)
    }
  }
}

extension CBORValue {
  /// Appends a single value. Nodes hold arrays and maps, so no value here is an array or a map.
  fileprivate func append(to bytes: inout [UInt8]) {
    switch self {
    case .unsigned(let number): CBORNode.append(head: 0, number, to: &bytes)
    case .negative(let number): CBORNode.append(head: 1, number, to: &bytes)
    case .bytes(let value):
      CBORNode.append(head: 2, UInt64(value.count), to: &bytes)
      bytes += value
    case .text(let text):
      CBORNode.append(head: 3, UInt64(text.utf8.count), to: &bytes)
      bytes += text.utf8
    case .bool(let value): bytes.append(value ? 0xF5 : 0xF4)
    case .null, .array, .map: bytes.append(0xF6)
    case .float(let number):
      bytes.append(0xFA)
      bytes.append(bigEndian: number.bitPattern)
    case .double(let number):
      bytes.append(0xFB)
      bytes.append(bigEndian: number.bitPattern)
    }
  }

  /// The error has the type in place of the value, because the text of a deep value could exhaust the stack.
  fileprivate static func tooDeep(_ value: Any, _ path: [any CodingKey]) -> EncodingError {
    .invalidValue(
      type(of: value), .init(codingPath: path, debugDescription: "nested deeper than \(deepest)"))
  }

  fileprivate init(_ number: some FixedWidthInteger) {
    self = number < 0 ? .negative(UInt64(bitPattern: ~Int64(number))) : .unsigned(UInt64(number))
  }
}

/// An integer type of the standard library, which becomes a number of CBOR. Each type has a specialized conversion. Another
/// integer type can have its own `Codable` coding.
protocol CBORInteger: FixedWidthInteger { var cbor: CBORValue { get } }

extension CBORInteger { var cbor: CBORValue { CBORValue(self) } }

extension Int: CBORInteger {}
extension Int8: CBORInteger {}
extension Int16: CBORInteger {}
extension Int32: CBORInteger {}
extension Int64: CBORInteger {}
extension UInt: CBORInteger {}
extension UInt8: CBORInteger {}
extension UInt16: CBORInteger {}
extension UInt32: CBORInteger {}
extension UInt64: CBORInteger {}

/// Encodes one value into a node. This type is also the container of a single value.
struct CBOREncoder: Encoder, SingleValueEncodingContainer {
  let node: CBORNode
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    node.content = .map
    return KeyedEncodingContainer(CBORKeyedEncoder<Key>(node: node, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    node.content = .array
    return CBORUnkeyedEncoder(node: node, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { node.content = .scalar(.null) }

  /// Encodes a value: as a scalar if CBOR has its type, otherwise by its `Codable` coding.
  func encode<Value: Encodable>(_ value: Value) throws {
    switch value {
    case let value as Bool: node.content = .scalar(.bool(value))
    case let value as String: node.content = .scalar(.text(value))
    case let value as Int: node.content = .scalar(CBORValue(value))
    case let value as Double: node.content = .scalar(.double(value))
    case let value as Float: node.content = .scalar(.float(value))
    case let value as Data: node.content = .scalar(.bytes(Array(value)))
    case let value as URL: node.content = .scalar(.text(value.absoluteString))
    case let value as any CBORInteger: node.content = .scalar(value.cbor)
    default:
      guard codingPath.count < CBORValue.deepest else { throw CBORValue.tooDeep(value, codingPath) }
      try value.encode(to: self)
    }
  }
}

private struct CBORKeyedEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: CBORNode
  let codingPath: [any CodingKey]

  private func encoder(_ key: any CodingKey, reusing old: CBORNode? = nil) -> CBOREncoder {
    let member = old ?? CBORNode()
    node.members[key.stringValue] = member
    return CBOREncoder(node: member, codingPath: codingPath + [key])
  }

  func encodeNil(forKey key: Key) { encoder(key).encodeNil() }
  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try encoder(key).encode(value)
  }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    encoder(key, reusing: node.members[key.stringValue]).container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder(key, reusing: node.members[key.stringValue]).unkeyedContainer()
  }
  func superEncoder() -> any Encoder { encoder(CBORKey(stringValue: "super")) }
  func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }
}

private struct CBORUnkeyedEncoder: UnkeyedEncodingContainer {
  let node: CBORNode
  let codingPath: [any CodingKey]
  var count: Int { node.elements.count }

  private func encoder() -> CBOREncoder {
    let element = CBORNode()
    node.elements.append(element)
    return CBOREncoder(node: element, codingPath: codingPath + [CBORKey(intValue: count - 1)])
  }

  func encodeNil() { encoder().encodeNil() }
  func encode<Value: Encodable>(_ value: Value) throws { try encoder().encode(value) }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> { encoder().container(keyedBy: type) }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
  func superEncoder() -> any Encoder { encoder() }
}

/// A key of a map, or the index of an element.
struct CBORKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = String(intValue)
    self.intValue = intValue
  }
}
