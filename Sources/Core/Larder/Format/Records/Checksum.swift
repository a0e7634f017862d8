import LMDB
import LarderSystem

/// A 64-bit checksum of the wyhash family, equal on every machine, that detects damage but not deliberate changes.
package enum Checksum {
  private static let first: UInt64 = 0xA076_1D64_78BD_642F
  private static let second: UInt64 = 0xE703_7ED1_A0B4_28DB
  private static let third: UInt64 = 0x8EBC_6AF0_9C88_C6E3

  @inline(__always)
  static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }

  /// The hash of a key in a namespace, which identifies an entry in the access table and is the seed of the entry's checksum.
  @inline(__always)
  static func keyHash(of key: Span<UInt8>, in id: NamespaceID) -> UInt64 {
    of(key, seed: UInt64(id.rawValue))
  }

  @inline(__always)
  static func of(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else {
        return finish(seed ^ first, count: 0, low: 0, high: 0)
      }
      return unsafe of(start, count: bytes.count, seed: seed)
    }
  }

  /// - Precondition: at least `count` bytes are readable from `start` on.
  @inline(__always)
  private static func of(_ start: UnsafeRawPointer, count: Int, seed: UInt64) -> UInt64 {
    var state = seed ^ first
    var rest = unsafe start
    var left = count
    if left >= 48 {
      var second = state
      var third = state
      repeat {
        state = unsafe mix(rest.word(0) ^ Self.first, rest.word(8) ^ state)
        second = unsafe mix(rest.word(16) ^ Self.second, rest.word(24) ^ second)
        third = unsafe mix(rest.word(32) ^ Self.third, rest.word(40) ^ third)
        unsafe rest += 48
        left &-= 48
      } while left >= 48
      state ^= second ^ third
    }
    while left >= 16 {
      state = unsafe mix(rest.word(0) ^ second, rest.word(8) ^ state)
      unsafe rest += 16
      left &-= 16
    }
    let end = unsafe tail(rest, count: left)
    return finish(state, count: count, low: end.low, high: end.high)
  }

  @inline(__always)
  private static func finish(_ state: UInt64, count: Int, low: UInt64, high: UInt64) -> UInt64 {
    mix(second ^ UInt64(truncatingIfNeeded: count), mix(low ^ second, high ^ state))
  }

  /// The last 0 to 15 bytes as two words. Each byte is in at least one word.
  @inline(__always)
  private static func tail(
    _ rest: UnsafeRawPointer, count: Int
  ) -> (low: UInt64, high: UInt64) {
    if count >= 8 { return unsafe (rest.word(0), rest.word(count &- 8)) }
    if count >= 4 {
      return unsafe (UInt64(rest.halfWord(0)), UInt64(rest.halfWord(count &- 4)))
    }
    if count == 0 { return (0, 0) }
    let bytes =
      unsafe UInt64(rest.byte(0)) << 16 | UInt64(rest.byte(count &>> 1)) << 8
      | UInt64(rest.byte(count &- 1))
    return (bytes, 0)
  }

  package static func of(_ bytes: [UInt8], seed: UInt64) -> UInt64 { of(bytes.span, seed: seed) }

  /// Computes the checksum of bytes that come in pieces. The result equals ``of(_:seed:)`` of all bytes together.
  struct Stream {
    private var state: UInt64
    private var left: UInt64
    private var right: UInt64
    private var count = 0
    /// The bytes after the last whole block; fewer than 48.
    private var rest: [UInt8] = []

    init(seed: UInt64) {
      state = seed ^ Checksum.first
      left = state
      right = state
    }

    mutating func append(_ piece: Span<UInt8>) {
      count &+= piece.count
      var offset = 0
      if !rest.isEmpty {
        offset = min(48 - rest.count, piece.count)
        rest.append(contentsOf: piece.extracting(0..<offset))
        guard rest.count == 48 else { return }
        let block = rest
        add(block.span)
        rest.removeAll(keepingCapacity: true)
      }
      while offset + 48 <= piece.count {
        add(piece.extracting(offset..<offset + 48))
        offset += 48
      }
      rest.append(contentsOf: piece.extracting(offset..<piece.count))
    }

    private mutating func add(_ block: Span<UInt8>) {
      state = mix(block.word(at: 0) ^ Checksum.first, block.word(at: 8) ^ state)
      left = mix(block.word(at: 16) ^ Checksum.second, block.word(at: 24) ^ left)
      right = mix(block.word(at: 32) ^ Checksum.third, block.word(at: 40) ^ right)
    }

    var result: UInt64 {
      let bytes = rest.span
      var state = count >= 48 ? state ^ left ^ right : state
      var offset = 0
      while offset + 16 <= bytes.count {
        let block = bytes.extracting(offset..<offset + 16)
        state = mix(block.word(at: 0) ^ Checksum.second, block.word(at: 8) ^ state)
        offset += 16
      }
      let end = KeyHash.ends(of: bytes, from: offset)
      return finish(state, count: count, low: end.low, high: end.high)
    }
  }
}

/// Reads little-endian numbers at any alignment.
@unsafe extension UnsafeRawPointer {
  @inline(__always)
  fileprivate func word(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: unsafe loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inline(__always)
  fileprivate func halfWord(_ offset: Int) -> UInt32 {
    UInt32(littleEndian: unsafe loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  @inline(__always)
  fileprivate func byte(_ offset: Int) -> UInt8 {
    unsafe load(fromByteOffset: offset, as: UInt8.self)
  }
}
