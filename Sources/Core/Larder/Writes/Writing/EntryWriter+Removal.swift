import LMDB
import LarderSystem

extension EntryWriter {
  /// Removes an entry for a reason that is counted, and then the entries that belong to it.
  mutating func remove(_ entry: StoredEntry, reason: RemovalReason) throws(LarderError) {
    try removeAlone(entry, reason: reason)
    try removeOrphans()
  }

  private mutating func removeAlone(
    _ entry: StoredEntry, reason: RemovalReason
  ) throws(LarderError) {
    try changes.recordRemoval(of: entry, reason, &directory, &context)
    if reason.isRemoval, let keyHash = entry.keyHash { removals.record(keyHash) }
    try context.counters.subtract(EntryWeight(entry), from: entry.id, &context.transaction)
    try context.counters.update(entry.id, &context.transaction) {
      $0.removals.count(reason, bytes: entry.valueCount)
    }
    try eraseAlone(entry)
  }

  /// Removes an entry of a cleared namespace, whose counters do not include it any more.
  mutating func erase(_ entry: StoredEntry) throws(LarderError) {
    try eraseAlone(entry)
    try removeOrphans()
  }

  private mutating func eraseAlone(_ entry: StoredEntry) throws(LarderError) {
    if let keyHash = entry.keyHash { context.engine.access.forget(keyHash) }
    try indexes.removeAll(of: entry, &context.counters, &context.transaction)
    if context.state.dependents > 0 { orphans.add(entry.entryKey) }
  }

  /// Counts a damaged record that is about to be removed or replaced. Its size is unknown, so the counters of its
  /// namespace are counted again.
  mutating func recordDamage(_ entryKey: [UInt8]) throws(LarderError) {
    let id = entryKey.span.namespaceID
    damaged.insert(id)
    try context.counters.update(id, &context.transaction) {
      $0.removals.count(.damaged, bytes: 0)
    }
    try changes.recordDamagedRemoval(entryKey, &directory, &context)
  }

  /// Removes a damaged record.
  mutating func removeDamaged(_ entryKey: [UInt8]) throws(LarderError) {
    try recordDamage(entryKey)
    try context.transaction.remove(entryKey, from: .entries)
  }
}

// MARK: Owners

extension EntryWriter {
  /// Gives an entry other owners.
  ///
  /// - Returns: false if its record is damaged.
  mutating func setOwners(
    _ owners: [StoredOwner], of entry: StoredEntry
  ) throws(LarderError) -> Bool {
    if owners == entry.owners { return try intactBody(of: entry) != nil }
    var fields = entry.fields
    fields.replaceAll(.owner, with: owners.map(\.field))
    guard try rewrite(entry, fields: fields) else { return false }
    try indexes.replaceOwners(
      entry.owners, with: owners, of: entry.entryKey, &context.counters, &context.transaction)
    return true
  }

  /// Whether an owner is stored, in a namespace that was not cleared.
  mutating func isStored(_ owner: StoredOwner) throws(LarderError) -> Bool {
    guard case .entry(let entry) = try contents(of: owner.entryKey), entry.has(owner.key.span)
    else {
      return false
    }
    return try context.isLive(owner.id)
  }

  /// Goes on with removals that this batch has put off, or an earlier one has left.
  mutating func resumeOrphans() throws(LarderError) {
    if context.state.orphans > 0 { try orphans.load(&context.counters, &context.transaction) }
    try removeOrphans()
  }

  /// Removes the dependents of removed entries that have no other owner, then their dependents, and so on: without recursion,
  /// and at most ``OrphanQueue/perBatch`` in one batch.
  private mutating func removeOrphans() throws(LarderError) {
    while let removed = orphans.next {
      let prefix = IndexKey.owner(removed.owner, entry: [])
      let limit = orphans.left
      // The owner is there again if it was written between two batches: then its entries stay.
      var isBack = false
      if removed.position != nil {
        isBack = try context.transaction.contains(removed.owner, in: .entries)
      }
      let keys =
        isBack
        ? []
        : try context.transaction.keys(
          in: context.engine.indexes.tags, from: prefix, after: removed.position, limit: limit)
      orphans.advance(to: keys.last, count: keys.count, isLast: keys.count < limit)
      for key in keys { try release(Array(key.dropFirst(prefix.count)), from: removed.owner) }
    }
  }

  /// Removes an entry if it has no other owner than one that is gone.
  private mutating func release(_ entryKey: [UInt8], from owner: [UInt8]) throws(LarderError) {
    // Only a cleared owner can be reclaimed for a write of what belongs to it.
    if mustStay(entryKey) { return orphans.putOff(owner) }
    // An entry of a cleared namespace is not counted any more, and is reclaimed with what belongs to it.
    guard case .entry(let entry) = try contents(of: entryKey), try context.isLive(entry.id) else {
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
      try removeAlone(entry, reason: .orphaned)
    } else {
      _ = try setOwners(remaining, of: entry)
    }
  }
}
