import LarderSystem

extension WriteBatch {
  /// The owners in their stored form. Without `mayBeAbsent`, throws ``LarderError/Code/noSuchOwner`` for a missing owner.
  mutating func resolve(
    _ owners: [Owner], mayBeAbsent: Bool = false
  ) throws(LarderError) -> [StoredOwner] {
    var resolved: [StoredOwner] = []
    for owner in owners {
      if !mayBeAbsent, try session.living(owner.key.bytes.span, in: owner.namespace) == nil {
        throw LarderError(
          .noSuchOwner, "there is no entry \(owner.key) in namespace \(owner.namespace)",
          hint: "write the owner before what belongs to it")
      }
      let id = try session.namespaceOrNew(owner.namespace).id
      let found = StoredOwner(id: id, key: owner.key.bytes)
      if !resolved.contains(found) { resolved.append(found) }
    }
    return resolved
  }

  /// The fresh value under `key`; nil if there is none. If the entry has a time to idle, this read counts as an access.
  mutating func value(for key: Span<UInt8>, in namespace: String) throws(LarderError) -> [UInt8]? {
    guard let entry = try session.living(key, in: namespace), session.state(of: entry) == .fresh,
      let value = try session.value(of: entry)
    else { return nil }
    try session.extend(entry, accessedAt: session.now.milliseconds)
    return value
  }

  /// Removes the record under `key`, even an expired or damaged record. A load of this key that has already begun will not
  /// store its value, even if there is no record. Returns whether the record was an entry, neither expired nor invalidated.
  mutating func remove(_ key: Span<UInt8>, in namespace: String) throws(LarderError) -> Bool {
    guard (1...Key.longest).contains(key.count) else { return false }
    guard let id = try session.namespace(namespace)?.id else {
      session.recordRemoval(of: RemovalTable.hash(ofNamespace: namespace))
      return false
    }
    session.recordRemoval(of: Checksum.keyHash(of: key, in: id))
    let entryKey = StoredKey.entry(key, in: id)
    switch try session.contents(of: entryKey) {
    case .empty: return false
    case .damaged:
      try countChange(ofBytes: 0)
      try session.removeDamaged(entryKey)
      // Damage alone must not cost an undamaged entry. But here the caller removes the owner, so its dependents leave, too.
      session.orphanDependents(of: entryKey)
      try session.removeOrphans()
      return false
    case .entry(let entry):
      guard entry.has(key) else { return false }
      try countChange(ofBytes: 0)
      let isExpired = session.state(of: entry) == .expired
      let isHidden = try session.isHidden(entry)
      try session.remove(entry, reason: isHidden ? .invalidated : isExpired ? .expired : .removed)
      return !isExpired && !isHidden
    }
  }

  /// Starts the lifetime of an entry again. If `stale` is nil, the stale window keeps its length; an entry without an expiry
  /// gets the length of the rules. `confirmed` is the time at which the origin said that the value is still current.
  mutating func reschedule(
    _ key: Span<UInt8>, in name: String, expires: Expiration?, stale: Duration? = nil,
    confirmed: Timestamp? = nil
  ) throws(LarderError) -> Bool {
    guard let namespace = try session.namespace(name), let entry = try session.living(key, in: name)
    else { return false }
    try countChange(ofBytes: entry.recordCount)
    let lifetime = try Lifetime(
      expires, stale: stale ?? entry.header.stale, in: namespace, at: session.now,
      loaded: confirmed)
    let end = lifetime.expires(key, version: entry.header.version)
    session.recordWriteTime()
    // The write time is at most now: with a write time in the future the entry would stay stale, even with its new expiry.
    return try session.reschedule(
      entry, expires: end, staleUntil: Lifetime.late(end, stale: lifetime.stale),
      idle: lifetime.idle,
      written: min(
        confirmed?.milliseconds ?? entry.header.written, session.now.milliseconds), as: .touched)
  }

