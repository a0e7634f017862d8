import LMDB
import LarderSystem

/// The bytes in front of a value that a codec has wrapped: a mark, what the wrapping is, and the codec of the value inside.
///
///     byte 0    0xFF, which begins neither UTF-8 nor JSON nor CBOR
///          1    the wrapping, see ``Kind``
///          2    the codec of the value inside
///          3    4 bytes, little-endian: a number whose meaning the wrapping decides
///          7    the value
package struct ValueEnvelope: Equatable, Sendable {
  /// The wrappings. The raw value is the byte in the envelope.
  package enum Kind: UInt8, Sendable {
    /// The number is the version of the value's type.
    case versioned = 1
  }

  /// The first byte.
  package static let mark: UInt8 = 0xFF
  /// Bytes in front of the value.
  package static let size = 7

  package var kind: Kind
  /// The codec of the value inside.
  package var codec: CodecID
  package var number: UInt32

  package init(_ kind: Kind, codec: CodecID, number: UInt32) {
    self.kind = kind
    self.codec = codec
    self.number = number
  }

  /// Nil for bytes without an envelope.
  package init?(_ bytes: Span<UInt8>) {
    guard bytes.count >= Self.size, bytes[0] == Self.mark, let kind = Kind(rawValue: bytes[1])
    else { return nil }
    self.kind = kind
    codec = CodecID(rawValue: bytes[2])
    number = bytes.halfWord(at: 3)
  }

  /// The envelope with `value` in it.
  package func wrap(_ value: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.size + value.count)
    bytes += [Self.mark, kind.rawValue, codec.rawValue]
    bytes.append(littleEndian: number)
    return bytes + value
  }
}
