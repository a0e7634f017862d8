import Larder

/// The import of one kind: compares encoded entities with those stored, batch by batch.
struct KindImport {
  private(set) var tally = ImportReport.Tally()
  /// For how long after its freshness what is written is kept; nil: as the rules say.
  var stale: Duration?
  /// Whether what is stored says all that the new says, though not in the same bytes.
  var isAsGood: (_ stored: [UInt8], _ new: [UInt8]) throws -> Bool = { _, _ in false }

  private let store: Store
  private let namespace: Store.Namespace
  private let lease: Lease
  /// How many entities become visible together, at most.
  private var batch: Int
  /// What the store has and the source has not named so far, with its expiry.
  private var unseen: [Key: Timestamp?] = [:]
  private var pending: [(key: Key, value: [UInt8])] = []
  private var pendingBytes = 0

  /// A batch ends at this size too; Larder takes at most 64 MB at once.
  private static let largestBatch = 8_000_000

  /// - Parameter prefix: what the keys begin with that the source has all of.
  init(
    _ kind: EntityKind, into cache: LegoCache, rules: Rules, batch: Int, prefix: String = ""
  ) throws {
    store = cache.larder
    self.batch = batch
    namespace = cache.namespace(of: kind)
    try store.declare(rules, for: namespace.name)
    // An operator's lifetime beats the one declared here.
    lease = Lease(try namespace.info()?.rules.expires ?? rules.expires, store: store)
    try namespace.scan(prefix: prefix) { entry, _ in
      if !entry.isNegative { unseen[entry.key] = .some(entry.expires) }
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

  /// Writes what is left and, if `removing`, removes what the source, now at its end, has not named.
  mutating func finish(removing: Bool = true) throws {
    try flush()
    guard removing else { return }
    var gone = unseen.keys.sorted()[...]
    while !gone.isEmpty {
      let some = gone.prefix(batch)
      tally.removed += try store.write { batch in
        try some.reduce(0) { count, key in try count + (batch.remove(key, from: namespace) ? 1 : 0)
        }
      }
      gone = gone.dropFirst(some.count)
    }
  }

  private mutating func flush() throws {
    guard !pending.isEmpty else { return }
    // In the order of the keys, in which they lie: neighbours go into the same pages while these are at hand.
    pending.sort { $0.key < $1.key }
    var attributes = EntryAttributes(codec: .json)
    attributes.stale = stale
    var largest = batch
    let outcomes = try store.write(pending, largest: &largest) { batch, entity in
      try write(entity.key, entity.value, attributes, in: &batch)
    }
    batch = largest
    for (entity, outcome) in zip(pending, outcomes) {
      unseen.removeValue(forKey: entity.key)
      tally[keyPath: outcome] += 1
    }
    pending.removeAll(keepingCapacity: true)
    pendingBytes = 0
  }

  private func write(
    _ key: Key, _ value: [UInt8], _ attributes: EntryAttributes, in batch: inout WriteBatch
  ) throws -> WritableKeyPath<ImportReport.Tally, Int> {
    let stored: [UInt8]? = try batch.value(for: key, in: namespace)
    guard let stored else {
      try batch.set(value, for: key, in: namespace, attributes)
      return \.added
    }
    let isLong = unseen[key].map(lease.isLong) ?? true
    if isLong, try stored == value || isAsGood(stored, value) { return \.unchanged }
    if stored == value {
      try batch.touch(key, in: namespace)
      return \.renewed
    }
    try batch.set(value, for: key, in: namespace, attributes)
    return \.changed
  }
}

/// Whether an entry that is stored has enough time ahead of it.
private struct Lease {
  private let expires: Expiration
  private let store: Store

  init(_ expires: Expiration, store: Store) {
    self.expires = expires
    self.store = store
  }

  /// False for less than half of what a new entry would get, and for more than all of it.
  func isLong(until end: Timestamp?) -> Bool {
    switch expires {
    case .never: return end == nil
    case .at(let moment): return end == moment
    case .after(let duration):
      guard let end else { return false }
      let now = store.now
      return now.advanced(by: duration / 2) <= end && end <= now.advanced(by: duration)
    // An operator's rule, by which each entry's time is another.
    case .daily, .afterAccess: return false
    }
  }
}
