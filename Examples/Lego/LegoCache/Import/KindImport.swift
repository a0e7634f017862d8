import Larder

/// The import of one kind: compares encoded entities with those stored, batch by batch.
struct KindImport {
  private(set) var tally = ImportReport.Tally()
  /// The stale window of written entities; nil: that of the rules.
  var stale: Duration?
  /// The bytes to write in place of a stored entity that differs from the new one; nil keeps the stored one.
  var merge: (_ stored: [UInt8], _ new: [UInt8]) throws -> [UInt8]? = { _, new in new }

  private let store: Store
  private let namespace: Store.Namespace
  private let lease: Lease
  /// The most entities in a transaction.
  private var batch: Int
  /// Stored keys that the source has not named so far, with their expiry.
  private var unseen: [Key: Timestamp?] = [:]
  /// Stored values that are stale: they count as absent, and may have what the source does not.
  private var former: [Key: [UInt8]] = [:]
  private var pending: [(key: Key, value: [UInt8])] = []
  private var pendingBytes = 0

  /// The most bytes in a transaction.
  private static let largestBatch = 8_000_000

  init(_ kind: EntityKind, into cache: LegoCache, rules: Rules, batch: Int) throws {
    store = cache.larder
    self.batch = batch
    namespace = cache.namespace(of: kind)
    try store.declare(rules, for: namespace.name)
    // An operator's lifetime beats the one declared here.
    lease = Lease(try namespace.info()?.rules.expires ?? rules.expires, store: store)
    try namespace.scan { entry, bytes in
      if entry.isNegative { return true }
      unseen[entry.key] = .some(entry.expires)
      if entry.state == .stale { former[entry.key] = bytes.indices.map { bytes[$0] } }
      return true
    }
  }

  /// Adds the next entity; returns whether that completed a batch.
  mutating func add(_ key: String, _ value: [UInt8]) throws -> Bool {
    pending.append((Key(key), value))
    pendingBytes += value.count
    guard pending.count >= batch || pendingBytes >= Self.largestBatch else { return false }
    try flush()
    return true
  }

  /// Writes the last batch. If `removing`, removes the stored keys that the source did not name.
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
    // In key order, neighbours go to the same pages.
    pending.sort { $0.key < $1.key }
    var attributes = EntryAttributes(codec: .json)
    attributes.stale = stale
    var largest = batch
    let outcomes = try store.write(pending, largest: &largest) { key, value in
      let change = try change(of: key, from: namespace.value(for: key), to: value)
      if let new = change.value {
        try namespace.set(new, for: key, attributes)
      } else if change.outcome == \.renewed {
        try namespace.touch(key)
      }
      return change.outcome
    } _: { batch, entity in
      let (key, value) = entity
      let change = try change(of: key, from: batch.value(for: key, in: namespace), to: value)
      if let new = change.value {
        try batch.set(new, for: key, in: namespace, attributes)
      } else if change.outcome == \.renewed {
        try batch.touch(key, in: namespace)
      }
      return change.outcome
    }
    batch = largest
    for (entity, outcome) in zip(pending, outcomes) {
      unseen.removeValue(forKey: entity.key)
      tally[keyPath: outcome] += 1
    }
    pending.removeAll(keepingCapacity: true)
    pendingBytes = 0
  }

  /// The bytes to write for an entity, nil for none; and what that means.
  private func change(
    of key: Key, from stored: [UInt8]?, to value: [UInt8]
  ) throws -> (value: [UInt8]?, outcome: WritableKeyPath<ImportReport.Tally, Int>) {
    guard let stored else {
      return (try former[key].map { try merge($0, value) ?? $0 } ?? value, \.added)
    }
    if stored != value, let merged = try merge(stored, value) { return (merged, \.changed) }
    return (nil, unseen[key].map(lease.isLong) ?? true ? \.unchanged : \.renewed)
  }
}

/// The lifetime that a new entry gets.
private struct Lease {
  private let expires: Expiration
  private let store: Store

  init(_ expires: Expiration, store: Store) {
    self.expires = expires
    self.store = store
  }

  /// False for an entry with less than half of the lifetime left, or more than all of it.
  func isLong(until end: Timestamp?) -> Bool {
    switch expires {
    case .never: return end == nil
    case .at(let moment): return end == moment
    case .after(let duration):
      guard let end else { return false }
      let now = store.now
      return now.advanced(by: duration / 2) <= end && end <= now.advanced(by: duration)
    // Operators' rules, under which the entries of a kind end at different times.
    case .daily, .afterAccess: return false
    }
  }
}
