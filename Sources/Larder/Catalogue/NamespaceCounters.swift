import LMDB

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
  var removals = RemovalCounters()
  var reads = ReadCounters()
  var queue = QueueState()
  /// Entries that are pinned.
  var pinned: UInt64 = 0

  init() {}

  init(_ bytes: Span<UInt8>) {
    var words = WordReader(bytes)
    entries = words.next()
    self.bytes = words.next()
    stored = words.next()
    next = words.next()
    for reason in RemovalReason.allCases { removals[reason] = words.next() }
    for kind in ReadCounters.Kind.allCases { reads[kind] = words.next() }
    queue = QueueState(&words)
    pinned = words.next()
  }

  var encoded: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(320)
    for word in [entries, bytes, stored, next] { result.append(word: word) }
    for reason in RemovalReason.allCases { result.append(word: removals[reason]) }
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

/// How many entries went for each reason, since the store was made.
public struct RemovalCounters: Sendable, Equatable {
  private var counts = [UInt64](repeating: 0, count: RemovalReason.allCases.count)

  public internal(set) subscript(reason: RemovalReason) -> UInt64 {
    get { counts[reason.rawValue] }
    set { counts[reason.rawValue] = newValue }
  }

  /// Entries that a limit removed.
  public var evicted: UInt64 {
    RemovalReason.allCases.reduce(0) { $1.isEviction ? $0 &+ self[$1] : $0 }
  }
}

/// What reads met, since the store was made.
public struct ReadCounters: Sendable, Equatable {
  enum Kind: Int, CaseIterable {
    /// A value was lent, whether or not its codec could read it.
    case hits
    case misses, expired, stale, damaged, undecodable
    /// Of the hits, those that found the value decoded in memory.
    case memory
  }

  private var counts = [UInt64](repeating: 0, count: Kind.allCases.count)

  subscript(kind: Kind) -> UInt64 {
    get { counts[kind.rawValue] }
    set { counts[kind.rawValue] = newValue }
  }

  /// Reads that found a fresh value.
  public var hits: UInt64 { self[.hits] &- self[.undecodable] }
  /// Of the hits, those that found the value decoded in memory.
  public var memory: UInt64 { self[.memory] }
  /// Reads that found none, for whatever reason.
  public var misses: UInt64 { absent &+ expired &+ stale &+ damaged &+ undecodable }
  /// Misses because there was no entry.
  public var absent: UInt64 { self[.misses] }
  /// Misses because the entry's time had come.
  public var expired: UInt64 { self[.expired] }
  /// Misses of a plain read because the entry was past its freshness, though it may yet be served stale.
  public var stale: UInt64 { self[.stale] }
  /// Misses because the entry's checksum did not fit.
  public var damaged: UInt64 { self[.damaged] }
  /// Misses because the codec could not read the value.
  public var undecodable: UInt64 { self[.undecodable] }

  /// Hits among all reads; nil before the first read.
  public var hitRate: Double? {
    let all = hits &+ misses
    return all == 0 ? nil : Double(hits) / Double(all)
  }

  static func + (left: Self, right: Self) -> Self {
    var sum = left
    for kind in Kind.allCases { sum[kind] = left[kind] &+ right[kind] }
    return sum
  }
}
