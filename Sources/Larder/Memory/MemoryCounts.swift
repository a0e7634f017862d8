import LMDB
import LarderSystem
import Synchronization

/// The outcomes of reads in memory.
struct MemoryCounts: Equatable {
  enum Kind: Int, CaseIterable {
    case hits, revalidatedHits, misses, evictions
  }

  // A vector needs no allocation: each write asks every memory.
  private var counts = SIMD4<UInt64>()

  init() {}

  init(_ counters: StripedCounters) {
    for kind in Kind.allCases { self[kind] = counters.total(kind.rawValue) }
  }

  subscript(kind: Kind) -> UInt64 {
    get { counts[kind.rawValue] }
    set { counts[kind.rawValue] = newValue }
  }

  static func += (left: inout Self, right: Self) {
    left.counts &+= right.counts
  }
}

/// The counts of a namespace's memories in this process: those in use, and the sum of the released ones.
struct MemoryTallies {
  private var live: [StripedCounters] = []
  private var gone = MemoryCounts()

  var total: MemoryCounts {
    live.reduce(into: gone) { sum, counters in sum += MemoryCounts(counters) }
  }

  /// Whether no memory is in use.
  var isEmpty: Bool { live.isEmpty }

  mutating func add(_ counters: StripedCounters) { live.append(counters) }

  mutating func retire(_ counters: StripedCounters) {
    gone += MemoryCounts(counters)
    live.removeAll { $0 === counters }
  }
}
