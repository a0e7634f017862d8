public import Larder
import LarderSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Values that carry the version of their type, so that a program can read values of an older program.
///
///     let colors = store.cache(of: Color.self, in: "colors", version: 2) { old in
///       let color = try old.decode(ColorWithoutHex.self)
///       return Color(name: color.name, hex: "000000")
///     }
///
/// Each value is 7 bytes longer than without a version. A value without a version has version 0. Raw bytes that begin with 0xFF
/// 0x01 look like a value with a version, so a cache of such bytes must use a versioned codec from the start. A program cannot
/// decode a value of a higher version than its own. A read of such a value is a miss, and the value stays stored until its key
/// is written again. `Docs/Internals/FileFormat.md` has the bytes.
public struct VersionedCodec<Base: Codec>: Codec {
  /// The values of the base codec.
  public typealias Value = Base.Value

  private let base: Base
  private let version: UInt32
  private let migrate: @Sendable (OlderValue) throws -> Base.Value

  /// - Parameters:
  ///   - version: the version of the values that are written; 1 or more. Raise it with each change of the type after which
  ///     earlier values cannot be decoded.
  ///   - migrate: converts a value of a lower version; if the closure throws, the read is a miss. The closure runs on any
  ///     thread, at each read from disk until the value is written again.
  public init(
    _ base: Base, version: UInt32, migrate: @escaping @Sendable (OlderValue) throws -> Base.Value
  ) {
    self.base = base
    self.version = version
    self.migrate = migrate
  }

  /// ``/Larder/CodecID/versioned``.
  public var id: CodecID { .versioned }
  /// Whether the base codec is lossless.
  public var isLossless: Bool { base.isLossless }

  /// Encodes the version, and then the value with the base codec.
  public func encode(_ value: Base.Value) throws -> [UInt8] {
    ValueEnvelope(codec: base.id, number: version).wrap(try base.encode(value))
  }

  /// Decodes a value. Migrates a value of a lower version or of another codec, and throws for a value of a higher version.
  public func decode(_ bytes: Span<UInt8>) throws -> Base.Value {
    guard let envelope = ValueEnvelope(bytes) else {
      return try migrate(OlderValue(version: 0, codec: base.id, bytes: bytes.copied))
    }
    let value = bytes.extracting(droppingFirst: ValueEnvelope.size)
    if envelope.number == version, envelope.codec == base.id { return try base.decode(value) }
    guard envelope.number <= version else {
      throw LarderError(
        .undecodable, "the value has version \(envelope.number), and this program knows \(version)",
        hint: "read it with the newer program, or write it again")
    }
    return try migrate(
      OlderValue(version: envelope.number, codec: envelope.codec, bytes: value.copied))
  }
}

/// Codecs are equal if their versions and bases are equal. Migrations are not compared, so give a version only one migration.
extension VersionedCodec: Equatable where Base: Equatable {
  /// Compares the versions and the bases.
  public static func == (left: Self, right: Self) -> Bool {
    left.version == right.version && left.base == right.base
  }
}

extension Store {
  /// A view of the namespace `name` as values of a `Codable` type that has changed. The values are stored as JSON with the
  /// version of the type; see ``VersionedCodec``.
  ///
  /// Caches of one type and version share their values in memory. For the other parameters see `cache(of:in:rules:memory:cost:)`.
  ///
  /// - Parameters:
  ///   - version: the version of the type; 1 or more.
  ///   - migrate: converts a value of a lower version; a value without a version has version 0.
  public func cache<Value: Codable & Sendable>(
    of type: Value.Type, in name: String, version: UInt32, rules: Rules? = nil,
    memory: MemoryLimits? = nil, cost: (@Sendable (Value) -> Int)? = nil,
    migrate: @escaping @Sendable (OlderValue) throws -> Value
  ) -> Cache<Value> {
    cache(
      VersionedCodec(JSONCodec<Value>(), version: version, migrate: migrate), in: name,
      rules: rules, memory: memory, cost: cost)
  }
}

/// A value that a lower version of the program wrote, for the migration of ``VersionedCodec``.
public struct OlderValue: Sendable {
  /// The version of the value; 0 for a value without a version.
  public let version: UInt32
  /// The codec that encoded the value. For a value without a version, the base of the ``VersionedCodec``, whatever codec wrote
  /// the value: if the namespace had another codec before, decode ``bytes``.
  public let codec: CodecID
  /// The value in the encoding of ``codec``.
  public let bytes: [UInt8]

  /// Decodes the value as an older type. Throws for a codec other than JSON and CBOR, and for bytes without a value of this type.
  public func decode<Old: Decodable>(_ type: Old.Type) throws -> Old {
    switch codec {
    case .json: return try JSONDecoder().decode(type, from: Data(bytes))
    case .cbor: return try CBORValue(bytes.span).decode(type)
    default:
      throw LarderError(
        .undecodable, "a value of codec \(codec.name) cannot be decoded as a \(Old.self)",
        hint: "decode its bytes")
    }
  }
}

/// The bytes in front of a value with a version.
///
///     byte 0    0xFF, which begins neither UTF-8 nor JSON nor CBOR
///          1    1: the value has a version
///          2    the codec of the value inside
///          3    4 bytes, little-endian: the version of the value's type
///          7    the value
package struct ValueEnvelope: Sendable {
  /// The number of bytes in front of the value.
  package static let size = 7

  /// The codec of the value inside.
  package var codec: CodecID
  package var number: UInt32

  func wrap(_ value: [UInt8]) -> [UInt8] {
    [0xFF, 1, codec.rawValue] + [UInt8](littleEndian: number) + value
  }
}

extension ValueEnvelope {
  /// Reads an envelope; nil for bytes without an envelope.
  package init?(_ bytes: Span<UInt8>) {
    guard bytes.count >= Self.size, bytes[0] == 0xFF, bytes[1] == 1 else { return nil }
    codec = CodecID(rawValue: bytes[2])
    number = bytes.halfWord(at: 3)
  }
}
