import LMDB
import LarderSystem

extension WriteBatch {
  /// The first entry of a namespace's queue with that sequence or a later one.
  ///
  /// A record that leads nowhere, which only damage can leave, is passed over.
  mutating func queued(from sequence: UInt64, in id: NamespaceID) throws(LarderError) -> Candidate?
  {
    let queue = engine.indexes.queue
    let prefix = id.prefix
    return try read { transaction throws(LMDBError) -> Candidate? in
      var cursor = try transaction.cursor(in: queue)
      var record = try cursor.seek(IndexKey.queue(sequence, in: id).span)
      while let found = record, found.key.starts(with: prefix.span) {
        if let place = QueueRecord(found.key, found.value),
          let bytes = try transaction.value(for: place.slot, in: .main),
          let candidate = place.candidate(bytes)
        {
          return candidate
        }
        record = try cursor.next()
      }
      return nil
    }
  }

  /// The sequence of the entry that came last.
  mutating func newestSequence(in id: NamespaceID) throws(LarderError) -> UInt64? {
    let queue = engine.indexes.queue
    let prefix = id.prefix
    return try read { transaction throws(LMDBError) -> UInt64? in
      var cursor = try transaction.cursor(in: queue)
      _ = try cursor.seek(IndexKey.queue(.max, in: id).span)
      guard let last = try cursor.previous(), last.key.count == 12,
        last.key.starts(with: prefix.span)
      else { return nil }
      return last.key.bigEndian(at: 4)
    }
  }

  /// Removes an entry that a policy has chosen, and with it what belongs to it; or the entries it belongs to, and all
  /// that is theirs, for it never leaves alone.
  ///
  /// - Returns: false if something of that must stay.
  mutating func evict(
    _ candidate: Candidate, reason: RemovalReason, keeping kept: Set<[UInt8]>
  ) throws(LarderError) -> Bool {
    let entry: StoredEntry
    switch try occupant(of: candidate.slot) {
    case .entry(let found): entry = found
    case .damaged:
      try lose(candidate.slot)
      let slot = candidate.slot
      try change { transaction throws(LMDBError) in _ = try transaction.remove(slot, from: .main) }
      return true
    case .nobody: return false
    }
    if entry.header.state(at: now.milliseconds) == .expired {
      if try owns(entry.slot, anyOf: kept) { return false }
      try remove(entry, reason: .expired)
      return true
    }
    var leaving: [StoredEntry] = []
    for owner in entry.owners where try holds(owner) {
      guard case .entry(let found) = try occupant(of: owner.slot), try mayLeave(found, kept) else {
        return false
      }
      leaving.append(found)
    }
    if leaving.isEmpty { leaving = [entry] }
    for entry in leaving where try owns(entry.slot, anyOf: kept) { return false }
    for entry in leaving { try remove(entry, reason: reason) }
    return true
  }

  /// Whether an owner may be evicted for what belongs to it.
  private mutating func mayLeave(
    _ entry: StoredEntry, _ kept: Set<[UInt8]>
  ) throws(LarderError) -> Bool {
    if entry.header.flags.contains(.pinned) || kept.contains(entry.slot) { return false }
    guard entry.owners.isEmpty else { return false }
    guard let name = try name(of: entry.id), let namespace = try namespace(name) else {
      return true
    }
    return namespace.rules.eviction != .refuse
  }

  /// The name of the namespace with that id. O(namespaces).
  mutating func name(of id: NamespaceID) throws(LarderError) -> String? {
    for name in try names() where try record(named: name)?.id == id { return name }
    return nil
  }
}
