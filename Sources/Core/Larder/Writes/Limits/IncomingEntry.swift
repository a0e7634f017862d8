import LarderSystem

/// The entry that a write is about to store, while room is made for it. It is neither stored nor counted yet, so that a refused
/// write leaves nothing to undo; but limits and policies take it for counted.
struct IncomingEntry {
  /// Its key in the database of entries.
  let entryKey: [UInt8]
  let weight: EntryWeight
  /// The weight of the entry that it replaces, which is still counted.
  let former: EntryWeight?
  /// The entry keys of its owners and of those of its former value, up the chain.
  var owners: Set<[UInt8]> = []

  var id: NamespaceID { entryKey.span.namespaceID }
}

extension BatchCounters {
  /// The counters of a namespace that was loaded, as they will be with the incoming entry.
  func expected(_ id: NamespaceID) -> NamespaceCounters {
    var counters = loaded(id)
    guard let incoming, incoming.id == id else { return counters }
    if let former = incoming.former { counters.subtract(former) }
    counters.add(incoming.weight)
    return counters
  }

  /// The totals as they will be with the incoming entry.
  var expectedStore: StoreState {
    guard let incoming else { return store }
    var state = store
    state.entries &+= incoming.former == nil ? 1 : 0
    state.bytes &+= UInt64(incoming.weight.size) &- UInt64(incoming.former?.size ?? 0)
    return state
  }

  /// Sets the queue of a namespace, given as it will be with the incoming entry.
  mutating func setExpectedQueue(_ queue: QueueState, of id: NamespaceID) {
    let before = expected(id).queue
    updateLoaded(id) { counters in
      let now = counters.queue
      counters.queue = queue
      counters.queue.windowEntries =
        now.windowEntries &+ queue.windowEntries &- before.windowEntries
      counters.queue.windowBytes = now.windowBytes &+ queue.windowBytes &- before.windowBytes
    }
  }
}

extension EntryWriter {
  /// Whether an entry must not leave for the write in progress: it is the one that is written, or one of its owners, up the chain.
  func mustStay(_ entryKey: [UInt8]) -> Bool {
    guard let incoming = context.counters.incoming else { return false }
    return incoming.entryKey == entryKey || incoming.owners.contains(entryKey)
  }

  /// The entry keys of owners, of their owners, and so on.
  mutating func chain(of owners: [StoredOwner]) throws(LarderError) -> Set<[UInt8]> {
    var chain: Set<[UInt8]> = []
    var waiting = owners
    while let owner = waiting.popLast() {
      let entryKey = owner.entryKey
      guard chain.insert(entryKey).inserted,
        case .entry(let entry) = try contents(of: entryKey), entry.has(owner.key.span)
      else { continue }
      waiting += entry.owners
    }
    return chain
  }
}
