/// An access table in the form of the store: for each entry two words of 32 bits for statistics and four for ghosts, without
/// keys. Keys with the same bucket and tag share a word. A full bucket loses records.
struct TaggedTable: AccessTable {
  static let name = "tagged"
  private var touches: [AccessSlot]
  private var ghosts: [GhostSlot]
  private let touchBuckets: UInt64
  private let ghostBuckets: UInt64
  private let lifetime: Int
  /// The evictions in one unit of the age of a ghost: so many that the age wraps only after the ghost is dead.
  private let tick: Int
  private var evictions = 0

  private static var touchWays: Int { 8 }
  private static var ghostWays: Int { 4 }

  init(entries: Int, keys: Int) {
    lifetime = ghostsPerEntry * entries
    tick = max(1, (lifetime + GhostSlot.ages / 2 - 1) / (GhostSlot.ages / 2))
    touchBuckets = UInt64(max(1, 2 * entries / Self.touchWays))
    ghostBuckets = UInt64(max(1, lifetime / Self.ghostWays))
    touches = Array(repeating: .empty, count: Int(touchBuckets) * Self.touchWays)
    ghosts = Array(repeating: .empty, count: Int(ghostBuckets) * Self.ghostWays)
  }

  func stats(of key: Int) -> AccessStats {
    let (bucket, tag) = touchPlace(of: key)
    return bucket.first { touches[$0].tag == tag }.map { touches[$0].stats } ?? AccessStats()
  }

  mutating func setStats(_ stats: AccessStats, of key: Int) {
    let (bucket, tag) = touchPlace(of: key)
    let slot =
      bucket.first { touches[$0].tag == tag }
      ?? bucket.first { touches[$0] == .empty }
      ?? bucket.first { touches[$0].stats.clock == 0 }
      ?? bucket.lowerBound + Int(tag) % Self.touchWays
    touches[slot] = AccessSlot(tag: tag, stats: stats)
  }

  mutating func removeStats(of key: Int) {
    let (bucket, tag) = touchPlace(of: key)
    if let slot = bucket.first(where: { touches[$0].tag == tag }) { touches[slot] = .empty }
  }

  mutating func halveFrequencies() {
    for slot in touches.indices {
      var stats = touches[slot].stats
      stats.frequency /= 2
      touches[slot] = AccessSlot(tag: touches[slot].tag, stats: stats)
    }
  }

  mutating func takeGhost(of key: Int) -> Ghost? {
    let (bucket, fingerprint) = ghostPlace(of: key)
    guard let slot = bucket.first(where: { ghosts[$0].fingerprint == fingerprint }) else {
      return nil
    }
    let word = ghosts[slot]
    ghosts[slot] = .empty
    let age = age(of: word)
    return age < lifetime ? Ghost(age: age, part: word.part, frequency: word.frequency) : nil
  }

  mutating func putGhost(of key: Int, part: Part, frequency: Int) {
    let (bucket, fingerprint) = ghostPlace(of: key)
    let slot =
      bucket.first { ghosts[$0].fingerprint == fingerprint }
      ?? bucket.first { ghosts[$0] == .empty }
      ?? bucket.max { age(of: ghosts[$0]) < age(of: ghosts[$1]) }
      ?? bucket.lowerBound
    ghosts[slot] = GhostSlot(
      fingerprint: fingerprint, age: evictions / tick % GhostSlot.ages, part: part,
      frequency: frequency)
    evictions += 1
  }

  private func age(of word: GhostSlot) -> Int {
    let now = evictions / tick % GhostSlot.ages
    return (now - word.age + GhostSlot.ages) % GhostSlot.ages * tick
  }

  private func touchPlace(of key: Int) -> (bucket: Range<Int>, tag: UInt32) {
    let hash = scatter(UInt64(key))
    let first = Int(hash.multipliedFullWidth(by: touchBuckets).high) * Self.touchWays
    return (first..<first + Self.touchWays, UInt32(hash & 0x3ff) % 0x3ff + 1)
  }

  private func ghostPlace(of key: Int) -> (bucket: Range<Int>, fingerprint: UInt32) {
    let hash = scatter(UInt64(key))
    let first = Int(hash.multipliedFullWidth(by: ghostBuckets).high) * Self.ghostWays
    return (first..<first + Self.ghostWays, UInt32(hash & 0xffff) % 0xffff + 1)
  }
}

/// Bit widths: tag 10 (0 in an empty word), frequency 4, clock 2, last use 16. A trace has no times, so the last use stays 0.
struct AccessSlot: Equatable {
  private let bits: UInt32

  static let empty = AccessSlot(tag: 0, stats: AccessStats())

  init(tag: UInt32, stats: AccessStats) {
    bits = tag << 22 | UInt32(stats.frequency) << 18 | UInt32(stats.clock) << 16
  }

  var tag: UInt32 { bits >> 22 }
  var stats: AccessStats {
    AccessStats(frequency: Int(bits >> 18 & 15), clock: Int(bits >> 16 & 3))
  }
}

/// Bit widths: fingerprint 16 (0 in an empty word), age 11, list 1, frequency 4. The age is a time of eviction that wraps.
struct GhostSlot: Equatable {
  private let bits: UInt32

  static let empty = GhostSlot(fingerprint: 0, age: 0, part: .window, frequency: 0)
  static let ages = 1 << 11

  init(fingerprint: UInt32, age: Int, part: Part, frequency: Int) {
    bits = fingerprint << 16 | UInt32(age) << 5 | UInt32(part.rawValue) << 4 | UInt32(frequency)
  }

  var fingerprint: UInt32 { bits >> 16 }
  var age: Int { Int(bits >> 5 & 0x7ff) }
  var part: Part { bits >> 4 & 1 == 0 ? .window : .main }
  var frequency: Int { Int(bits & 15) }
}
