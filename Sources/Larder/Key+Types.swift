import LMDB
import LarderSystem

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Data: StoreKey {
  /// Calls `body` with the bytes.
  public func withKeyBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body([UInt8](self).span)
  }
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
  /// Calls `body` with the UTF-8 of the absolute string. Nothing is normalised: two spellings are two keys.
  public func withKeyBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try absoluteString.withKeyBytes(body)
  }
}

extension StoreKey where Self: RawRepresentable, RawValue: StoreKey {
  /// Calls `body` with the bytes of the raw value.
  public func withKeyBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try rawValue.withKeyBytes(body)
  }
}

/// The first bytes of integer keys, none of which occurs in UTF-8.
enum IntegerKey {
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
  /// Calls `body` with the bytes that ``StoreKey`` describes for integers.
  public func withKeyBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(IntegerKey.bytes(of: self).span)
  }
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
