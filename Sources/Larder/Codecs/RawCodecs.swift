import LMDB
import LarderSystem

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

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

/// `Data` as it is.
public struct DataCodec: Codec {
  /// The codec has no options.
  public init() {}

  /// ``CodecID/bytes``: a ``BytesCodec`` reads the same values.
  public var id: CodecID { .bytes }
  /// True.
  public var isLossless: Bool { true }

  /// The bytes as they are.
  public func encode(_ value: Data) -> [UInt8] { Array(value) }
  /// A copy of the bytes.
  public func decode(_ bytes: Span<UInt8>) -> Data { Data(copying: bytes) }
}
