import LMDB
import LarderSystem

/// The counters of a namespace, exact after every commit.
struct NamespaceCounters: Equatable {
  /// Entries stored, expired ones included.
  var entries: UInt64 = 0
  /// Bytes of their values.
  var bytes: UInt64 = 0
  /// Bytes of their headers, fields and values.
  var stored: UInt64 = 0
  /// The next sequence and version number.
  var next: UInt64 = 1
  /// When the statistics below were last reset, in milliseconds since 1970, by the clock of the process that did it.
  var since: UInt64 = 0
  /// The commit that reset them. Reads before it that a process has not merged yet do not count.
  var epoch: UInt64 = 0
  var removals = RemovalCounters()
  var reads = ReadCounters()
  var queue = QueueState()
  /// Entries that are pinned.
  var pinned: UInt64 = 0

  init() {}

  /// The counters of a new namespace.
  init(since: Timestamp, epoch: UInt64) {
    self.since = UInt64(clamping: since.milliseconds)
    self.epoch = epoch
  }

  /// How many numbers were given out: one for each write, and one for each pin that was removed. A recount after damage skips
  /// at least 2^40 of them.
  var numbersGiven: UInt64 { next - 1 }

  /// Nil if the record of the namespace is damaged, or has impossible numbers.
  init?(_ record: Span<UInt8>, of id: NamespaceID, seal: RecordSeal) {
    let seed = MetadataKey.withCounters(id) { seal.seed(for: $0) }
    guard let content = seal.open(record, seed: seed) else { return nil }
    var words = WordReader(content)
    entries = words.next()
    bytes = words.next()
    stored = words.next()
    next = words.next()
    since = words.next()
    epoch = words.next()
    removals = RemovalCounters(&words)
    for kind in ReadCounters.Kind.allCases { reads[kind] = words.next() }
    queue = QueueState(&words)
    pinned = words.next()
    guard words.isAtEnd, max(entries, bytes, stored) <= Self.highestCount,
      1..<QueuePosition.limit ~= next
    else { return nil }
  }

  /// Counts of a file stay below the address space it is mapped into. Sums of those of many namespaces do not overflow.
  static let highestCount: UInt64 = 1 << 47

  /// 10 numbers, and those of removals, reads and queue.
  static let recordSize =
    RecordSeal.size
    + 8
    * (7 + 2 * RemovalReason.allCases.count + ReadCounters.Kind.allCases.count
      + QueueState.wordCount)

  /// Writes the record as it is stored.
  func write(to record: inout OutputSpan<UInt8>, of id: NamespaceID, seal: RecordSeal) {
    let seed = MetadataKey.withCounters(id) { seal.seed(for: $0) }
    seal.write(to: &record, seed: seed) { record in
      record.append(word: entries)
      record.append(word: bytes)
      record.append(word: stored)
      record.append(word: next)
      record.append(word: since)
      record.append(word: epoch)
      removals.append(to: &record)
      for kind in ReadCounters.Kind.allCases { record.append(word: reads[kind]) }
      queue.append(to: &record)
      record.append(word: pinned)
    }
  }

  /// The record as it is stored.
  func record(of id: NamespaceID, seal: RecordSeal) -> [UInt8] {
    [UInt8](count: Self.recordSize) { write(to: &$0, of: id, seal: seal) }
  }
}

/// Why an entry was removed.
// The record of the counters has the cases in this order: a change of it is another file format.
public enum RemovalReason: Int, CaseIterable, Sendable {
  /// It had expired.
  case expired
  /// Evicted for the limit of entries of its namespace.
  case evictedForEntries
  /// Evicted for the limit of bytes of its namespace.
  case evictedForBytes
  /// Evicted for the limit of entries of the store.
  case evictedForStoreEntries
  /// Evicted for the limit of bytes of the store.
  case evictedForStoreBytes
  /// Evicted for the limit of the data file.
  case evictedForDisk
  /// Removed together with the last of its owners.
  case orphaned
  /// Removed by a call.
  case removed
  /// Replaced by another value under its key.
  case replaced
  /// Removed by clearing its namespace.
  case cleared
  /// Removed because a tag it carried was invalidated.
  case invalidated
  /// Removed because its record was damaged.
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

/// Removed entries and the bytes of their values, by reason, since the last reset of the statistics.
public struct RemovalCounters: Sendable, Equatable {
  // Vectors, because they need no allocation.
  private var counts = SIMD16<UInt64>()
  private var sizes = SIMD16<UInt64>()

  init() {}

  init(_ words: inout WordReader) {
    for reason in RemovalReason.allCases { counts[reason.rawValue] = words.next() }
    for reason in RemovalReason.allCases { sizes[reason.rawValue] = words.next() }
  }

  func append(to record: inout OutputSpan<UInt8>) {
    for reason in RemovalReason.allCases { record.append(word: counts[reason.rawValue]) }
    for reason in RemovalReason.allCases { record.append(word: sizes[reason.rawValue]) }
  }

  /// Entries removed for that reason.
  public subscript(reason: RemovalReason) -> UInt64 { counts[reason.rawValue] }

  /// Bytes of the values removed for that reason; 0 for damaged entries, whose size is unknown.
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
    sum.counts &+= right.counts
    sum.sizes &+= right.sizes
    return sum
  }
}

/// Reads by their outcome, since the last reset of the statistics.
public struct ReadCounters: Sendable, Equatable {
  // The record of the counters has the cases in this order, and the vector of counts has no room for a ninth.
  enum Kind: Int, CaseIterable {
    /// A value was lent, whether or not its codec could read it.
    case hits
    case misses, expired, stale, damaged, undecodable
    /// Of the hits, those that found the value decoded in memory.
    case memory
    /// Of the stale ones, those that were served all the same.
    case served
  }

  private var counts = SIMD8<UInt64>()

  subscript(kind: Kind) -> UInt64 {
    get { counts[kind.rawValue] }
    set { counts[kind.rawValue] = newValue }
  }

  /// Reads that found a fresh value.
  public var hits: UInt64 {
    // A reset may fall between a read and the decoding of its value.
    self[.hits] - min(self[.hits], self[.undecodable])
  }
  /// Of the hits, those that found the value decoded in memory.
  public var memoryHits: UInt64 { self[.memory] }
  /// Reads that returned no value.
  public var misses: UInt64 { absent &+ expired &+ stale &+ damaged &+ undecodable }
  /// Reads that returned a stale value, during a background load or because no newer one was available.
  public var staleHits: UInt64 { self[.served] }
  /// Misses because there was no entry.
  public var absent: UInt64 { self[.misses] }
  /// Misses because the entry had expired.
  public var expired: UInt64 { self[.expired] }
  /// Misses because the entry was stale and the read accepts no stale value.
  public var stale: UInt64 { self[.stale] - min(self[.stale], self[.served]) }
  /// Misses because the entry's checksum did not match.
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
