import LMDB
import LarderSystem

/// Checks of the store's own records: namespaces, cleared ids, counters and the state.
extension Verifier {
  /// Checks the record of the store's limits. If this record is damaged, every write fails.
  mutating func checkSettings(_ transaction: borrowing ReadTransaction) throws(LarderError) {
    do throws(LarderError) {
      _ = try engine.metadata.settings(in: transaction)
    } catch  where error.code == .damaged {
      report(.metadata, error.message, remedy: .impossible)
    }
  }

  mutating func checkNamespaces(_ transaction: borrowing ReadTransaction) throws(LarderError) {
    for (name, bytes) in try engine.metadata.namespaceRecords(in: transaction) {
      let record: NamespaceRecord
      do throws(LarderError) {
        record = try NamespaceRecord(bytes.span, name: name, seal: engine.seal)
      } catch {
        report(.metadata, error.message, remedy: .impossible)
        continue
      }
      if let other = names.updateValue(name, forKey: record.id) {
        report(.metadata, "namespaces \(other) and \(name) have the same id", remedy: .impossible)
      }
      do throws(LarderError) {
        let listed = try engine.metadata.listed(record, name: name, in: transaction)
        namespaces.append(listed)
        result.nextVersions[record.id] = listed.counters.next
        recounted[record.id] = NamespaceCounters(recounting: listed.counters)
      } catch  where error.code == .damaged {
        report(
          .counters,
          "the record of its counters is damaged; the next write to it counts its entries again",
          in: name, remedy: .recountNamespace(used: 0))
      }
    }
    result.namespaces = names.count
  }

  mutating func checkGarbage(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    try transaction.forEach(in: .main, from: MetadataKey.garbage) {
      key, record throws(LMDBError) in
      let seed = engine.seal.seed(for: key)
      if let id = MetadataKey.id(of: key), engine.seal.open(record, seed: seed) != nil {
        garbage.insert(id)
        if let name = names[id] {
          report(
            .metadata, "namespace \(name) is in use and listed as cleared",
            remedy: .keep(id, name))
        }
      } else {
        report(
          .metadata, "the record of a cleared namespace is damaged",
          remedy: .clearedRecord(key.copied))
      }
    }
  }

  /// Checks that every record of counters belongs to a namespace. A record without a namespace prevents the reuse of its id.
  mutating func checkCounterRecords(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    try transaction.forEach(in: .main, from: MetadataKey.allCounters) {
      key, _ throws(LMDBError) in
      guard let id = MetadataKey.id(of: key) else {
        return report(
          .metadata, "the key of a record of counters is damaged",
          remedy: .countersRecord(key.copied))
      }
      if names[id] == nil, !garbage.contains(id) {
        report(
          .metadata, "there are counters of namespace id \(id.rawValue), which does not exist",
          remedy: .clear(id))
      }
    }
  }

  private mutating func checkTombstones(
    _ state: StoreState, _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) {
    let tombstones = try Tombstone.all(in: transaction, engine.seal)
    for tombstone in tombstones where tombstone.isDamaged {
      report(.metadata, "the record of an invalidated tag is damaged", remedy: .finishInvalidations)
    }
    if state.tombstones != tombstones.count {
      report(
        .counters, "counted \(state.tombstones) invalidated tags, found \(tombstones.count)",
        remedy: .finishInvalidations)
    }
  }

  mutating func checkCounts(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    checkCounters()
    checkRules()
    guard let state = try transaction.state(engine.seal) else {
      return report(
        .metadata, "the record of the store's state is damaged; the next write rebuilds it")
    }
    checkTotals(state)
    try checkTombstones(state, transaction)
  }

  private mutating func checkCounters() {
    for namespace in namespaces {
      let found = recounted[namespace.id] ?? NamespaceCounters()
      let counted = namespace.counters
      let name = namespace.facts.name
      if found.entries > 0, found.next >= counted.next {
        report(
          .counters,
          "the next version would be \(counted.next), but version \(found.next) is in use",
          in: name, remedy: .recountNamespace(used: found.next))
      }
      let (window, foundWindow) = (counted.queue, found.queue)
      if counted.pinned != found.pinned || window.windowEntries != foundWindow.windowEntries
        || window.windowBytes != foundWindow.windowBytes
      {
        report(
          .counters,
          "counted \(counted.pinned) pinned entries and \(window.windowEntries) entries of "
            + "\(window.windowBytes) bytes in the window, found \(found.pinned) and "
            + "\(foundWindow.windowEntries) of \(foundWindow.windowBytes)",
          in: name, remedy: .recountNamespace(used: 0))
      }
      if (counted.entries, counted.bytes, counted.stored) != (
        found.entries, found.bytes, found.stored
      ) {
        report(
          .counters,
          "counted \(counted.entries) entries of \(counted.bytes) bytes "
            + "(\(counted.stored) stored), found \(found.entries) of \(found.bytes) (\(found.stored))",
          in: name, remedy: .recountNamespace(used: 0))
      }
    }
  }

  /// Warns if an operator's overrides let a namespace lose entries that code has declared without expiry and eviction.
  private mutating func checkRules() {
    for facts in namespaces.map(\.facts)
    where facts.declared.eviction == .refuse && facts.declared.expires == .never {
      var ways: [String] = []
      if facts.rules.eviction != .refuse {
        ways.append("evicts its entries (\(facts.rules.eviction.rawValue))")
      }
      if facts.rules.expires != .never { ways.append("lets new entries expire") }
      guard !ways.isEmpty else { continue }
      let detail =
        "code declares that its entries are never removed, but an override "
        + ways.joined(separator: " and ")
      result.warnings.append(Verification.Warning(namespace: facts.name, detail: detail))
    }
  }

  private mutating func checkTotals(_ state: StoreState) {
    if namespaces.count == names.count {
      let counters = namespaces.map(\.counters)
      let entries = counters.reduce(0 as UInt64) { $0 &+ $1.entries }
      let bytes = counters.reduce(0 as UInt64) { $0 &+ $1.bytes }
      let stored = counters.reduce(0 as UInt64) { $0 &+ $1.stored }
      if (entries, bytes, stored) != (state.entries, state.bytes, state.stored) {
        report(.counters, "the totals of the store differ from the sums of its namespaces")
      }
    }
    if state.dependents < dependents {
      report(.counters, "counted \(state.dependents) entries with owners, found \(dependents)")
    }
    if state.garbage != UInt64(garbage.count) {
      report(.counters, "counted \(state.garbage) cleared ids, found \(garbage.count)")
    }
  }
}
