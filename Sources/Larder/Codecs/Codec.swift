import LMDB
import LarderSystem

/// Encodes values of one type as bytes and decodes them.
public protocol Codec<Value>: Sendable {
  /// The type of the values.
  associatedtype Value: Sendable

  /// Stored with each entry, so that other programs such as the shell know how to show the value.
  var id: CodecID { get }
  /// The bytes of a value. An error becomes ``LarderError/Code/unencodable``.
  func encode(_ value: Value) throws -> [UInt8]
  /// The value of bytes. Throws if they do not encode one; the entry is then a miss until it is written again.
  func decode(_ bytes: Span<UInt8>) throws -> Value
  /// Whether decoding returns exactly the value that was encoded. A value that was just written is then kept in memory
  /// without being decoded. False by default.
  var isLossless: Bool { get }
}

extension Codec {
  /// False.
  public var isLossless: Bool { false }
}

/// Names the codec that wrote a value. 0 to 127 belong to Larder; 128 to 255 are free for applications.
public struct CodecID: RawRepresentable, Hashable, Sendable {
  /// The number in the entry.
  public let rawValue: UInt8

  /// The codec with that number.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Bytes without a known form.
  public static let bytes = CodecID(rawValue: 0)
  /// UTF-8.
  public static let text = CodecID(rawValue: 1)
  /// JSON.
  public static let json = CodecID(rawValue: 2)
  /// CBOR (RFC 8949).
  public static let cbor = CodecID(rawValue: 3)
  /// A version, and a value of another codec behind it; see ``VersionedCodec``.
  public static let versioned = CodecID(rawValue: 4)

  /// The codecs that have a name.
  private static let names: [(CodecID, String)] = [
    (.bytes, "bytes"), (.text, "text"), (.json, "json"), (.cbor, "cbor"),
    (.versioned, "versioned"),
  ]

  /// `bytes`, `text`, `json`, `cbor`, `versioned`, or the number.
  public var name: String { Self.names.first { $0.0 == self }?.1 ?? String(rawValue) }

  /// The codec of a ``name``; nil for an unknown word and for a number above 255.
  public init?(name: String) {
    if let known = Self.names.first(where: { $0.1 == name })?.0 {
      self = known
    } else if let number = UInt8(name) {
      rawValue = number
    } else {
      return nil
    }
  }
}
