/// The state that the policy keeps for one cache: on disk in the namespace's counters record.
struct PolicyState: Equatable {
  var target = WindowTarget()
  var returns = ReturnRates()
  /// Evictions so far; the age of ghosts is counted in them.
  var evictions: UInt64 = 0

  mutating func evicted(from part: QueuePart, of entries: UInt64) {
    evictions &+= 1
    target.evicted(from: part, of: entries)
  }

  /// How new the cache is: 1 until it has evicted three tenths of what it holds, then less and less.
  func youth(of entries: UInt64) -> Double {
    min(1, 0.3 * Double(entries) / Double(max(1, evictions)))
  }
}

/// How many insertions are keys that were evicted before: moving averages over about as many insertions as the cache has
/// entries.
///
/// When most insertions are ghost hits, the cache is too small for a loop over its keys. If each of them then displaced
/// another member of the loop, the cache would never hit.
struct ReturnRates: Equatable {
  /// The share of insertions that are ghost hits: evicted at most half as many evictions ago as there are entries.
  private(set) var ghostHits = 0.0
  /// The share of insertions that had a ghost of any age.
  private(set) var all = 0.0
  /// Set above one share of ghost hits and cleared below a lower one.
  private(set) var isLooping = false

  private static let mostGhostHits = 0.4
  private static let fewGhostHits = 0.3
  private static let mostRare = 0.3

  init() {}

  /// Takes over stored values, which may be damaged.
  init(ghostHits: Double, all: Double, isLooping: Bool) {
    self.ghostHits = ghostHits.clamped(to: 0...1, otherwise: 0)
    self.all = all.clamped(to: 0...1, otherwise: 0)
    self.isLooping = isLooping
  }

  var areRare: Bool { all <= Self.mostRare }

  mutating func inserted(isReturn: Bool, isGhostHit: Bool, entries: UInt64) {
    let weight = 1 / Double(max(1, entries))
    ghostHits += ((isGhostHit ? 1 : 0) - ghostHits) * weight
    all += ((isReturn ? 1 : 0) - all) * weight
    if ghostHits > Self.mostGhostHits { isLooping = true }
    if ghostHits < Self.fewGhostHits { isLooping = false }
  }
}

extension Double {
  /// The nearest value of a range; `otherwise` if this is no number.
  func clamped(to range: ClosedRange<Double>, otherwise: Double) -> Double {
    isNaN ? otherwise : min(max(self, range.lowerBound), range.upperBound)
  }
}
