import Larder

/// The import of one kind: compares encoded entities with those stored, batch by batch.
struct KindImport {
  private(set) var tally = ImportReport.Tally()

  private let store: Store
  private let cache: Cache<[UInt8]>
  private let lease: Lease
  private let batch: Int
  /// What the store has and the source has not named so far, with its expiry.
  private var unseen: [Key: Timestamp?] = [:]
  private var pending: [(key: Key, value: [UInt8])] = []
  private var pendingBytes = 0

  /// A batch ends at this size too; Larder takes at most 64 MB at once.
  private static let largestBatch = 8_000_000

  init(_ kind: EntityKind, into cache: LegoCache, rules: Rules, batch: Int) throws {
    store = cache.larder
    self.cache = store.cache(EncodedJSON(), in: kind.namespace, rules: rules)
    self.batch = batch
    // An operator's lifetime beats the one declared here.
    let overrides = try store.namespaces().first { $0.name == kind.namespace }?.overrides
    lease = Lease(overrides?.expires ?? rules.expires, clock: cache.clock)
    try self.cache.namespace.scan { entry, _ in
      unseen[entry.key] = .some(entry.expires)
      return true
    }
  }

  /// Takes the next entity; whether that completed a batch.
  mutating func add(_ key: String, _ value: [UInt8]) throws -> Bool {
    pending.append((Key(key), value))
    pendingBytes += value.count
    guard pending.count >= batch || pendingBytes >= Self.largestBatch else { return false }
    try flush()
    return true
  }

  /// Writes what is left and removes what the source, now at its end, has not named.
  mutating func finish() throws {
    try flush()
    var gone = unseen.keys.sorted()[...]
    while !gone.isEmpty {
      let some = gone.prefix(batch)
      tally.removed += try store.write { batch in
        try some.reduce(0) { count, key in try count + (batch.remove(key, from: cache) ? 1 : 0) }
      }
      gone = gone.dropFirst(some.count)
    }
  }

  private mutating func flush() throws {
    guard !pending.isEmpty else { return }
    try store.write { batch in
      for (key, value) in pending {
        let known = unseen.removeValue(forKey: key)
        let stored: [UInt8]? = try batch.value(for: key, in: cache.namespace)
        if stored == value, known.map(lease.isLong) ?? true {
          tally.unchanged += 1
          continue
        }
        switch stored {
        case nil: tally.added += 1
        case value: tally.renewed += 1
        default: tally.changed += 1
        }
        // A batch cannot touch an entry, so a renewed one is written again.
        try batch.set(value, for: key, in: cache)
      }
    }
    pending.removeAll(keepingCapacity: true)
    pendingBytes = 0
  }
}

/// Whether an entry that is stored has enough time ahead of it.
private struct Lease {
  private let expires: Expiration
  private let clock: any LarderClock

  init(_ expires: Expiration, clock: any LarderClock) {
    self.expires = expires
    self.clock = clock
  }

  /// False for less than half of what a new entry would get, and for more than all of it.
  func isLong(until end: Timestamp?) -> Bool {
    switch expires {
    case .never: return end == nil
    case .at(let moment): return end == moment
    case .after(let duration):
      guard let end else { return false }
      let now = clock.now
      return now.advanced(by: duration / 2) <= end && end <= now.advanced(by: duration)
    }
  }
}

/// JSON that is encoded already: an import compares it before it stores it.
private struct EncodedJSON: Codec {
  var id: CodecID { .json }

  func encode(_ value: [UInt8]) -> [UInt8] { value }
  func decode(_ bytes: Span<UInt8>) -> [UInt8] {
    BytesCodec().decode(bytes)
  }
}
