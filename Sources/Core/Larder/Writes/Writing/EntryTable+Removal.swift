import LMDB
import LarderSystem

extension EntryTable {
  /// Removes an entry for a reason that is counted, and then the entries that belong to it.
  func remove(_ entry: StoredEntry, reason: RemovalReason) throws(LarderError) {
    try replace(entry, with: nil, as: .removed(reason))
    try removeOrphans()
  }

  /// Removes an entry of a cleared namespace, and then the entries that belong to it.
  func reclaim(_ entry: StoredEntry) throws(LarderError) {
    try replace(entry, with: nil, as: .reclaimed)
    try removeOrphans()
  }

  /// Counts a damaged record that is about to be removed or replaced. Its size is unknown, so the counters of its
  /// namespace are counted again.
  func recordDamage(_ entryKey: [UInt8]) throws(LarderError) {
    let id = entryKey.span.namespaceID
    session.damaged.insert(id)
    try session.ledger.update(id) {
      $0.removals.count(.damaged, bytes: 0)
    }
    try session.changes.recordDamagedRemoval(entryKey, session.directory)
  }

  /// Removes a damaged record.
  func removeDamaged(_ entryKey: [UInt8]) throws(LarderError) {
    try recordDamage(entryKey)
    try session.transaction.remove(entryKey, from: .entries)
  }
}

// MARK: Owners

extension EntryTable {
  /// Whether an owner is stored, in a namespace that was not cleared.
  func isStored(_ owner: StoredOwner) throws(LarderError) -> Bool {
    guard case .entry(let entry) = try contents(of: owner.entryKey), entry.has(owner.key.span)
    else {
      return false
    }
    return try session.isLive(owner.id)
  }

  /// Goes on with removals that this batch has put off, or an earlier one has left.
  func resumeOrphans() throws(LarderError) {
    if session.state.orphans > 0 { try session.orphans.load(session) }
    try removeOrphans()
  }

  /// Removes the dependents of removed entries that have no other owner, then their dependents, and so on: without recursion,
  /// and at most ``OrphanQueue/perBatch`` in one batch.
  private func removeOrphans() throws(LarderError) {
    while let removed = session.orphans.next {
      let prefix = IndexKey.owner(removed.owner, entry: [])
      let limit = session.orphans.left
      // The owner is there again if it was written between two batches: then its entries stay.
      var isBack = false
      if removed.position != nil {
        isBack = try session.transaction.contains(removed.owner, in: .entries)
      }
      let keys =
        isBack
        ? []
        : try session.transaction.keys(
          in: session.engine.indexes.tags, from: prefix, after: removed.position, limit: limit)
      session.orphans.advance(to: keys.last, count: keys.count, isLast: keys.count < limit)
      for key in keys { try release(Array(key.dropFirst(prefix.count)), from: removed.owner) }
    }
  }

  /// Removes an entry if it has no other owner than one that is gone.
  private func release(_ entryKey: [UInt8], from owner: [UInt8]) throws(LarderError) {
    // Only a cleared owner can be reclaimed for a write of what belongs to it.
    if mustStay(entryKey) { return session.orphans.putOff(owner) }
    // An entry of a cleared namespace is not counted any more, and is reclaimed with what belongs to it.
    guard case .entry(let entry) = try contents(of: entryKey), try session.isLive(entry.id) else {
      return
    }
    let owners = entry.owners
    // The index has hashes: this may be an entry of another owner.
    guard owners.contains(where: { $0.entryKey == owner }) else { return }
    var remaining: [StoredOwner] = []
    for other in owners where other.entryKey != owner {
      if try isStored(other) { remaining.append(other) }
    }
    if remaining.isEmpty {
      try replace(entry, with: nil, as: .removed(.orphaned))
    } else {
      _ = try setOwners(remaining, of: entry)
    }
  }
}
