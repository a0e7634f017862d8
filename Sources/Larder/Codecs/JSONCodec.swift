import LMDB
import LarderSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Values as JSON, which the shell can show.
public struct JSONCodec<Value: Codable & Sendable>: Codec, Equatable {
  /// The value that the initializer received.
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

  /// Decodes JSON.
  public func decode(_ bytes: Span<UInt8>) throws -> Value {
    try decoder.decode(Value.self, from: Data(copying: bytes))
  }
}
