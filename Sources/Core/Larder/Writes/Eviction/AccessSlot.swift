struct AccessStats: Equatable {
  /// The frequency of use, 0 to 15. ``AccessTable/sweep()`` halves the frequency, so that old uses count less.
  var frequency: UInt32 = 0
  /// The clock of an entry, 0 to 3. Each time that the policy's clock hand passes the entry, this number decreases by one.
  var clock: UInt32 = 0

  static let mostFrequency: UInt32 = 15
}

/// Statistics of an entry in one word of the access table: tag 10 bits (0: empty), frequency 4, clock 2, minute of last use 16.
struct AccessSlot: Equatable {
  let bits: UInt32

  static let empty = AccessSlot(bits: 0)

  @inline(__always)
  init(bits: UInt32) { self.bits = bits }

  @inline(__always)
  init(tag: UInt32, stats: AccessStats, minute: UInt32) {
    bits = tag &<< 22 | stats.frequency &<< 18 | stats.clock &<< 16 | minute
  }

  @inline(__always)
  static func tag(of hash: UInt64) -> UInt32 { max(1, UInt32(truncatingIfNeeded: hash) & 0x3FF) }

  /// The slot after a use, which raises the clock and, if the clock was not full, the frequency. A use of a recent entry changes
  /// only the minute.
  @inline(__always)
  func used(in minute: UInt32, isRecent: Bool = false) -> AccessSlot {
    var next = bits & ~0xFFFF | minute
    if !isRecent, bits & Self.mostClock != Self.mostClock {
      next &+= 1 &<< 16
      if bits & Self.mostFrequency != Self.mostFrequency { next &+= 1 &<< 18 }
    }
    return AccessSlot(bits: next)
  }

  private static var mostClock: UInt32 { 3 << 16 }
  private static var mostFrequency: UInt32 { 15 << 18 }

  @inline(__always) var tag: UInt32 { bits &>> 22 }
  @inline(__always) var stats: AccessStats {
    AccessStats(frequency: bits &>> 18 & 15, clock: bits &>> 16 & 3)
  }
  @inline(__always) var minute: UInt32 { bits & 0xFFFF }
}

/// A ghost (record of an evicted entry) in one word: fingerprint 16 bits (0 in an empty slot), stamp 11, part 1, frequency 4.
struct GhostSlot: Equatable {
  let bits: UInt32

  static let empty = GhostSlot(bits: 0)
  static let stamps: UInt64 = 1 << 11

  init(bits: UInt32) { self.bits = bits }

  init(fingerprint: UInt32, stamp: UInt64, part: QueuePart, frequency: UInt32) {
    bits =
      fingerprint &<< 16 | UInt32(stamp % Self.stamps) &<< 5 | UInt32(part.rawValue) &<< 4
      | frequency
  }

  static func fingerprint(of hash: UInt64) -> UInt32 {
    max(1, UInt32(truncatingIfNeeded: hash) & 0xFFFF)
  }

  var fingerprint: UInt32 { bits &>> 16 }
  var stamp: UInt64 { UInt64(bits &>> 5) % Self.stamps }
  var part: QueuePart { bits &>> 4 & 1 == 0 ? .window : .main }
  var frequency: UInt32 { bits & 15 }

  /// The number of stamps between the eviction and `now`, modulo ``stamps``; ``stamps`` for an empty slot.
  func age(at now: UInt64) -> UInt64 { self == .empty ? Self.stamps : (now &- stamp) % Self.stamps }
}
