import Foundation
import Larder
import Service

/// Stores entities of one kind that a dump or a list has, and counts the changes.
///
/// The encoded entity is compared with the stored one; an equal entity is not written.
struct EntityWriter<Entity: LegoEntity> {
  enum Origin {
    /// Has fewer fields than the API. Those that only the stored entity has stay.
    case dump
    /// Has the API's list form. A stored detail form with the same contents stays.
    case list
  }

  private typealias Item = (key: Key, value: [UInt8])
  private typealias Outcome = WritableKeyPath<ImportReport.Tally, Int>

  private(set) var tally = ImportReport.Tally()
  private let origin: Origin
  private let isWhole: Bool
  private let batch: Int
  private let store: Store
  private let namespace: Store.Namespace
  private let codec = JSONCodec<Entity>()
  private var attributes = EntryAttributes(codec: .json)
  /// The lifetime that a new entry gets.
  private let expires: Expiration
  /// Stored keys that were not written so far, with their expiry.
  private var unseen: [Key: Timestamp?] = [:]
  /// Stored values that are stale: they count as absent, and may have what the source does not.
  private var former: [Key: [UInt8]] = [:]

  /// - Parameters:
  ///   - isWhole: whether all entities of the kind will come, so that the others can be removed.
  ///   - batch: the most entities in a transaction.
  init(into cache: LegoCache, from origin: Origin, isWhole: Bool, batch: Int = 1000) throws {
    (self.origin, self.isWhole, self.batch) = (origin, isWhole, batch)
    store = cache.larder
    namespace = cache.namespace(of: Entity.kind)
    let rules = cache.plan.rules(of: Entity.kind) ?? Rules()
    try store.declare(rules, for: namespace.name)
    // An operator's lifetime beats the one declared here.
    expires = try namespace.info()?.rules.expires ?? rules.expires
    if origin == .list { attributes.stale = cache.plan.staleness(of: Entity.kind) }
    guard isWhole else { return }
    try namespace.scan { entry, bytes in
      if entry.isNegative { return true }
      unseen[entry.key] = .some(entry.expires)
      if entry.state == .stale { former[entry.key] = bytes.indices.map { bytes[$0] } }
      return true
    }
  }

  /// Stores entities, batch by batch.
  ///
  /// - Parameter progress: called after each batch with the number of entities so far.
  mutating func write(
    _ entities: [Entity], progress: (_ done: Int) throws -> Void = { _ in }
  ) throws {
    for start in stride(from: 0, to: entities.count, by: batch) {
      let end = min(start + batch, entities.count)
      // In key order, neighbours go to the same pages.
      let items = try entities[start..<end].map { (key: Key($0.key), value: try codec.encode($0)) }
        .sorted { $0.key < $1.key }
      for (item, outcome) in zip(items, try write(items[...])) {
        unseen.removeValue(forKey: item.key)
        tally[keyPath: outcome] += 1
      }
      try progress(end)
    }
  }

  /// Removes the entities that were stored at the beginning and did not come.
  mutating func removeOthers() throws {
    var gone = unseen.keys.sorted()[...]
    while !gone.isEmpty {
      let some = gone.prefix(batch)
      tally.removed += try store.write { batch in
        try some.reduce(0) { try $0 + (batch.remove($1, from: namespace) ? 1 : 0) }
      }
      gone = gone.dropFirst(some.count)
    }
  }

  /// Writes items in as few transactions as the store has room for.
  private func write(_ items: ArraySlice<Item>) throws -> [Outcome] {
    do {
      return try store.write { batch in
        try items.map { item in
          let (value, outcome) = try change(batch.value(for: item.key, in: namespace), to: item)
          if let value { try batch.set(value, for: item.key, in: namespace, attributes) }
          if outcome == \.renewed { try batch.touch(item.key, in: namespace) }
          return outcome
        }
      }
    } catch let error as LarderError where error.code == .full {
      if items.count > 1 {
        // A transaction copies each page that it changes, and a small file cannot hold many copies.
        let middle = items.startIndex + items.count / 2
        return try write(items[..<middle]) + write(items[middle...])
      }
      // For a single write the store makes room as often as necessary.
      return try items.map { item in
        let (value, outcome) = try change(namespace.value(for: item.key), to: item)
        if let value { try namespace.set(value, for: item.key, attributes) }
        if outcome == \.renewed { try namespace.touch(item.key) }
        return outcome
      }
    }
  }

  /// The bytes to write for an entity, nil for none; and what that means.
  private func change(
    _ stored: [UInt8]?, to item: Item
  ) throws -> (value: [UInt8]?, outcome: Outcome) {
    guard let stored else {
      return (
        try former[item.key].map { try merged(item.value, with: $0) ?? $0 } ?? item.value, \.added
      )
    }
    if stored != item.value, let merged = try merged(item.value, with: stored) {
      return (merged, \.changed)
    }
    if !isWhole { return (nil, \.renewed) }
    return (nil, unseen[item.key].map(isLong) ?? true ? \.unchanged : \.renewed)
  }

  /// The bytes to write in place of others; nil if those stay.
  private func merged(_ new: [UInt8], with stored: [UInt8]) throws -> [UInt8]? {
    let former: Entity
    do {
      former = try codec.decode(stored.span)
    } catch {
      return new
    }
    let decoder = JSONDecoder()
    let (listed, known) = (
      try decoder.decode(JSON.self, from: Data(new)),
      try decoder.decode(JSON.self, from: Data(stored))
    )
    switch origin {
    case .list: return former.isDetail && known.without(Entity.detailFields) == listed ? nil : new
    case .dump:
      let filled = listed.filled(from: known)
      return filled == known ? nil : Array(try JSONEncoder().encode(filled))
    }
  }

  /// Whether at least half of the lifetime of a new entry is left, and no more than all of it.
  private func isLong(until end: Timestamp?) -> Bool {
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
