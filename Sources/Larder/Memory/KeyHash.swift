import LarderSystem

/// A hash of keys with two random secrets, so that keys cannot be chosen to collide.
///
/// Each pair of words is multiplied after both were mixed with a secret. ``Checksum`` mixes one of them with a constant: a
/// key with that word makes the product 0, whatever the seed is, and all such keys collide.
struct KeyHash: Sendable {
  private let first = UInt64.random(in: .min ... .max)
  private let second = UInt64.random(in: .min ... .max)

  @inline(__always)
  func hash(of key: Span<UInt8>) -> UInt64 {
    let count = key.count
    var state = first
    var offset = 0
    while offset &+ 16 < count {
      state = Checksum.mix(key.word(at: offset) ^ second, key.word(at: offset &+ 8) ^ state)
      offset &+= 16
    }
    let (low, high) = tail(key, from: offset)
    return Checksum.mix(
      state ^ UInt64(truncatingIfNeeded: count), Checksum.mix(low ^ second, high ^ state))
  }

  /// The last 0 to 16 bytes as two words, each byte in at least one of them.
  @inline(__always)
  private func tail(_ key: Span<UInt8>, from start: Int) -> (low: UInt64, high: UInt64) {
    let count = key.count &- start
    if count >= 8 { return (key.word(at: start), key.word(at: start &+ count &- 8)) }
    if count >= 4 {
      return (
        UInt64(key.halfWord(at: start)), UInt64(key.halfWord(at: start &+ count &- 4))
      )
    }
    if count == 0 { return (0, 0) }
    let low =
      UInt64(key[start]) << 16 | UInt64(key[start &+ count &>> 1]) << 8
      | UInt64(key[start &+ count &- 1])
    return (low, 0)
  }
}
