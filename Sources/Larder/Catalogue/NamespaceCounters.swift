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
  /// Room for the eviction policy's state.
  var policy = [UInt64](repeating: 0, count: 10)

  init() {}

  init(_ bytes: Span<UInt8>) {
    var words = WordReader(bytes)
    entries = words.next()
    self.bytes = words.next()
    stored = words.next()
    next = words.next()
    for reason in RemovalReason.allCases { removals[reason] = words.next() }
    for kind in ReadCounters.Kind.allCases { reads[kind] = words.next() }
    for index in policy.indices { policy[index] = words.next() }
  }

  var encoded: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(264)
    for word in [entries, bytes, stored, next] { result.append(word: word) }
    for reason in RemovalReason.allCases { result.append(word: removals[reason]) }
    for kind in ReadCounters.Kind.allCases { result.append(word: reads[kind]) }
    for word in policy { result.append(word: word) }
    return result
  }
}

/// Why an entry is no longer there.
public enum RemovalReason: Int, CaseIterable, Sendable {
  /// Its time had come.
  case expired
  /// A limit of the namespace or the store needed its room.
  case evicted
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
}

/// How many entries went for each reason, since the store was made.
public struct RemovalCounters: Sendable, Equatable {
  private var counts = [UInt64](repeating: 0, count: RemovalReason.allCases.count)

  public internal(set) subscript(reason: RemovalReason) -> UInt64 {
    get { counts[reason.rawValue] }
    set { counts[reason.rawValue] = newValue }
  }
}

/// What reads met, since the store was made.
public struct ReadCounters: Sendable, Equatable {
  enum Kind: Int, CaseIterable {
    /// A value was lent, whether or not its codec could read it.
    case hits
    case misses, expired, stale, damaged, undecodable
  }

  private var counts = [UInt64](repeating: 0, count: Kind.allCases.count)

  subscript(kind: Kind) -> UInt64 {
    get { counts[kind.rawValue] }
    set { counts[kind.rawValue] = newValue }
  }

  /// Reads that found a fresh value.
  public var hits: UInt64 { self[.hits] &- self[.undecodable] }
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
