import LMDB
import LarderSystem

extension WriteSession {
  mutating func load(_ id: NamespaceID) throws(LarderError) {
    if ledger.isLoaded(id) { return }
    let seal = engine.seal
    var isDamaged = false
    let counters = try transaction.read { lmdb throws(LMDBError) -> NamespaceCounters in
      try MetadataKey.withCounters(id) { key throws(LMDBError) in
        guard let record = try lmdb.value(for: key, in: .main) else { return NamespaceCounters() }
        if let counters = NamespaceCounters(record, of: id, seal: seal) { return counters }
        isDamaged = true
        return try NamespaceCounters.recounted(id, in: lmdb)
      }
    }
    ledger.add(counters, of: id, isCounted: isDamaged)
  }

  mutating func counters(of id: NamespaceID) throws(LarderError) -> NamespaceCounters {
    try load(id)
    return ledger[id]
  }

  mutating func update(
    _ id: NamespaceID, _ change: (inout NamespaceCounters) -> Void
  ) throws(LarderError) {
    try load(id)
    ledger.updateLoaded(id, change)
  }

  mutating func charge(
    _ old: EntryWeight?, _ new: EntryWeight?, to id: NamespaceID,
    removing reason: RemovalReason? = nil
  ) throws(LarderError) {
    if old == new, reason == nil { return }
    try load(id)
    ledger.charge(old, new, to: id, removing: reason)
  }

  /// Takes the next number of a namespace, for the version of a value or the queue position of a new entry.
  mutating func nextNumber(in id: NamespaceID) throws(LarderError) -> UInt64 {
    var number: UInt64 = 0
    try update(id) { counters in
      number = counters.next
      counters.next &+= 1
    }
    guard number < QueuePosition.limit - 1 else {
      throw transaction.fail(
        LarderError(
          .overLimit, "a namespace has used all of its \(QueuePosition.limit) version numbers",
          hint: "move its entries to another namespace"))
    }
    return number
  }

  mutating func saveCounters() throws(LarderError) {
    let seal = engine.seal
    try ledger.visitChanged { id, counters throws(LarderError) in
      try MetadataKey.withCounters(id) { key throws(LarderError) in
        try transaction.put(count: NamespaceCounters.recordSize, for: key, in: .main) {
          counters.write(to: &$0, of: id, seal: seal)
        }
      }
    }
    guard ledger.isStoreChanged else { return }
    let (key, store) = (MetadataKey.state, ledger.store)
    try transaction.put(count: StoreState.recordSize, for: key.span, in: .main) {
      store.write(to: &$0, seal: seal)
    }
  }
}