  mutating func pin(
    _ key: Span<UInt8>, in namespace: String, isPinned: Bool
  ) throws(LarderError) -> Bool {
    guard let entry = try session.living(key, in: namespace) else { return false }
    if entry.header.flags.contains(.pinned) == isPinned { return true }
    try countChange(ofBytes: entry.recordCount)
    // A pinned entry is not in the queue. An unpinned entry gets a new number, so it is the newest entry of the queue.
    let position = isPinned ? 0 : try session.nextNumber(in: entry.id)
    return try session.amend(entry, as: .touched) { header, _ in
      header.sequence = position
      if isPinned { header.flags.insert(.pinned) } else { header.flags.remove(.pinned) }
      header.deadline = header.indexedDeadline(replacing: entry.header)
    }
  }

  /// Starts the entry's lifetime again; see `touch(_:expires:)` of ``Store/Namespace``.
  ///
  /// - Returns: false if the entry is absent, expired, invalidated or damaged.
  @discardableResult
  public mutating func touch(
    _ key: some StoreKey, in namespace: Store.Namespace, expires: Expiration? = nil
  ) throws(LarderError) -> Bool {
    try key.withKeyBytes { key throws(LarderError) in
      try reschedule(key, in: namespace.name, expires: expires)
    }
  }

  /// Replaces the metadata of an entry. The entry keeps its value, lifetime and version. A running load of the key still
  /// replaces the entry when the load ends.
  ///
  /// - Returns: false if the entry is absent, expired, invalidated or damaged.
  /// - Throws: ``LarderError/Code/unreadable`` for an entry with transforms or encryption keys that this store does not have.
  @discardableResult
  public mutating func setMetadata(
    _ metadata: [UInt8]?, of key: some StoreKey, in namespace: Store.Namespace
  ) throws(LarderError) -> Bool {
    try key.withKeyBytes { key throws(LarderError) in
      guard let entry = try session.living(key, in: namespace.name) else { return false }
      try countChange(ofBytes: entry.recordCount + (metadata?.count ?? 0))
      let context = TransformContext(
        key.copied, in: entry.id, version: entry.header.version, reader: session.engine.reader)
      let transforms = session.engine.transforms
      var fields = try transforms.changeable(entry.fields, of: context)
      fields[.metadata] = metadata
      if let transformed = try transforms.metadata(fields.metadataFields, of: context) {
        fields.metadataFields = EntryFields()
        fields[.transformedMetadata] = transformed
      }
      guard try session.amend(entry, { $1 = fields }) else { return false }
      session.recordWriteTime()
      return true
    }
  }

  /// Replaces the owners of an entry, which keeps its value and lifetime. Without owners, the entry is no dependent.
  ///
  /// - Returns: false if the entry is absent, expired, invalidated or damaged.
  /// - Throws: ``LarderError/Code/noSuchOwner`` if an owner is not stored.
  @discardableResult
  public mutating func setOwners(
    _ owners: [Owner], of key: some StoreKey, in namespace: Store.Namespace
  ) throws(LarderError) -> Bool {
    let owners = try resolve(owners)
    return try key.withKeyBytes { key throws(LarderError) in
      guard let entry = try session.living(key, in: namespace.name) else { return false }
      try countChange(ofBytes: entry.recordCount)
      session.recordWriteTime()
      return try session.setOwners(owners, of: entry)
    }
  }

  /// Protects the entry from eviction; see `pin(_:)` of ``Store/Namespace``.
  ///
  /// - Returns: false if the entry is absent, expired, invalidated or damaged.
  @discardableResult
  public mutating func pin(_ key: some StoreKey, in namespace: Store.Namespace) throws(LarderError)
    -> Bool
  {
    try key.withKeyBytes { key throws(LarderError) in
      try pin(key, in: namespace.name, isPinned: true)
    }
  }

  /// Allows the eviction of the entry again; see `unpin(_:)` of ``Store/Namespace``.
  ///
  /// - Returns: false if the entry is absent, expired, invalidated or damaged.
  @discardableResult
  public mutating func unpin(_ key: some StoreKey, in namespace: Store.Namespace)
    throws(LarderError) -> Bool
  {
    try key.withKeyBytes { key throws(LarderError) in
      try pin(key, in: namespace.name, isPinned: false)
    }
  }
}
