public import Larder

/// Encodes values as CBOR (RFC 8949). CBOR is shorter than JSON, keeps numbers exact, and holds `Data` as bytes.
///
/// Properties are written in the order of their names, so equal values have equal bytes, except values with a `Set`, or with a
/// dictionary whose keys are neither strings nor integers. Other programs can read these bytes: maps with text as keys, arrays,
/// integers, floats, text, byte strings, true, false and null.
public struct CBORCodec<Value: Codable & Sendable>: Codec, Equatable {
  /// Whether every value is decoded as it was encoded. The caller of the initializer states this property.
  public let isLossless: Bool

  /// - Parameter isLossless: whether every value is decoded as it was encoded. Pass true if the synthesised coding of the type
  ///   includes every property; dates and floats are exact.
  public init(isLossless: Bool = false) { self.isLossless = isLossless }

  /// ``/Larder/CodecID/cbor``.
  public var id: CodecID { .cbor }

  /// Throws an `EncodingError` for a value that is nested deeper than 512, and for an `Int128` or `UInt128`.
  public func encode(_ value: Value) throws -> [UInt8] {
    let node = CBORNode()
    try CBOREncoder(node: node, codingPath: []).encode(value)
    var bytes: [UInt8] = []
    try node.append(to: &bytes)
    return bytes
  }

  /// Throws a `DecodingError` for bytes that are not CBOR, or do not hold a `Value`.
  public func decode(_ bytes: Span<UInt8>) throws -> Value {
    try CBORValue(bytes).decode(Value.self)
  }
}
