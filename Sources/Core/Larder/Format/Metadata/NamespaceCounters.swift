import LarderSystem

/// The counters of a namespace, exact after every commit.
struct NamespaceCounters: Equatable {
  /// The number of stored entries, including expired entries.
  var entries: UInt64 = 0
  /// The total size in bytes of the entries' values.
  var bytes: UInt64 = 0
  /// The total size in bytes of the entries' headers, fields and values.
  var stored: UInt64 = 0
  /// The number that the next new value gets as its position and its version.
  var next: UInt64 = 1
  /// When ``removals`` and ``reads`` were last reset, in milliseconds since 1970, by the clock of the resetting process.
  var since: UInt64 = 0
  /// The number of the commit that last reset these statistics. Processes then drop their counts that no commit has stored.
  var epoch: UInt64 = 0
  var removals = RemovalCounters()
  var reads = ReadCounters()
  var queue = QueueState()
  var pinned: UInt64 = 0

  init(since: Timestamp = Timestamp(milliseconds: 0), epoch: UInt64 = 0) {
    self.since = UInt64(clamping: since.milliseconds)
    self.epoch = epoch
  }

  /// Counters to which all entries of a namespace must be added, because the counters `recorded` may be wrong.
  init(recounting recorded: NamespaceCounters) {
    queue.windowBoundary = recorded.queue.windowBoundary
  }

  /// How many numbers ``next`` has given: one for each write and each removed pin. A recount skips at least 2^40 numbers.
  var numbersGiven: UInt64 { next - 1 }

  init?(_ record: Span<UInt8>, of id: NamespaceID, seal: RecordSeal) {
    let seed = MetadataKey.withCounters(id) { seal.seed(for: $0) }
    guard record.count == Self.recordSize, let content = seal.open(record, seed: seed) else {
      return nil
    }
    var words = WordReader(content)
    (entries, bytes, stored) = (words.next(), words.next(), words.next())
    (next, since, epoch) = (words.next(), words.next(), words.next())
    removals = RemovalCounters(&words)
    for kind in ReadCounters.Kind.allCases { reads[kind] = words.next() }
    queue = QueueState(&words)
    pinned = words.next()
    guard max(entries, bytes, stored) <= Self.highestCount, 1..<QueuePosition.limit ~= next else {
      return nil
    }
  }

  /// A higher count is damage, because no data file has so many bytes. So sums over many namespaces do not overflow.
  static let highestCount: UInt64 = 1 << 47

  /// The record's size in bytes: the seal, then numbers of 8 bytes: 7 facts, 24 of removals, 8 of reads, 12 of the queue.
  static let recordSize = RecordSeal.size + (7 + 24 + 8 + 12) * 8

  func write(to record: inout OutputSpan<UInt8>, of id: NamespaceID, seal: RecordSeal) {
    let seed = MetadataKey.withCounters(id) { seal.seed(for: $0) }
    seal.write(to: &record, seed: seed) { record in
      for word in [entries, bytes, stored, next, since, epoch] { record.append(word: word) }
      removals.append(to: &record)
      for kind in ReadCounters.Kind.allCases { record.append(word: reads[kind]) }
      queue.append(to: &record)
      record.append(word: pinned)
    }
  }
}

/// Why an entry was removed.
// The order must not change: the record of the counters stores the cases in this order, and `isEviction` tests a range.
public enum RemovalReason: Int, CaseIterable, Sendable {
  /// The entry had expired.
  case expired
  /// The entry was evicted to keep its namespace's limit of entries.
  case evictedForEntries
  /// The entry was evicted to keep its namespace's limit of bytes.
  case evictedForBytes
  /// The entry was evicted to keep the store's limit of entries.
  case evictedForStoreEntries
  /// The entry was evicted to keep the store's limit of bytes.
  case evictedForStoreBytes
  /// The entry was evicted to keep the limit of the data file.
  case evictedForDisk
  /// The entry was removed because its last owner was removed.
  case orphaned
  /// A call removed the entry.
  case removed
  /// The value was replaced by another value of its key.
  case replaced
  /// The entry was removed because its namespace was cleared.
  case cleared
  /// The entry was removed because one of its tags was invalidated.
  case invalidated
  /// The entry was removed because its record was damaged.
  case damaged

