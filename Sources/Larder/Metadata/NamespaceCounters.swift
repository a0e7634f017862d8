import LMDB
import LarderSystem

/// What is counted for a namespace: exact after every commit.
struct NamespaceCounters: Equatable {
  /// Entries stored, expired ones included.
  var entries: UInt64 = 0
  /// Bytes of their values.
  var bytes: UInt64 = 0
  /// Bytes of their headers, fields and values.
  var stored: UInt64 = 0
  /// The next sequence and version number.
  var next: UInt64 = 1
  /// When the statistics below began to count, by the clock of whoever made the namespace or reset them.
  var since: UInt64 = 0
  /// The commit with which they began. What a process read before it and has not merged yet is no part of them.
  var epoch: UInt64 = 0
  var removals = RemovalCounters()
  var reads = ReadCounters()
  var queue = QueueState()
  /// Entries that are pinned.
  var pinned: UInt64 = 0

  init() {}

  /// Those of a namespace that begins now, or whose statistics do.
  init(since: Timestamp, epoch: UInt64) {
    self.since = UInt64(clamping: since.milliseconds)
    self.epoch = epoch
  }

  /// How many numbers were given out: one a write, and one where a pin was taken away.
  var writes: UInt64 { next - 1 }

  /// Where ``epoch`` stands in the record.
  static let epochOffset = 40

  init(_ bytes: Span<UInt8>) {
    var words = WordReader(bytes)
    entries = words.next()
    self.bytes = words.next()
    stored = words.next()
    next = words.next()
    since = words.next()
    epoch = words.next()
    removals = RemovalCounters(&words)
    for kind in ReadCounters.Kind.allCases { reads[kind] = words.next() }
    queue = QueueState(&words)
    pinned = words.next()
  }

  var encoded: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(480)
    for word in [entries, bytes, stored, next, since, epoch] { result.append(word: word) }
    removals.append(to: &result)
    for kind in ReadCounters.Kind.allCases { result.append(word: reads[kind]) }
    queue.append(to: &result)
    result.append(word: pinned)
    return result
  }
}

/// Why an entry is no longer there.
public enum RemovalReason: Int, CaseIterable, Sendable {
  /// Its time had come.
  case expired
  /// The namespace had as many entries as it may.
  case evictedForEntries
  /// The values of the namespace had as many bytes as they may.
  case evictedForBytes
  /// The store had as many entries as it may.
  case evictedForStoreEntries
  /// The values of the store had as many bytes as they may.
  case evictedForStoreBytes
  /// The data file was as large as it may be.
  case evictedForDisk
  /// It left with the entry it belonged to.
  case orphaned
  /// Somebody removed it.
  case removed
  /// A write put another value under its key.
  case replaced
  /// Its namespace was cleared.
  case cleared
  /// A tag it carried was invalidated.
  case invalidated
  /// It was damaged.
  case damaged

  /// Whether a limit was the reason.
  public var isEviction: Bool {
    switch self {
    case .evictedForEntries, .evictedForBytes, .evictedForStoreEntries, .evictedForStoreBytes,
      .evictedForDisk:
      true
    default: false
    }
  }
}

/// How many entries went for each reason, and with how many bytes of values, since the statistics began to count.
public struct RemovalCounters: Sendable, Equatable {
  private var counts = [UInt64](repeating: 0, count: RemovalReason.allCases.count)
  private var sizes = [UInt64](repeating: 0, count: RemovalReason.allCases.count)

  init() {}

  init(_ words: inout WordReader) {
    for reason in RemovalReason.allCases { counts[reason.rawValue] = words.next() }
    for reason in RemovalReason.allCases { sizes[reason.rawValue] = words.next() }
  }

  func append(to record: inout [UInt8]) {
    for word in counts { record.append(word: word) }
    for word in sizes { record.append(word: word) }
  }

  /// Entries that went for that reason.
  public subscript(reason: RemovalReason) -> UInt64 { counts[reason.rawValue] }

  /// Bytes of the values that went for that reason; a damaged entry's are not known and count as none.
  public func bytes(_ reason: RemovalReason) -> UInt64 { sizes[reason.rawValue] }

  /// Entries that a limit removed.
  public var evicted: UInt64 { sum { $0.isEviction ? self[$0] : 0 } }
  /// Bytes of the values that a limit removed.
  public var evictedBytes: UInt64 { sum { $0.isEviction ? bytes($0) : 0 } }

  private func sum(_ count: (RemovalReason) -> UInt64) -> UInt64 {
    RemovalReason.allCases.reduce(0) { $0 &+ count($1) }
  }

  mutating func count(_ reason: RemovalReason, entries: UInt64 = 1, bytes: Int) {
    counts[reason.rawValue] &+= entries
    sizes[reason.rawValue] &+= UInt64(bytes)
  }

  static func + (left: Self, right: Self) -> Self {
    var sum = left
    for reason in RemovalReason.allCases {
      sum.counts[reason.rawValue] &+= right[reason]
      sum.sizes[reason.rawValue] &+= right.bytes(reason)
    }
    return sum
  }
}

/// What reads met, since the statistics began to count.
public struct ReadCounters: Sendable, Equatable {
  enum Kind: Int, CaseIterable {
    /// A value was lent, whether or not its codec could read it.
    case hits
    case misses, expired, stale, damaged, undecodable
    /// Of the hits, those that found the value decoded in memory.
    case memory
    /// Of the stale ones, those that were served all the same.
    case served
  }

  private var counts = [UInt64](repeating: 0, count: Kind.allCases.count)

  subscript(kind: Kind) -> UInt64 {
    get { counts[kind.rawValue] }
    set { counts[kind.rawValue] = newValue }
  }

  /// Reads that found a fresh value.
  public var hits: UInt64 {
    // A reset may fall between a read and the decoding of what it found.
    self[.hits] - min(self[.hits], self[.undecodable])
  }
  /// Of the hits, those that found the value decoded in memory.
  public var memoryHits: UInt64 { self[.memory] }
  /// Reads that found none, for whatever reason.
  public var misses: UInt64 { absent &+ expired &+ stale &+ damaged &+ undecodable }
  /// Reads that were served a stale value, while a newer one was fetched or because there was none to be had.
  public var staleHits: UInt64 { self[.served] }
  /// Misses because there was no entry.
  public var absent: UInt64 { self[.misses] }
  /// Misses because the entry's time had come.
  public var expired: UInt64 { self[.expired] }
  /// Misses because the entry was past its freshness and was not served stale.
  public var stale: UInt64 { self[.stale] - min(self[.stale], self[.served]) }
  /// Misses because the entry's checksum did not fit.
  public var damaged: UInt64 { self[.damaged] }
  /// Misses because the codec could not read the value.
  public var undecodable: UInt64 { self[.undecodable] }

  /// Hits, stale ones included, among all reads; nil before the first read.
  public var hitRate: Double? {
    let answered = hits &+ staleHits
    let all = answered &+ misses
    return all == 0 ? nil : Double(answered) / Double(all)
  }

  static func + (left: Self, right: Self) -> Self {
    var sum = left
    for kind in Kind.allCases { sum[kind] = left[kind] &+ right[kind] }
    return sum
  }
}
