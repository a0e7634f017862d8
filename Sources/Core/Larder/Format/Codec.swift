import LarderSystem

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Encodes values of one type as bytes, and decodes the bytes.
public protocol Codec<Value>: Sendable {
  /// The type of the values.
  associatedtype Value: Sendable

  /// The format of the bytes. Every entry stores this number, so that other programs, such as the shell, can show the value.
  var id: CodecID { get }
  /// Encodes a value. An error reaches the writer as ``LarderError/Code/unencodable``.
  func encode(_ value: Value) throws -> [UInt8]
  /// Decodes a value. Throws if the bytes are not an encoded value: then reads return no value until the next write.
  func decode(_ bytes: Span<UInt8>) throws -> Value
  /// Whether decoding returns exactly the encoded value. If so, a write also keeps its value in memory. False by default.
  var isLossless: Bool { get }
}

extension Codec {
  /// The default: false.
  public var isLossless: Bool { false }
}

/// The number of the codec that wrote a value. 0 to 127 belong to Larder. Applications can use 128 to 255.
public struct CodecID: RawRepresentable, Hashable, Sendable {
  /// The number in the entry.
  public let rawValue: UInt8

  /// The codec with the number `rawValue`.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Bytes without a known format.
  public static let bytes = CodecID(rawValue: 0)
  /// UTF-8.
  public static let text = CodecID(rawValue: 1)
  /// JSON.
  public static let json = CodecID(rawValue: 2)
  /// CBOR (RFC 8949).
  public static let cbor = CodecID(rawValue: 3)
  /// A version, then a value of another codec; see `VersionedCodec` of the product `LarderCodecs`.
  public static let versioned = CodecID(rawValue: 4)

  private static let names: [(CodecID, String)] = [
    (.bytes, "bytes"), (.text, "text"), (.json, "json"), (.cbor, "cbor"), (.versioned, "versioned"),
  ]

  /// `bytes`, `text`, `json`, `cbor`, `versioned`, or the number.
  public var name: String { Self.names.first { $0.0 == self }?.1 ?? String(rawValue) }

  /// The codec with the ``name``. Nil for an unknown word, or for a number with a sign or above 255.
  package init?(name: String) {
    let known = Self.names.first { $0.1 == name }?.0
    let number = name.first?.isNumber == true ? UInt8(name) : nil
    guard let id = known ?? number.map({ CodecID(rawValue: $0) }) else { return nil }
    self = id
  }
}

/// Text as UTF-8.
public struct TextCodec: Codec {
  /// Makes the codec, which has no options.
  public init() {}

  /// ``CodecID/text``.
  public var id: CodecID { .text }
  /// True: decoding returns exactly the encoded text.
  public var isLossless: Bool { true }

  /// Encodes the text as UTF-8.
  public func encode(_ value: String) -> [UInt8] { Array(value.utf8) }

  /// Decodes the text. Throws if the bytes are not UTF-8.
  public func decode(_ bytes: Span<UInt8>) throws -> String {
    guard let text = String(validating: bytes.copied, as: UTF8.self) else {
      throw LarderError(.undecodable, "the value is not UTF-8")
    }
    return text
  }
}

package struct BytesCodec: Codec {
  package init() {}

  package var id: CodecID { .bytes }
  package var isLossless: Bool { true }

  package func encode(_ value: [UInt8]) -> [UInt8] { value }
  package func decode(_ bytes: Span<UInt8>) -> [UInt8] { bytes.copied }
}

/// Stores `Data` without a change. A ``BytesCodec`` reads the same values.
package struct DataCodec: Codec {
  package init() {}

  package var id: CodecID { .bytes }
  package var isLossless: Bool { true }

  package func encode(_ value: Data) -> [UInt8] { Array(value) }
  package func decode(_ bytes: Span<UInt8>) -> Data { Data(copying: bytes) }
}

/// Stores values as JSON, which the shell can show.
public struct JSONCodec<Value: Codable & Sendable>: Codec, Equatable {
  /// Whether decoding returns exactly the encoded value; see ``init(isLossless:)``.
  public let isLossless: Bool
  // The encoder and the decoder are kept, because making a new pair takes as long as one use of the pair.
  private let encoder: JSONEncoder
  private let decoder = JSONDecoder()

  /// Makes a codec. The JSON has sorted keys and unescaped slashes.
  ///
  /// - Parameter isLossless: whether every decoded value equals the encoded value. Pass true for structs of strings and
  ///   integers with synthesised coding, and false if the coding omits or rounds properties, such as dates.
  public init(isLossless: Bool = false) {
    self.isLossless = isLossless
    encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  /// Whether both codecs have the same options.
  public static func == (left: Self, right: Self) -> Bool { left.isLossless == right.isLossless }

  /// ``CodecID/json``.
  public var id: CodecID { .json }

  /// Encodes a value as JSON in UTF-8.
  public func encode(_ value: Value) throws -> [UInt8] { Array(try encoder.encode(value)) }

  /// Decodes JSON.
  public func decode(_ bytes: Span<UInt8>) throws -> Value {
    try decoder.decode(Value.self, from: Data(copying: bytes))
  }
}
