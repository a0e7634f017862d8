import LMDB
import LarderSystem

/// Checks of the store's own records: namespaces, cleared ids, counters and the state.
extension Verifier {
  /// Checks the record of the store's limits. If this record is damaged, every write fails.
  mutating func checkSettings(_ transaction: borrowing ReadTransaction) throws(LarderError) {
    do throws(LarderError) {
      _ = try engine.metadata.settings(in: transaction)
    } catch  where error.code == .damaged {
      report(.damagedRecord(error.message))
    }
  }

  mutating func checkNamespaces(_ transaction: borrowing ReadTransaction) throws(LarderError) {
    for (name, bytes) in try engine.metadata.namespaceRecords(in: transaction) {
      let record: NamespaceRecord
      do throws(LarderError) {
        record = try NamespaceRecord(bytes.span, name: name, seal: engine.seal)
      } catch {
        report(.damagedRecord(error.message))
        continue
      }
      if let other = names.updateValue(name, forKey: record.id) { report(.sharedID(other, name)) }
      do throws(LarderError) {
        let listed = try engine.metadata.listed(record, name: name, in: transaction)
        namespaces.append(listed)
        result.nextVersions[record.id] = listed.counters.next
        recounted[record.id] = NamespaceCounters(recounting: listed.counters)
      } catch  where error.code == .damaged { report(.damagedCounters, in: name) }
    }
    result.namespaces = names.count
  }

  mutating func checkGarbage(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    try transaction.forEach(in: .main, from: MetadataKey.garbage) { key, record throws(LMDBError) in
      let seed = engine.seal.seed(for: key)
      if let id = MetadataKey.id(of: key), engine.seal.open(record, seed: seed) != nil {
        garbage.insert(id)
        if let name = names[id] { report(.clearedInUse(id, name)) }
      } else {
        report(.damagedClearedRecord(at: key.copied))
      }
    }
  }

  /// Checks that every record of counters belongs to a namespace. A record without a namespace prevents the reuse of its id.
  mutating func checkCounterRecords(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    try transaction.forEach(in: .main, from: MetadataKey.allCounters) { key, _ throws(LMDBError) in
      guard let id = MetadataKey.id(of: key) else {
        return report(.damagedCountersKey(at: key.copied))
      }
      if names[id] == nil, !garbage.contains(id) { report(.orphanedCounters(of: id)) }
    }
  }

  mutating func checkCounts(_ transaction: borrowing ReadTransaction) throws(LMDBError) {
    if !result.unfinished.contains(.entries) { checkCounters() }
    checkRules()
    guard let state = try transaction.state(engine.seal) else { return report(.damagedState) }
    checkTotals(state)
    let tombstones = try Tombstone.all(in: transaction, engine.seal)
    for tombstone in tombstones where tombstone.isDamaged { report(.damagedInvalidatedTag) }
    if state.tombstones != tombstones.count {
      report(.invalidatedTagCount(counted: state.tombstones, found: tombstones.count))
    }
  }

  private mutating func checkCounters() {
    for namespace in namespaces {
      let found = recounted[namespace.id] ?? NamespaceCounters()
      let counted = namespace.counters
      let name = namespace.facts.name
      if found.entries > 0, found.next >= counted.next {
        report(.usedVersion(next: counted.next, used: found.next), in: name)
      }
      let windows = (counted: Fault.Window(counted), found: Fault.Window(found))
      if windows.counted != windows.found {
        report(.pinnedOrWindow(counted: windows.counted, found: windows.found), in: name)
      }
      let entries = (counted: Fault.Entries(counted), found: Fault.Entries(found))
      if entries.counted != entries.found {
        report(.entryCount(counted: entries.counted, found: entries.found), in: name)
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
      let sums = [\NamespaceCounters.entries, \.bytes, \.stored].map { count in
        namespaces.reduce(0 as UInt64) { $0 &+ $1.counters[keyPath: count] }
      }
      if sums != [state.entries, state.bytes, state.stored] { report(.totals) }
    }
    if state.dependents < dependents {
      report(.dependents(counted: state.dependents, found: dependents))
    }
    if state.garbage != UInt64(garbage.count) {
      report(.clearedCount(counted: state.garbage, found: garbage.count))
    }
  }
}
