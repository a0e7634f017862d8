import Foundation
import Larder
import Service

/// Stores entities of one kind that a dump or a list has, and counts the changes.
///
/// The encoded entity is compared with the stored one; an equal entity is not written.
struct EntityWriter<Entity: LegoEntity> {
  enum Origin {
    /// Has fewer fields than the API. Those that it has no column for stay.
    case dump
    /// Has the API's list form. The fields that only the detail form has stay, and their lifetime does not begin again.
    case list
  }

  private typealias Item = (key: Key, value: [UInt8], cleared: Set<String>)
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
    attributes.stale = cache.plan.staleness(of: Entity.kind)
    guard isWhole else { return }
    try namespace.scan { entry, _ in
      if !entry.isNegative { unseen[entry.key] = .some(entry.expires) }
      return true
    }
  }

  /// Stores entities, batch by batch.
  ///
  /// - Parameter progress: called after each batch with the number of entities so far.
  mutating func write(
    _ rows: [DumpRow<Entity>], progress: (_ done: Int) throws -> Void = { _ in }
  ) throws {
    for start in stride(from: 0, to: rows.count, by: batch) {
      let end = min(start + batch, rows.count)
      // In key order, neighbours go to the same pages.
      let items = try rows[start..<end].map { row in
        (key: Key(row.entity.key), value: try codec.encode(row.entity), cleared: row.cleared)
      }.sorted { $0.key < $1.key }
      let former = try former(of: items)
      for (item, outcome) in zip(items, try write(items[...], former)) {
        unseen.removeValue(forKey: item.key)
        tally[keyPath: outcome] += 1
      }
      try progress(end)
    }
  }

  /// The stored values that are stale: a batch does not read them, and they may have what the source does not.
  private func former(of items: [Item]) throws -> [Key: [UInt8]] {
    let now = store.now
    var former: [Key: [UInt8]] = [:]
    for (key, _, _) in items {
      // Of a whole kind the stored keys are known.
      if isWhole { guard let end = unseen[key] ?? nil, end <= now else { continue } }
      former[key] = try namespace.withEntry(for: key) { entry, bytes in
        entry.state == .stale && !entry.isNegative ? bytes.indices.map { bytes[$0] } : nil
      }.flatMap { $0 }
    }
    return former
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
  private func write(_ items: ArraySlice<Item>, _ former: [Key: [UInt8]]) throws -> [Outcome] {
    do {
      return try store.write { batch in
        try items.map { item in
          let change = try change(
            batch.value(for: item.key, in: namespace), former[item.key], to: item)
          if let value = change.value {
            let attributes = try attributes(
              of: change, end: batch.entry(for: item.key, in: namespace)?.expires)
            try batch.set(value, for: item.key, in: namespace, attributes)
          }
          if change.outcome == \.renewed { try batch.touch(item.key, in: namespace) }
          return change.outcome
        }
      }
    } catch let error as LarderError where error.code == .full {
      if items.count > 1 {
        // A transaction copies each page that it changes, and a small file cannot hold many copies.
        let middle = items.startIndex + items.count / 2
        return try write(items[..<middle], former) + write(items[middle...], former)
      }
      // For a single write the store makes room as often as necessary.
      return try items.map { item in
        let change = try change(namespace.value(for: item.key), former[item.key], to: item)
        if let value = change.value {
          let attributes = try attributes(
            of: change, end: namespace.entry(for: item.key)?.expires)
          try namespace.set(value, for: item.key, attributes)
        }
        if change.outcome == \.renewed { try namespace.touch(item.key) }
        return change.outcome
      }
    }
  }

  /// The attributes of an entry that is written in place of one that ends at `end`.
  private func attributes(
    of change: Change, end: @autoclosure () throws -> Timestamp?
  ) rethrows -> EntryAttributes {
    var attributes = attributes
    if change.keepsEnd { attributes.expires = try end().map { .at($0) } ?? .never }
    return attributes
  }

  /// The bytes to write for an entity, nil for none; and what that means.
  private struct Change {
    var value: [UInt8]?
    var outcome: Outcome
    /// Whether it has fields of a detail form, which the source does not confirm.
    var keepsEnd = false
  }

  private func change(_ stored: [UInt8]?, _ former: [UInt8]?, to item: Item) throws -> Change {
    guard let known = stored ?? former else {
      return Change(value: item.value, outcome: \.added)
    }
    let (merged, hasDetails) = try merged(item, with: known)
    if stored == nil, !hasDetails { return Change(value: merged ?? known, outcome: \.added) }
    if let merged { return Change(value: merged, outcome: \.changed, keepsEnd: hasDetails) }
    if hasDetails { return Change(outcome: \.unchanged) }
    if !isWhole { return Change(outcome: \.renewed) }
    return Change(outcome: unseen[item.key].map(isLong) ?? true ? \.unchanged : \.renewed)
  }

  /// The bytes to write in place of others, nil if those stay; and whether a list leaves fields of a detail form in them.
  private func merged(
    _ item: Item, with stored: [UInt8]
  ) throws -> (value: [UInt8]?, hasDetails: Bool) {
    if stored == item.value { return (nil, false) }
    do { _ = try codec.decode(stored.span) } catch { return (item.value, false) }
    let decoder = JSONDecoder()
    let (new, known) = (
      try decoder.decode(JSON.self, from: Data(item.value)),
      try decoder.decode(JSON.self, from: Data(stored))
    )
    let filled =
      switch origin {
      case .dump: new.filled(from: known, except: item.cleared)
      case .list: new.filled(from: known, only: Entity.detailFields)
      }
    let hasDetails = origin == .list && filled != new
    if filled == known { return (nil, hasDetails) }
    return (filled == new ? item.value : Array(try JSONEncoder().encode(filled)), hasDetails)
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
