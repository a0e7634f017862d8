import LarderSystem

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A type whose values can be keys. A key has 1 to 65,536 bytes, which Larder compares byte by byte and never normalises.
///
/// | type | bytes |
/// | --- | --- |
/// | `String`, `Substring` | UTF-8 |
/// | integers of every width | 9 bytes in the order of the numbers; see below |
/// | `UUID` | its 16 bytes |
/// | `URL` | its absolute string as UTF-8 |
/// | `Data`, `[UInt8]`, ``Key`` | the same bytes |
/// | a type with a raw value that is a key | the bytes of the raw value |
///
/// An integer key begins with 0xF6 (negative) or 0xF7. The number follows in 8 bytes, big-endian, in two's complement. A number
/// that needs more than 64 bits begins with 0xF5 (negative) or 0xF8, and 16 bytes follow. So keys are in the order of the
/// numbers, and equal numbers of different types are equal keys. No string has an equal key: UTF-8 has none of the four bytes.
///
/// An enum with raw values conforms by its declaration: `enum Station: String, StoreKey { ... }`.
///
/// Listings are in the order of the keys, byte by byte. But keys with equal first 238 bytes are in no particular order if one has
/// more than 250 bytes. With an empty key or a key that is too long, reads and removals find nothing, and writes of a value throw
/// ``LarderError/Code/invalidArgument``.
public protocol StoreKey {
  /// Calls `body` with the key's bytes.
  func withKeyBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result
}

extension StoreKey { var copied: [UInt8] { withKeyBytes { $0.copied } } }

/// A key as bytes. Listings return keys in this form.
public struct Key: StoreKey, Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The most bytes that a key may have.
  public static let longest = 65_536

  /// The key's bytes.
  public var bytes: [UInt8]

  /// The key for `value`, such as a string, an integer or bytes.
  public init(_ value: some StoreKey) { bytes = value.copied }
  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The key as text; nil if the bytes are not UTF-8.
  public var string: String? { String(validating: bytes, as: UTF8.self) }

  /// The number of an integer key of 9 bytes; nil for other bytes, and for a number that does not fit in an `Int`.
  public var integer: Int? {
    guard bytes.count == 9 else { return nil }
    let number = bytes.span.bigEndian(at: 1, as: Int64.self)
    let sign = number < 0 ? IntegerKey.negative : IntegerKey.natural
    return bytes[0] == sign ? Int(exactly: number) : nil
  }

  /// Compares the keys byte by byte. Listings use this order.
  public static func < (left: Key, right: Key) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }

  /// Calls `body` with ``bytes``.
  @inlinable
  public func withKeyBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result { try body(bytes.span) }

  /// The text, or `hex:` and the bytes in hexadecimal.
  public var description: String {
    string ?? "hex:"
      + bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }

  static func validate(count: Int, in namespace: String) throws(LarderError) {
    guard (1...longest).contains(count) else {
      throw LarderError(
        .invalidArgument, "a key of \(count) bytes cannot be stored in namespace \(namespace)",
        hint: "use 1 to \(longest) bytes")
    }
  }
}

extension String: StoreKey {
  /// Calls `body` with the string's UTF-8.
  @inlinable
  public func withKeyBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if #available(macOS 26, *) { return try body(utf8.span) }
    return try body(Array(utf8).span)
  }
}

extension Substring: StoreKey {
  /// Calls `body` with the substring's UTF-8.
  @inlinable
  public func withKeyBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if #available(macOS 26, *) { return try body(utf8.span) }
    return try body(Array(utf8).span)
  }
}

extension [UInt8]: StoreKey {
  /// Calls `body` with the bytes.
  @inlinable
  public func withKeyBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result { try body(span) }
}

extension Data: StoreKey {
  /// Calls `body` with the bytes.
  public func withKeyBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result { try body([UInt8](self).span) }
}

extension UUID: StoreKey {
  /// Calls `body` with the 16 bytes.
  public func withKeyBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) = uuid
    return try body([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p].span)
  }
}

extension URL: StoreKey {
  /// Calls `body` with the UTF-8 of the absolute string. Normalises nothing, so two spellings of a URL are two keys.
  public func withKeyBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result { try absoluteString.withKeyBytes(body) }
}

extension StoreKey where Self: RawRepresentable, RawValue: StoreKey {
  /// Calls `body` with the bytes of the raw value.
  public func withKeyBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result { try rawValue.withKeyBytes(body) }
}

/// The first bytes of integer keys. UTF-8 contains none of these bytes, so no string has the bytes of an integer key.
private enum IntegerKey {
  static let wideNegative: UInt8 = 0xF5
  static let negative: UInt8 = 0xF6
  static let natural: UInt8 = 0xF7
  static let wideNatural: UInt8 = 0xF8

  static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(9)
    if let word = UInt64(exactly: number) {
      bytes.append(natural)
      bytes.append(bigEndian: word)
    } else if let word = Int64(exactly: number) {
      bytes.append(negative)
      bytes.append(bigEndian: UInt64(bitPattern: word))
    } else {
      bytes.append(number < 0 ? wideNegative : wideNatural)
      bytes.append(bigEndian: UInt128(truncatingIfNeeded: number))
    }
    return bytes
  }
}

extension StoreKey where Self: FixedWidthInteger {
  /// Calls `body` with the bytes of an integer key; see ``StoreKey``.
  public func withKeyBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result { try body(IntegerKey.bytes(of: self).span) }
}

extension Int: StoreKey {}
extension Int8: StoreKey {}
extension Int16: StoreKey {}
extension Int32: StoreKey {}
extension Int64: StoreKey {}
extension Int128: StoreKey {}
extension UInt: StoreKey {}
extension UInt8: StoreKey {}
extension UInt16: StoreKey {}
extension UInt32: StoreKey {}
extension UInt64: StoreKey {}
extension UInt128: StoreKey {}
