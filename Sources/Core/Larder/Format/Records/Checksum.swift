import LarderSystem

/// A 64-bit checksum of the wyhash family, equal on every machine. Detects damage, but no deliberate changes.
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
    var blocks = Blocks(seed: seed)
    let end = blocks.add(bytes, from: 0)
    return blocks.checksum(count: bytes.count, rest: bytes, from: end)
  }

  package static func of(_ bytes: [UInt8], seed: UInt64) -> UInt64 { of(bytes.span, seed: seed) }

  /// The state after some blocks of 48 bytes: three independent words, which the processor can compute in parallel.
  private struct Blocks {
    private var state: UInt64
    private var middle: UInt64
    private var last: UInt64

    @inline(__always)
    init(seed: UInt64) {
      state = seed ^ Checksum.first
      middle = state
      last = state
    }

    /// Adds all whole blocks after `start`, and returns the end of the last block.
    @inline(__always)
    mutating func add(_ bytes: Span<UInt8>, from start: Int) -> Int {
      var offset = start
      let count = bytes.count
      unsafe bytes.withUnsafeBytes { bytes in
        // Copies the words to local variables, which stay in registers.
        var (state, middle, last) = (state, middle, last)
        while count &- offset >= 48 {
          state = unsafe mix(bytes.word(offset) ^ Checksum.first, bytes.word(offset &+ 8) ^ state)
          middle = unsafe mix(
            bytes.word(offset &+ 16) ^ Checksum.second, bytes.word(offset &+ 24) ^ middle)
          last = unsafe mix(
            bytes.word(offset &+ 32) ^ Checksum.third, bytes.word(offset &+ 40) ^ last)
          offset &+= 48
        }
        (self.state, self.middle, self.last) = (state, middle, last)
      }
      return offset
    }

    /// The checksum of `count` bytes: the added blocks, and the last bytes, which are in `rest` at and after `start`.
    @inline(__always)
    func checksum(count: Int, rest: Span<UInt8>, from start: Int) -> UInt64 {
      var state = count >= 48 ? state ^ middle ^ last : state
      var offset = start
      unsafe rest.withUnsafeBytes { rest in
        while rest.count &- offset >= 16 {
          state = unsafe mix(rest.word(offset) ^ Checksum.second, rest.word(offset &+ 8) ^ state)
          offset &+= 16
        }
      }
      let (low, high) = KeyHash.ends(of: rest, from: offset)
      return mix(
        Checksum.second ^ UInt64(truncatingIfNeeded: count),
        mix(low ^ Checksum.second, high ^ state))
    }
  }

  /// Computes the checksum of bytes that come in pieces. The result equals ``of(_:seed:)`` of all bytes together.
  struct Stream {
    private var blocks: Blocks
    private var count = 0
    /// The bytes after the last whole block; fewer than 48.
    private var rest: [UInt8] = []

    init(seed: UInt64) { blocks = Blocks(seed: seed) }

    mutating func append(_ piece: Span<UInt8>) {
      count &+= piece.count
      var offset = 0
      if !rest.isEmpty {
        offset = min(48 - rest.count, piece.count)
        rest.append(contentsOf: piece.extracting(0..<offset))
        let block = rest
        guard blocks.add(block.span, from: 0) == 48 else { return }
        rest.removeAll(keepingCapacity: true)
      }
      let end = blocks.add(piece, from: offset)
      rest.append(contentsOf: piece.extracting(end..<piece.count))
    }

    var result: UInt64 { blocks.checksum(count: count, rest: rest.span, from: 0) }
  }
}

@unsafe extension UnsafeRawBufferPointer {
  /// The little-endian number at `offset`, at any alignment. The caller must check that all eight bytes exist.
  @inline(__always)
  fileprivate func word(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: unsafe loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
