import LMDB
import LarderSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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

  /// `bytes`, `text`, `json`, or the number.
  public var name: String {
    switch self {
    case .bytes: "bytes"
    case .text: "text"
    case .json: "json"
    default: String(rawValue)
    }
  }
}

/// Values as JSON, which the shell can show.
public struct JSONCodec<Value: Codable & Sendable>: Codec, Equatable {
  /// As the initializer was told.
  public let isLossless: Bool
  // Making these costs as much as using them once.
  private let encoder: JSONEncoder
  private let decoder = JSONDecoder()

  /// Keys are sorted, slashes are not escaped.
  ///
  /// - Parameter isLossless: whether every value is decoded as it was encoded. True for structs of strings and integers
  ///   with synthesised coding; false if properties are left out, or rounded as dates may be.
  public init(isLossless: Bool = false) {
    self.isLossless = isLossless
    encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  /// Codecs of a type are equal if their options are.
  public static func == (left: Self, right: Self) -> Bool { left.isLossless == right.isLossless }

  /// ``CodecID/json``.
  public var id: CodecID { .json }

  /// JSON as UTF-8.
  public func encode(_ value: Value) throws -> [UInt8] {
    Array(try encoder.encode(value))
  }

  /// The value of JSON.
  public func decode(_ bytes: Span<UInt8>) throws -> Value {
    try decoder.decode(Value.self, from: Data(bytes.copied))
  }
}

/// Text as UTF-8.
public struct TextCodec: Codec {
  /// The codec has no options.
  public init() {}

  /// ``CodecID/text``.
  public var id: CodecID { .text }
  /// True.
  public var isLossless: Bool { true }

  /// UTF-8.
  public func encode(_ value: String) -> [UInt8] { Array(value.utf8) }

  /// The text; throws for bytes that are not UTF-8.
  public func decode(_ bytes: Span<UInt8>) throws -> String {
    guard let text = String(validating: bytes.copied, as: UTF8.self) else {
      throw LarderError(.undecodable, "the value is not UTF-8")
    }
    return text
  }
}

/// Bytes as they are.
public struct BytesCodec: Codec {
  /// The codec has no options.
  public init() {}

  /// ``CodecID/bytes``.
  public var id: CodecID { .bytes }
  /// True.
  public var isLossless: Bool { true }

  /// The bytes as they are.
  public func encode(_ value: [UInt8]) -> [UInt8] { value }
  /// A copy of the bytes.
  public func decode(_ bytes: Span<UInt8>) -> [UInt8] { bytes.copied }
}
