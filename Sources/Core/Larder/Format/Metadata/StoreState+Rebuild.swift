import LMDB
import LarderSystem

// The state counts entries, namespaces and tombstones. Records of all three are still stored, so a write can count again.

extension StoreState {
  /// Computes the state from everything else in the store. Used by a write that finds the record of the state damaged. The
  /// counts become exact again, except the number of dependents, which may be too high. Other facts get safe values: a
  /// generation that no process has seen, a time at which all entries may be due, and no time of a last write. O(namespaces),
  /// and O(entries) of each namespace with damaged counters.
  static func rebuilt(
    in transaction: borrowing WriteTransaction, seal: RecordSeal
  ) throws(LMDBError) -> StoreState {
    var state = StoreState()
    state.generation = UInt64.random(in: 1 << 62..<1 << 63)
    state.nextDue = 0
    state.watched = 1
    state.tombstones = try transaction.count(MetadataKey.tombstones)
    state.orphans = try transaction.count(MetadataKey.orphans)
    try transaction.forEach(in: .main, from: MetadataKey.allCounters) {
      key, record throws(LMDBError) in
      guard let id = MetadataKey.id(of: key) else { return }
      let stored = NamespaceCounters(record, of: id, seal: seal)
      if try transaction.value(for: MetadataKey.garbage(id), in: .main) != nil {
        state.garbage += 1
        return
      }
      let counters =
        if let stored { stored } else { try NamespaceCounters.recounted(id, in: transaction) }
      state.entries &+= counters.entries
      state.bytes &+= counters.bytes
      state.stored &+= counters.stored
    }
    // The number may be too high. But a number that is too low would leave dependents in the store, so all entries count.
    state.dependents = state.entries
    return state
  }
}

extension NamespaceCounters {
  /// Computes the counters from the entries of a namespace. Used by a write that finds the record of the counters damaged.
  ///
  /// Statistics begin again at 0. The next version is far above the highest version found, at a random distance. So neither a
  /// version of a removed entry nor a version given after an earlier damage is used again. O(entries).
  static func recounted(
    _ id: NamespaceID, in transaction: borrowing WriteTransaction
  ) throws(LMDBError) -> NamespaceCounters {
    var counters = NamespaceCounters()
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
  func stateOrRebuilt(_ seal: RecordSeal) throws(LMDBError) -> StoreState {
    if let state = try state(seal) { return state }
    return try StoreState.rebuilt(in: self, seal: seal)
  }

  fileprivate func count(_ prefix: [UInt8]) throws(LMDBError) -> UInt64 {
    var count: UInt64 = 0
    try forEach(in: .main, from: prefix) { _, _ throws(LMDBError) in count += 1 }
    return count
  }
}
