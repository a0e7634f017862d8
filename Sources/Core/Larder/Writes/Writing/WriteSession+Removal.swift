extension WriteSession {
  /// Removes an entry with its dependents. `reason` is nil for an entry of a cleared namespace.
  mutating func remove(_ entry: StoredEntry, reason: RemovalReason?) throws(LarderError) {
    try remove(entry, as: reason.map { .removed($0) } ?? .reclaimed)
    try removeOrphans()
  }

  /// Records a removal, so that a load that began before the removal does not store its value. Evictions and expiries are not
  /// recorded, because after an eviction or an expiry a load may store its value. `earlier` is the number of the invalidation
  /// that has hidden the entry: a load that began after this invalidation may store its value, too.
  mutating func recordRemoval(of hash: UInt64, at earlier: UInt64 = 0) {
    if earlier > 0 { return engine.removalTable.record(hash, earlier) }
    if effects.removal == nil, !effects.lacksRemoval {
      effects.removal = engine.removalTable.begin()
      effects.lacksRemoval = effects.removal == nil
    }
    if let number = effects.removal { engine.removalTable.record(hash, number) }
  }

  /// Counts a damaged record, which the caller then removes or replaces. The size of the damaged record is unknown, so this
  /// batch or a later batch counts the entries of the namespace again.
  mutating func recordDamage(_ entryKey: [UInt8]) throws(LarderError) {
    let id = entryKey.span.namespaceID
    damaged.insert(id)
    try update(id) { $0.removals.count(.damaged, bytes: 0) }
    try recordDamagedRemoval(entryKey)
  }

  /// Tells subscribers about a damaged record. If the record has a long key, only the beginning of the key is known.
  mutating func recordDamagedRemoval(_ entryKey: [UInt8]) throws(LarderError) {
    guard wantsNextChange() else { return }
    let id = entryKey.span.namespaceID
    let stored = StoredKey(bytes: Array(entryKey.dropFirst(4)))
    record(
      .removed, reason: .damaged, id: id, name: try nameForSubscribers(of: id),
      key: stored.short ?? stored.bytes)
  }

  mutating func removeDamaged(_ entryKey: [UInt8]) throws(LarderError) {
    try recordDamage(entryKey)
    try transaction.remove(entryKey, from: .entries)
  }

  mutating func isStored(_ owner: StoredOwner) throws(LarderError) -> Bool {
    guard try entry(owner.key.span, in: owner.id) != nil else { return false }
    return try isLive(owner.id)
  }

  /// Lets the next ``removeOrphans()`` look for dependents of the removed entry.
  mutating func orphanDependents(of entryKey: [UInt8]) {
    if state.dependents > 0 { orphans.add(entryKey) }
  }

  /// Removes those dependents of removed entries that have no other owner, then the dependents of those dependents, and so on.
  /// Uses no recursion, and removes at most ``OrphanQueue/perBatch`` entries in one batch, or fewer if few pages are free.
  mutating func removeOrphans() throws(LarderError) {
    // The limit never rises in a batch. Otherwise a later call could take dependents that the batch has written meanwhile.
    while let removed = orphans.waiting.last,
      case let limit = min(orphans.left, max(orphans.least, removalsWithPages)), limit > 0
    {
      let prefix = IndexKey.owner(removed.owner, entry: [])
      // If the owner was written again between two batches, its dependents belong to the new entry and stay.
      var isBack = false
      if removed.position != nil { isBack = try transaction.contains(removed.owner, in: .entries) }
      let keys = try transaction.keys(
        in: engine.indexes.tags, from: prefix, after: removed.position, limit: isBack ? 0 : limit)
      orphans.advance(to: keys.last, count: keys.count, isLast: keys.count < limit)
      for key in keys { try release(Array(key.dropFirst(prefix.count)), from: removed.owner) }
    }
  }

  private mutating func release(_ entryKey: [UInt8], from owner: [UInt8]) throws(LarderError) {
    // The current write stores this dependent, so the dependent must stay. The owner (in a cleared namespace) must wait.
    if mustStay(entryKey) { return orphans.putOff(owner) }
    guard let (entry, remaining) = try dependent(entryKey, of: owner) else { return }
    if remaining.isEmpty {
      try remove(entry, as: .removed(.orphaned))
    } else {
      _ = try setOwners(remaining, of: entry)
    }
  }

  /// An entry that has the owner, and its other owners that are stored.
  mutating func dependent(
    _ entryKey: [UInt8], of owner: [UInt8]
  ) throws(LarderError) -> (entry: StoredEntry, others: [StoredOwner])? {
    // An entry of a cleared namespace is removed later, together with its dependents, so the result is nil.
    guard case .entry(let entry) = try contents(of: entryKey), try isLive(entry.id)
    else { return nil }
    let owners = entry.owners
    // The index has only hashes of owners, so the entry may belong to another owner with the same hash.
    guard owners.contains(where: { $0.entryKey == owner }) else { return nil }
    var others = owners.filter { $0.entryKey != owner }
    for other in others where try !isStored(other) { others.removeAll { $0 == other } }
    return (entry, others)
  }
}
