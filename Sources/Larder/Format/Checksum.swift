import LMDB
import LarderSystem

/// A 64-bit checksum over bytes, of the wyhash family: one multiplication for each 16 bytes.
///
/// It detects damage. It does not protect against forged records. The result depends only on the bytes and the seed, on
/// every machine.
package enum Checksum {
  private static let first: UInt64 = 0xA076_1D64_78BD_642F
  private static let second: UInt64 = 0xE703_7ED1_A0B4_28DB
  private static let third: UInt64 = 0x8EBC_6AF0_9C88_C6E3

  @inline(__always)
  static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }

  /// The hash of a key in a namespace: it identifies an entry in the access table and seeds the entry's checksum.
  @inline(__always)
  static func keyHash(of key: Span<UInt8>, in id: NamespaceID) -> UInt64 {
    of(key, seed: UInt64(id.rawValue))
  }

  @inline(__always)
  static func of(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
    let count = bytes.count
    var state = seed ^ first
    var offset = 0
    if count >= 48 {
      var left = state
      var right = state
      while offset &+ 48 <= count {
        let block = bytes.extracting(offset..<offset &+ 48)
        state = mix(block.word(at: 0) ^ first, block.word(at: 8) ^ state)
        left = mix(block.word(at: 16) ^ second, block.word(at: 24) ^ left)
        right = mix(block.word(at: 32) ^ third, block.word(at: 40) ^ right)
        offset &+= 48
      }
      state ^= left ^ right
    }
    while offset &+ 16 <= count {
      let block = bytes.extracting(offset..<offset &+ 16)
      state = mix(block.word(at: 0) ^ second, block.word(at: 8) ^ state)
      offset &+= 16
    }
    let rest = tail(bytes.extracting(offset..<count))
    return mix(
      second ^ UInt64(truncatingIfNeeded: count), mix(rest.low ^ second, rest.high ^ state))
  }

  /// The last 0 to 15 bytes as two words, each byte in at least one of them.
  @inline(__always)
  private static func tail(_ rest: Span<UInt8>) -> (low: UInt64, high: UInt64) {
    let count = rest.count
    if count >= 8 { return (rest.word(at: 0), rest.word(at: count &- 8)) }
    if count >= 4 { return (UInt64(rest.halfWord(at: 0)), UInt64(rest.halfWord(at: count &- 4))) }
    if count == 0 { return (0, 0) }
    let bytes = UInt64(rest[0]) << 16 | UInt64(rest[count &>> 1]) << 8 | UInt64(rest[count &- 1])
    return (bytes, 0)
  }

  /// The checksum of bytes for other modules.
  package static func of(_ bytes: [UInt8], seed: UInt64) -> UInt64 { of(bytes.span, seed: seed) }
}

extension Checksum {
  /// The checksum of bytes that come in pieces: the same as ``of(_:seed:)`` of all of them at once.
  struct Stream {
    private var state: UInt64
    private var left: UInt64
    private var right: UInt64
    private var count = 0
    /// The bytes after the last whole block, fewer than 48.
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
      let end = tail(bytes.extracting(offset..<bytes.count))
      return mix(
        Checksum.second ^ UInt64(truncatingIfNeeded: count),
        mix(end.low ^ Checksum.second, end.high ^ state))
    }
  }
}