  /// Whether a limit was the reason.
  public var isEviction: Bool {
    (Self.evictedForEntries.rawValue...Self.evictedForDisk.rawValue).contains(rawValue)
  }
}

/// Removed entries and the bytes of their values, by reason, since the last reset of the statistics.
public struct RemovalCounters: Sendable, Equatable {
  // The counts and sizes are vectors, because arrays would need allocations.
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

  /// The number of entries removed for `reason`.
  public subscript(reason: RemovalReason) -> UInt64 { counts[reason.rawValue] }

  /// The total size in bytes of the values removed for `reason`. A damaged entry of unknown size counts as 0 bytes.
  public func bytes(_ reason: RemovalReason) -> UInt64 { sizes[reason.rawValue] }

  /// The number of entries evicted to keep limits.
  public var evicted: UInt64 { Self.evictions.reduce(0) { $0 &+ self[$1] } }
  /// The total size in bytes of the values evicted to keep limits.
  public var evictedBytes: UInt64 { Self.evictions.reduce(0) { $0 &+ bytes($1) } }

  private static let evictions = RemovalReason.allCases.filter(\.isEviction)

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

/// Reads by their result, since the last reset of the statistics.
public struct ReadCounters: Sendable, Equatable {
  // The record of the counters has the cases in this order. The vector of counts has no room for a ninth case.
  enum Kind: Int, CaseIterable {
    /// A fresh value was found. The codec may have failed to decode the value.
    case hits
    case misses, expired, stale, damaged, undecodable
    /// Hits of values that were already decoded in memory.
    case memory
    /// Reads of stale values that returned the value.
    case served
  }

  var counts = SIMD8<UInt64>()

  subscript(kind: Kind) -> UInt64 {
    get { counts[kind.rawValue] }
    set { counts[kind.rawValue] = newValue }
  }

  /// Reads that found a fresh value.
  public var hits: UInt64 {
    // A reset may come between a read and the decoding of its value. If undecodable values then outnumber hits, returns 0.
    self[.hits] - min(self[.hits], self[.undecodable])
  }
  /// The number of ``hits`` whose value was already decoded in memory.
  public var memoryHits: UInt64 { self[.memory] }
  /// Reads that returned no value.
  public var misses: UInt64 { absent &+ expired &+ stale &+ damaged &+ undecodable }
  /// Reads that returned a stale value, because a load ran in the background or no newer value was available.
  public var staleHits: UInt64 { self[.served] }
  /// Misses because the key had no entry, or a negative entry.
  public var absent: UInt64 { self[.misses] }
  /// Misses because the entry had expired.
  public var expired: UInt64 { self[.expired] }
  /// Misses because the entry was stale, and the read accepted no stale value or still waits for its load.
  public var stale: UInt64 { self[.stale] - min(self[.stale], self[.served]) }
  /// Misses because the entry was damaged, or lacked a required transform.
  public var damaged: UInt64 { self[.damaged] }
  /// Misses because the codec could not decode the value.
  public var undecodable: UInt64 { self[.undecodable] }

  /// The fraction of all reads that are hits, including stale hits; nil before the first read.
  public var hitRate: Double? {
    let answered = hits &+ staleHits
    let all = answered &+ misses
    return all == 0 ? nil : Double(answered) / Double(all)
  }

  /// These counts, but none lower than in the earlier counts `before`. Until it gets the stale value, a read counts as a
  /// miss, and until its decoding an undecodable value counts as a hit, so both counts may fall.
  func rising(from before: Self) -> Self {
    var rising = Self(counts: pointwiseMax(counts, before.counts))
    rising[.hits] = max(rising[.hits], rising.undecodable &+ before.hits)
    rising[.stale] = max(rising[.stale], rising.staleHits &+ before.stale)
    return rising
  }

  static func + (left: Self, right: Self) -> Self { Self(counts: left.counts &+ right.counts) }
  static func - (left: Self, right: Self) -> Self { Self(counts: left.counts &- right.counts) }
}
