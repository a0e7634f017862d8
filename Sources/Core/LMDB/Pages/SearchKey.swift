import CLarderSystem

/// A key to search for. Its first 16 bytes are also stored as two big-endian words, filled with zeros after the end of the key.
/// These two words decide nearly every comparison. If the words are equal, the following bytes decide, and then the lengths.
@unsafe struct SearchKey {
  let start: UnsafeRawPointer
  let count: Int
  let first: UInt64
  let second: UInt64

  /// - Parameter readable: the number of bytes before `start` that may be read; 0, or at least 8.
  /// - Precondition: `count` bytes stay at `start` while the key is used.
  @inline(__always)
  init(_ start: UnsafeRawPointer, count: Int, readable: Int = 0) {
    unsafe self.start = unsafe start
    unsafe self.count = count
    unsafe (first, second) = Self.leadingWords(start, count: count, readable: readable)
  }

  @inline(__always)
  private static func leadingWords(
    _ start: UnsafeRawPointer, count: Int, readable: Int
  ) -> (first: UInt64, second: UInt64) {
    if count >= 16 {
      return unsafe (
        start.loadUnaligned(as: UInt64.self).bigEndian,
        start.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian
      )
    }
    if count >= 8 {
      // The word has the last eight bytes of the key. The shift removes the bytes that are already in the first word.
      let last = unsafe start.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self).bigEndian
      let rest = count == 8 ? 0 : last &<< UInt64(truncatingIfNeeded: 8 &* (16 &- count))
      return (unsafe start.loadUnaligned(as: UInt64.self).bigEndian, rest)
    }
    if count == 0 { return (0, 0) }
    if readable >= 8 {
      let last = unsafe start.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self).bigEndian
      return (last &<< UInt64(truncatingIfNeeded: 8 &* (8 &- count)), 0)
    }
    var word: UInt64 = 0
    for index in 0..<count {
      word |=
        UInt64(unsafe start.load(fromByteOffset: index, as: UInt8.self))
        &<< UInt64(56 &- 8 &* index)
    }
    return (word, 0)
  }

  /// - Precondition: `bytes` is not empty, and the bytes stay at their address while the key is used.
  @inline(__always)
  init(_ bytes: Span<UInt8>) {
    unsafe self = bytes.withUnsafeBytes { unsafe SearchKey($0.baseAddress!, count: $0.count) }
  }

  /// - Parameter numberKeys: whether the keys are numbers in the machine's byte order. Then false if a key has not 8 bytes.
  @inline(__always)
  func isBefore(_ other: SearchKey, numberKeys: Bool = false) -> Bool {
    if numberKeys {
      return unsafe count == 8 && other.count == 8 && first.byteSwapped < other.first.byteSwapped
    }
    if unsafe other.first == first, unsafe other.second == second {
      return unsafe compareRest(other.start, count: other.count) > 0
    }
    return unsafe other.first > first || (other.first == first && other.second > second)
  }

  /// Negative if `other` comes before this key, 0 if both are equal. The first 16 bytes of both keys must be equal.
  @inline(never)
  func compareRest(_ other: UnsafeRawPointer, count otherCount: Int) -> Int {
    let common = unsafe min(otherCount, count) - 16
    let order = unsafe common > 0 ? memcmp(other + 16, start + 16, common) : 0
    return unsafe order == 0 ? otherCount &- count : Int(order)
  }

  @inline(__always)
  func isSame(as node: TreePage.Node) -> Bool {
    if unsafe node.keyCount != count { return false }
    let other = unsafe node.searched
    if unsafe other.first != first || other.second != second { return false }
    return unsafe count <= 16 || compareRest(other.start, count: count) == 0
  }
}
