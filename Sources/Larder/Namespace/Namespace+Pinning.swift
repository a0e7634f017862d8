extension Store.Namespace {
  /// Keeps the entry from being evicted, whatever limit is reached; false if there is no such entry or it has expired.
  ///
  /// It still expires, and can be removed. An overwrite keeps the pin.
  @discardableResult
  public func pin(_ key: some StoreKey) throws -> Bool {
    try engine.writeJoining(pinning(key, true))
  }

  /// Lets the entry be evicted again; false if there is no such entry or it has expired.
  @discardableResult
  public func unpin(_ key: some StoreKey) throws -> Bool {
    try engine.writeJoining(pinning(key, false))
  }
}

extension WriteBatch {
  /// Keeps the entry from being evicted; see ``Store/Namespace/pin(_:)``.
  @discardableResult
  public mutating func pin(_ key: some StoreKey, in namespace: Store.Namespace) throws -> Bool {
    try key.withKeyBytes { key in try pin(key, in: namespace.name, isPinned: true) }
  }

  /// Lets the entry be evicted again; see ``Store/Namespace/unpin(_:)``.
  @discardableResult
  public mutating func unpin(_ key: some StoreKey, in namespace: Store.Namespace) throws -> Bool {
    try key.withKeyBytes { key in try pin(key, in: namespace.name, isPinned: false) }
  }

  mutating func pin(
    _ key: Span<UInt8>, in namespace: String, isPinned: Bool
  ) throws(LarderError) -> Bool {
    guard let entry = try living(key, in: namespace) else { return false }
    if entry.header.flags.contains(.pinned) == isPinned { return true }
    try account(entry.recordCount)
    // Pinned entries are not in the queue; one that returns there counts as new.
    let sequence = isPinned ? 0 : try number(in: entry.id)
    let isIntact = try rewrite(entry) { header in
      header.sequence = sequence
      if isPinned { header.flags.insert(.pinned) } else { header.flags.remove(.pinned) }
    }
    guard isIntact else { return false }
    try enqueue(entry.slot, sequence: sequence, before: entry.header.sequence)
    var weight = Weight(entry)
    try countOut(weight, of: entry.id)
    weight.sequence = sequence
    try countIn(weight, of: entry.id)
    return true
  }
}
