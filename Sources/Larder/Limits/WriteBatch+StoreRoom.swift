import LMDB

extension WriteBatch {
  /// The limits of the store as a whole.
  var limits: StoreLimits {
    mutating get throws(LarderError) {
      if let knownLimits { return knownLimits }
      let limits = try settings().limits
      knownLimits = limits
      return limits
    }
  }

  /// Which limit of the store is exceeded, if any.
  var exceededStoreLimit: RemovalReason? {
    guard let limits = knownLimits else { return nil }
    if let most = limits.entries, state.entries > UInt64(most) { return .evictedForStoreEntries }
    if let most = limits.bytes, state.bytes > UInt64(most) { return .evictedForStoreBytes }
    return nil
  }

  /// Whether one of them is nearly reached.
  var isNearlyFull: Bool {
    if let limits = knownLimits,
      Limits(entries: limits.entries, bytes: limits.bytes).isNearlyReached(
        by: state.entries, state.bytes)
    {
      return true
    }
    return disk.map { isOver($0.usable - $0.usable / 32) } ?? false
  }

  /// Whether bytes count, where a namespace has no limit of its own.
  var countsStoreBytes: Bool { knownLimits?.bytes != nil || knownLimits?.entries == nil }

  /// Makes room in the store for what it counts already: first what has expired leaves, then what the namespaces whose
  /// turn it is choose.
  mutating func makeRoomInStore(kept: Set<[UInt8]>) throws(LarderError) {
    _ = try limits
    guard exceededStoreLimit != nil else { return }
    let isOver = { (batch: borrowing WriteBatch) in batch.exceededStoreLimit != nil }
    try removeExpired(in: nil, keeping: kept, while: isOver)
    if let reason = exceededStoreLimit {
      try giveWay(for: reason, kept: kept, while: isOver)
      try removeExpired(in: nil, limit: .max, keeping: kept, while: isOver)
    }
    if exceededStoreLimit != nil {
      throw LarderError(
        .full,
        "\(engine.environment.path) is full (\(try limits.words)), and nothing in it may be evicted",
        hint: "remove or unpin entries, raise the limit, or let namespaces evict")
    }
  }

  /// Namespaces give way in turn while `shouldContinue`.
  mutating func giveWay(
    for reason: RemovalReason, kept: Set<[UInt8]>,
    while shouldContinue: (borrowing WriteBatch) -> Bool
  ) throws(LarderError) {
    var members = try evictable()
    while shouldContinue(self), let member = engine.fairShare.next(among: members) {
      let counters = try loadCounters(member.id)
      let limits = try namespace(member.name)?.rules.limits ?? Limits()
      let request = RoomRequest(
        cause: .store(exceededStoreLimit ?? reason), id: member.id, limits: limits, left: 1,
        kept: kept)
      let removal = counters.entries == 0 ? RemovalResult() : try evict(member.eviction, request)
      if removal.entries == 0 {
        members.removeAll { $0.id == member.id }
      } else {
        engine.fairShare.charge(
          member.id,
          share: Double(max(removal.bytes, 1)) / Double(max(counters.bytes, 1)))
      }
    }
  }

  private mutating func evictable() throws(LarderError) -> [FairShare.Member] {
    if let known = engine.fairShare.members(at: state.generation) { return known }
    var members: [FairShare.Member] = []
    for name in try names() {
      guard let namespace = try namespace(name), namespace.rules.eviction != .refuse else {
        continue
      }
      members.append(
        FairShare.Member(
          name: name, priority: namespace.rules.priority, eviction: namespace.rules.eviction,
          id: namespace.id))
    }
    if isCatalogueCommitted { engine.fairShare.remember(members, at: state.generation) }
    return members
  }
}

extension StoreLimits {
  /// For messages.
  var words: String {
    [
      entries.map { "\($0) entries" }, bytes.map { "\($0) bytes" },
      disk.map { "\($0) bytes on disk" },
    ].compactMap { $0 }.joined(separator: ", ")
  }
}
