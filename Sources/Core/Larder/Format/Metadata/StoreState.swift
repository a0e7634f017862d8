import LMDB
import LarderSystem

/// Totals and other facts of the whole store: the record `G`, which nearly every commit writes.
struct StoreState: Equatable {
  /// Rises with every change of a name, an id, a rule, a setting or a tombstone, so processes know when to read facts again.
  var generation: UInt64 = 1
  var nextID: UInt64 = 1
  /// The number of invalidated tags that stored entries may still have.
  var tombstones: UInt64 = 0
  // The next three numbers are sums over all namespaces; see ``NamespaceCounters``.
  var entries: UInt64 = 0
  var bytes: UInt64 = 0
  var stored: UInt64 = 0
  /// The last time that a write or purge accepted as correct, in milliseconds since 1970; see ``Store/purge()``.
  var lastStamp: UInt64 = 0
  /// The monotonic time, plus 1, at which a purge first found the time suspect; see ``Store/purge()``. 0 if no time is suspect.
  var suspectSince: UInt64 = 0
  /// The number of cleared namespace ids that still have entries.
  var garbage: UInt64 = 0
  /// The first time in the expiry index, or an earlier time; exact after a full purge. ``EntryHeader/never`` for an empty index.
  var nextDue = UInt64(EntryHeader.never)
  /// The number of entries with an owner; may be too high after a rebuild. If 0, removals do not search for dependents.
  var dependents: UInt64 = 0
  /// The number of commits that were made only to make freed pages usable.
  var forcedCommits: UInt64 = 0
  /// 0 before the first subscription to changes, 1 afterwards. If 1, every write batch checks for subscribers.
  var watched: UInt64 = 0
  /// When a process last began its maintenance, by the clock of that process, in milliseconds since 1970; 0 if never.
  var maintained: UInt64 = 0
  /// The number of removed owners that still have dependents.
  var orphans: UInt64 = 0
}

/// Reads successive little-endian numbers. The caller must check that the bytes exist.
struct WordReader: ~Escapable {
  private let bytes: Span<UInt8>
  private var offset: Int

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>, at offset: Int = 0) {
    self.bytes = bytes
    self.offset = offset
  }

  /// A number of 2, 4, 6 or 8 bytes. Reads the 8 bytes up to the end of the number, so 6 bytes must precede a short number.
  mutating func next(_ count: Int = 8) -> UInt64 {
    offset += count
    return bytes.word(at: offset - 8) &>> UInt64(64 - 8 * count)
  }
}

extension DatabaseView where Self: ~Copyable {
  /// The state of the store; nil if its record is damaged or missing.
  func state(_ seal: RecordSeal) throws(LMDBError) -> StoreState? {
    let key = MetadataKey.state
    guard let record = try value(for: key.span, in: .main) else { return nil }
    return StoreState(record, seal: seal)
  }
}

extension StoreState {
  init?(_ record: Span<UInt8>, seal: RecordSeal) {
    guard record.count == Self.recordSize, let content = seal.open(record, for: MetadataKey.state)
    else { return nil }
    var words = WordReader(content)
    (generation, nextID, tombstones) = (words.next(), words.next(), words.next())
    (entries, bytes, stored) = (words.next(), words.next(), words.next())
    (lastStamp, suspectSince) = (words.next(), words.next())
    (garbage, nextDue, dependents) = (words.next(), words.next(), words.next())
    (forcedCommits, watched, maintained) = (words.next(), words.next(), words.next())
    orphans = words.next()
    if max(entries, bytes, stored) > NamespaceCounters.highestCount { return nil }
  }

  static let recordSize = RecordSeal.size + 15 * 8

  func write(to record: inout OutputSpan<UInt8>, seal: RecordSeal) {
    let key = MetadataKey.state
    seal.write(to: &record, seed: seal.seed(for: key.span)) { record in
      for word in [
        generation, nextID, tombstones, entries, bytes, stored, lastStamp, suspectSince, garbage,
        nextDue, dependents, forcedCommits, watched, maintained, orphans,
      ] { record.append(word: word) }
    }
  }

  func record(seal: RecordSeal) -> [UInt8] {
    [UInt8](count: Self.recordSize) { write(to: &$0, seal: seal) }
  }

  func mayBeDue(at now: Timestamp) -> Bool { Int64(clamping: nextDue) <= now.milliseconds }

  /// Computes the state from all other records, for a write that finds the record of the state damaged. Counts are exact, except
  /// the number of dependents. Other facts get safe values, such as a generation that no process has seen. O(namespaces), and
  /// O(entries) of each namespace with damaged counters.
  static func rebuilt(
    in transaction: borrowing WriteTransaction, seal: RecordSeal
  ) throws(LMDBError) -> StoreState {
    var state = StoreState()
    state.generation = UInt64.random(in: 1 << 62..<1 << 63)
    state.nextDue = 0
    state.watched = 1
    state.tombstones = try transaction.count(MetadataKey.tombstones)
    state.orphans = try transaction.count(MetadataKey.orphans)
    state.garbage = try transaction.count(MetadataKey.garbage)
    try transaction.forEach(in: .main, from: MetadataKey.allCounters) {
      key, record throws(LMDBError) in
      guard let id = MetadataKey.id(of: key),
        try transaction.value(for: MetadataKey.garbage(id), in: .main) == nil
      else { return }
      let stored = NamespaceCounters(record, of: id, seal: seal)
      let counters =
        if let stored { stored } else { try NamespaceCounters.recounted(id, in: transaction) }
      state.entries &+= counters.entries
      state.bytes &+= counters.bytes
      state.stored &+= counters.stored
    }
    // A number that is too low would leave dependents in the store. So all entries count, also those of cleared namespaces.
    state.dependents = UInt64(try transaction.statistics(of: .entries).records)
    return state
  }
}

extension NamespaceCounters {
  /// Computes the counters from the entries, for a write that finds the record of the counters damaged. Statistics begin anew.
  /// The next version is far above the highest version found, at a random distance. So neither a version of a removed entry nor
  /// a version given after an earlier damage is used again. O(entries).
  static func recounted(
    _ id: NamespaceID, since: Timestamp = Timestamp(milliseconds: 0),
    in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> NamespaceCounters {
    var counters = NamespaceCounters(since: since)
    var highest: UInt64 = 0
    try transaction.forEach(in: .entries, from: id.prefix) { key, record throws(LMDBError) in
      guard let entry = StoredEntry(entryKey: key.copied, record: record), entry.key != nil
      else { return }
      counters.count(entry.weight)
      if entry.isIntact(record) {
        highest = max(highest, entry.header.version, entry.header.sequence)
      }
    }
    let leap = UInt64.random(in: 1 << 40..<1 << 44)
    counters.next = min(highest + leap, QueuePosition.limit - 1)
    return counters
  }
}

extension WriteTransaction {
  fileprivate func count(_ prefix: [UInt8]) throws(LMDBError) -> UInt64 {
    var count: UInt64 = 0
    try forEach(in: .main, from: prefix) { _, _ throws(LMDBError) in count += 1 }
    return count
  }
}
