import LMDB
import LarderSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How values of one type become bytes and back.
public protocol Codec<Value>: Sendable {
  associatedtype Value: Sendable

  /// What is noted in each entry, so that a shell knows what it looks at.
  var id: CodecID { get }
  func encode(_ value: Value) throws -> [UInt8]
  /// Throws for bytes that are no such value; the entry is then a miss until it is written again.
  func decode(_ bytes: Span<UInt8>) throws -> Value
  /// Whether decoding gives back what was encoded, to the last bit. A value that was just written is then read without
  /// decoding it. False unless the codec says otherwise.
  var isLossless: Bool { get }
}

extension Codec {
  public var isLossless: Bool { false }
}

/// Which codec wrote a value. 0 to 127 are Larder's; others are free for applications.
public struct CodecID: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let bytes = CodecID(rawValue: 0)
  public static let text = CodecID(rawValue: 1)
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
  public let isLossless: Bool
  // Making these costs as much as using them once.
  private let encoder: JSONEncoder
  private let decoder = JSONDecoder()

  /// - Parameter isLossless: whether each value comes back from JSON as it was. True for structs of texts, whole numbers
  ///   and the like whose coding the compiler wrote; not for properties that are left out, or rounded as dates may be.
  public init(isLossless: Bool = false) {
    self.isLossless = isLossless
    encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  public static func == (left: Self, right: Self) -> Bool { left.isLossless == right.isLossless }

  public var id: CodecID { .json }

  public func encode(_ value: Value) throws -> [UInt8] {
    Array(try encoder.encode(value))
  }

  public func decode(_ bytes: Span<UInt8>) throws -> Value {
    try decoder.decode(Value.self, from: Data(bytes.copied))
  }
}

/// Text as UTF-8.
public struct TextCodec: Codec {
  public init() {}

  public var id: CodecID { .text }
  public var isLossless: Bool { true }

  public func encode(_ value: String) -> [UInt8] { Array(value.utf8) }

  public func decode(_ bytes: Span<UInt8>) throws -> String {
    guard let text = String(validating: bytes.copied, as: UTF8.self) else {
      throw LarderError(.undecodable, "the value is not UTF-8")
    }
    return text
  }
}

/// Bytes as they are.
public struct BytesCodec: Codec {
  public init() {}

  public var id: CodecID { .bytes }
  public var isLossless: Bool { true }

  public func encode(_ value: [UInt8]) -> [UInt8] { value }
  public func decode(_ bytes: Span<UInt8>) -> [UInt8] { bytes.copied }
}
