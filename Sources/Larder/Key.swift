import LMDB
import LarderSystem

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Something whose bytes can be a key: any 1 to 65,536 bytes, compared byte by byte and never normalised.
public protocol StoreKey {
  /// Calls `body` with the key's bytes.
  func withKeyBytes<Result: ~Copyable>(_ body: (Span<UInt8>) throws -> Result) throws -> Result
}

extension StoreKey {
  var copied: [UInt8] {
    get throws { try withKeyBytes { $0.copied } }
  }
}

/// A key as the store holds it, for keys that come out of listings.
public struct Key: StoreKey, Hashable, Comparable, Sendable {
  public static let longest = 65_536

  public var bytes: [UInt8]

  public init(_ bytes: [UInt8]) { self.bytes = bytes }
  public init(_ string: some StringProtocol) { bytes = Array(string.utf8) }

  /// The key as text; nil unless its bytes are UTF-8.
  public var string: String? { String(validating: bytes, as: UTF8.self) }

  public static func < (left: Key, right: Key) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }

  @inlinable
  public func withKeyBytes<Result: ~Copyable>(_ body: (Span<UInt8>) throws -> Result) throws
    -> Result
  {
    try body(bytes.span)
  }
}

extension Key: CustomStringConvertible {
  /// The text, or the bytes in hexadecimal.
  public var description: String {
    string ?? "hex:"
      + bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }
}

extension String: StoreKey {
  @inlinable
  public func withKeyBytes<Result: ~Copyable>(_ body: (Span<UInt8>) throws -> Result) throws
    -> Result
  {
    if #available(macOS 26, *) { return try body(utf8.span) }
    return try body(Array(utf8).span)
  }
}

extension Substring: StoreKey {
  @inlinable
  public func withKeyBytes<Result: ~Copyable>(_ body: (Span<UInt8>) throws -> Result) throws
    -> Result
  {
    if #available(macOS 26, *) { return try body(utf8.span) }
    return try body(Array(utf8).span)
  }
}

extension [UInt8]: StoreKey {
  @inlinable
  public func withKeyBytes<Result: ~Copyable>(_ body: (Span<UInt8>) throws -> Result) throws
    -> Result
  {
    try body(span)
  }
}

extension UUID: StoreKey {
  /// Its 16 bytes.
  public func withKeyBytes<Result: ~Copyable>(_ body: (Span<UInt8>) throws -> Result) throws
    -> Result
  {
    let (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) = uuid
    return try body([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p].span)
  }
}

extension StoreKey where Self: FixedWidthInteger {
  /// Big-endian with the sign bit turned, so that the order of bytes is the order of numbers.
  public func withKeyBytes<Result: ~Copyable>(_ body: (Span<UInt8>) throws -> Result) throws
    -> Result
  {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: Self.isSigned ? self ^ (1 << (Self.bitWidth - 1)) : self)
    return try body(bytes.span)
  }
}

extension Int: StoreKey {}
extension Int64: StoreKey {}
extension Int32: StoreKey {}
extension UInt: StoreKey {}
extension UInt64: StoreKey {}
extension UInt32: StoreKey {}
