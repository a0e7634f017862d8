import LMDB

extension WriteBatch {
  /// Gives the entry other owners, without its value being written or its lifetime begun anew; false if there is no such
  /// entry or it has expired.
  ///
  /// Each owner must be there. An entry that has none from now on stays by itself.
  @discardableResult
  public mutating func setOwners(
    _ owners: [Owner], of key: some StoreKey, in namespace: Store.Namespace
  ) throws -> Bool {
    let owners = try stored(owners)
    return try key.withKeyBytes { key in
      guard let entry = try living(key, in: namespace.name) else { return false }
      try account(entry.recordCount)
      stamp()
      return try give(entry, owners)
    }
  }

  /// Owners as they are kept: each must be there.
  ///
  /// - Parameter awaits: whether they may come later.
  mutating func stored(
    _ owners: [Owner], awaits: Bool = false
  ) throws(LarderError) -> [StoredOwner] {
    var stored: [StoredOwner] = []
    for owner in owners {
      if awaits { _ = try namespaceMaking(owner.namespace) }
      guard let record = try record(named: owner.namespace),
        awaits
          ? true : try living(owner.key.bytes.span, in: owner.namespace) != nil
      else {
        throw LarderError(
          .noSuchOwner, "there is no entry \(owner.key) in namespace \(owner.namespace)",
          hint: "write the owner before what belongs to it")
      }
      let found = StoredOwner(id: record.id, key: owner.key.bytes)
      if !stored.contains(found) { stored.append(found) }
    }
    return stored
  }

  /// Indexes an entry under its owners, and no longer under those it had before.
  mutating func indexOwners(
    _ owners: [StoredOwner], before: [StoredOwner], slot: [UInt8]
  ) throws(LarderError) {
    let index = engine.indexes.tags
    for owner in before where !owners.contains(owner) {
      let key = IndexKey.owner(owner.slot, entry: slot)
      try change { transaction throws(LMDBError) in _ = try transaction.remove(key, from: index) }
    }
    for owner in owners where !before.contains(owner) {
      let key = IndexKey.owner(owner.slot, entry: slot)
      try change { transaction throws(LMDBError) in try transaction.put([], for: key, in: index) }
    }
    state.dependents &+= owners.isEmpty ? 0 : 1
    state.dependents &-= before.isEmpty ? 0 : 1
  }

  /// Lets go what belonged to an entry that is gone: it leaves, unless it has another owner still.
  mutating func releaseDependents(of owner: [UInt8]) throws(LarderError) {
    guard state.dependents > 0 else { return }
    for slot in try dependents(of: owner) {
      guard case .entry(let entry) = try occupant(of: slot) else { continue }
      let owners = entry.owners
      let remaining = try others(owners, than: owner)
      guard owners.contains(where: { $0.slot == owner }) else { continue }
      if remaining.isEmpty {
        if try isLive(entry.id) {
          try remove(entry, reason: .orphaned)
        } else {
          try eraseRecords(entry)
        }
      } else {
        try give(entry, remaining)
      }
    }
  }

  /// The owners that are still there.
  private mutating func others(
    _ owners: [StoredOwner], than gone: [UInt8]
  ) throws(LarderError) -> [StoredOwner] {
    var remaining: [StoredOwner] = []
    for owner in owners where owner.slot != gone {
      if try holds(owner) { remaining.append(owner) }
    }
    return remaining
  }

  /// Whether an owner is still there, and not cleared.
  mutating func holds(_ owner: StoredOwner) throws(LarderError) -> Bool {
    guard case .entry(let entry) = try occupant(of: owner.slot), entry.has(owner.key.span) else {
      return false
    }
    return try isLive(owner.id)
  }

  private mutating func dependents(of owner: [UInt8]) throws(LarderError) -> [[UInt8]] {
    let prefix = IndexKey.owner(owner, entry: [])
    var slots: [[UInt8]] = []
    try forEach(in: engine.indexes.tags, from: prefix) { key, _ in
      slots.append(Array(key.dropFirst(prefix.count)))
    }
    return slots
  }

  /// Whether anything belongs to the entry in that slot that must not leave now.
  mutating func owns(_ owner: [UInt8], anyOf slots: Set<[UInt8]>) throws(LarderError) -> Bool {
    guard state.dependents > 0 else { return false }
    return try dependents(of: owner).contains { slots.contains($0) }
  }

  /// Writes an entry's record anew with these owners; false if it is damaged.
  @discardableResult
  private mutating func give(
    _ entry: StoredEntry, _ owners: [StoredOwner]
  ) throws(LarderError) -> Bool {
    guard let key = entry.key, let body = try intactBody(of: entry, key: key) else { return false }
    if owners == entry.owners { return true }
    var fields = entry.fields
    fields.replaceAll(.owner, with: owners.map(\.field))
    try indexOwners(owners, before: entry.owners, slot: entry.slot)
    try rewrite(entry, fields: fields, key: key, body: body)
    return true
  }
}
