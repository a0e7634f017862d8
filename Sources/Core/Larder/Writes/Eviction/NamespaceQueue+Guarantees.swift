import LMDB

extension NamespaceQueue {
  /// Whether every namespace, except the namespace that needs the room, keeps its guaranteed bytes when the victims and their
  /// dependents leave. O(entries that would leave) in a store with guarantees and owners.
  mutating func keepsGuarantees(without victims: [StoredEntry]) throws(LarderError) -> Bool {
    guard session.state.dependents > 0 else { return true }
    var guaranteed = try budget.guarantees(&session)
    if let asking { guaranteed[asking] = nil }
    guard !guaranteed.isEmpty else { return true }
    var taken: [NamespaceID: UInt64] = [:]
    var leaving: Set<[UInt8]> = []
    var waiting = victims
    while let entry = waiting.popLast() {
      guard leaving.insert(entry.entryKey).inserted else { continue }
      if let least = guaranteed[entry.id] {
        let sum = taken[entry.id, default: 0] &+ UInt64(entry.valueCount)
        let bytes = try session.counters(of: entry.id).bytes
        guard bytes >= least &+ sum else { return false }
        taken[entry.id] = sum
      }
      waiting += try dependents(of: entry, without: leaving)
    }
    return true
  }

  /// The namespace for whose write or rules room is made; nil if only the store's limits need the room.
  private var asking: NamespaceID? {
    request.reason == nil ? request.id : session.ledger.expected?.id
  }

  /// The dependents of `owner` whose other owners are leaving or not stored.
  private mutating func dependents(
    of owner: StoredEntry, without leaving: Set<[UInt8]>
  ) throws(LarderError) -> [StoredEntry] {
    let prefix = IndexKey.owner(owner.entryKey, entry: [])
    var found: [StoredEntry] = []
    for key in try session.transaction.keys(in: session.engine.indexes.tags, from: prefix) {
      guard
        case .entry(let entry) = try session.contents(of: Array(key.dropFirst(prefix.count))),
        try session.isLive(entry.id)
      else { continue }
      var owners = entry.owners
      // The index has hashes, so the entry may belong to another owner.
      guard owners.contains(where: { $0.entryKey == owner.entryKey }) else { continue }
      owners.removeAll { leaving.contains($0.entryKey) }
      var isKept = false
      for other in owners where try session.isStored(other) { isKept = true }
      if !isKept { found.append(entry) }
    }
    return found
  }
}
