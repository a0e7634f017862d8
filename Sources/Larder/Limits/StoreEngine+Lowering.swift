import LMDB

/// How far a change of limits has come.
enum Lowering {
  case done
  /// More must leave, in further transactions.
  case underWay
  /// Too much may not leave: what holds now is what was reached.
  case stuck(LarderError)
}

extension StoreEngine {
  /// How many entries one transaction evicts to come down to a limit.
  static let evictedPerStep = 1000

  /// Changes a namespace's rules. A limit below its usage is reached in bounded transactions; each records what was
  /// reached as the limit that holds, so that nothing grows back meanwhile.
  ///
  /// - Parameter makes: whether an absent namespace is made; otherwise it is an error.
  func changeRules(
    of name: String, makes: Bool, _ change: (inout NamespaceRecord.RuleSet) -> Void
  ) throws(LarderError) {
    try lower { batch throws(LarderError) in
      try batch.changeRules(of: name, makes: makes, most: Self.evictedPerStep, change)
    }
  }

  /// The same for the limits of the store.
  func changeLimits(_ change: (inout StoreSettings) -> Void) throws(LarderError) {
    try lower { batch throws(LarderError) in
      try batch.changeLimits(most: Self.evictedPerStep, change)
    }
    memory.budget.limit = try settings(in: beginRead()).memoryLimit
  }

  private func lower(
    _ step: (inout WriteBatch) throws(LarderError) -> Lowering
  ) throws(LarderError) {
    while true {
      switch try write({ batch in try step(&batch) }) {
      case .done: return
      case .underWay: continue
      case .stuck(let error): throw error
      }
    }
  }
}

extension WriteBatch {
  /// - Parameter most: how many entries may be evicted for it.
  mutating func changeRules(
    of name: String, makes: Bool, most: Int, _ change: (inout NamespaceRecord.RuleSet) -> Void
  ) throws(LarderError) -> Lowering {
    let found = makes ? try namespaceMaking(name) : try namespace(name)
    guard var record = found?.record else { throw Store.Namespace.absent(name) }
    let before = record.rules
    change(&record.rules)
    let rules = record.rules.effective
    try record.rules.declared.validate()
    try rules.validate()
    guard record.rules != before else { return .done }
    var counters = try loadCounters(record.id)
    var left = 0
    if rules.limits.exceeded(by: counters) != nil {
      let entries = counters.entries
      let id = record.id
      try removeExpired(in: id, limit: most) { batch in
        rules.limits.exceeded(by: batch.counters[id] ?? NamespaceCounters()) != nil
      }
      var request = RoomRequest(
        cause: .namespace, id: record.id, limits: rules.limits, left: most)
      request.sparesNewest = rules.limits.entries != 0 && rules.limits.bytes != 0
      try evict(rules.eviction, request)
      counters = try loadCounters(record.id)
      left = Int(entries &- counters.entries)
    }
    guard let reason = rules.limits.exceeded(by: counters) else {
      try store(record, named: name)
      return .done
    }
    record.rules.hold(entries: Int(counters.entries), bytes: Int(counters.bytes))
    try store(record, named: name)
    if left > 0 { return .underWay }
    return .stuck(
      LarderError(
        .full,
        "namespace \(name) holds \(counters.entries) entries and \(counters.bytes) bytes, and "
          + (rules.eviction == .refuse ? "it evicts nothing" : "\(counters.pinned) are pinned")
          + ": its limit of \(rules.limits.words) is not reached (\(reason))",
        hint: "remove or unpin entries, then set the limit again"))
  }

  /// - Parameter most: how many entries may be evicted for it.
  mutating func changeLimits(
    most: Int, _ change: (inout StoreSettings) -> Void
  ) throws(LarderError) -> Lowering {
    var settings = try settings()
    let before = settings
    change(&settings)
    try settings.declared.validate()
    try settings.limits.validate()
    guard settings != before else { return .done }
    knownLimits = settings.limits
    let entries = state.entries
    if let reason = exceededStoreLimit {
      try removeExpired(in: nil, limit: most) { batch in batch.exceededStoreLimit != nil }
      try giveWay(for: reason, kept: []) { batch in
        batch.exceededStoreLimit != nil && entries &- batch.state.entries < UInt64(most)
      }
    }
    let disk = try lowerDisk(to: settings.limits.disk, most: min(most, 100))
    guard exceededStoreLimit != nil || disk != nil else {
      try store(settings)
      return .done
    }
    let wanted = settings.limits
    settings.hold(entries: Int(state.entries), bytes: Int(state.bytes), disk: disk)
    try store(settings)
    if state.entries < entries { return .underWay }
    return .stuck(
      LarderError(
        .full,
        "\(engine.environment.path) holds \(state.entries) entries and \(state.bytes) bytes that may not be evicted: "
          + "its limit of \(wanted.words) is not reached",
        hint: "remove or unpin entries, then set the limit again"))
  }
}

extension WriteBatch {
  /// Evicts until what is used fits into a data file of so many bytes, its reserve left out.
  ///
  /// - Returns: the limit that can hold meanwhile, nil if the wanted one does. A file without free pages must grow by a few
  ///   before anything can be removed from it.
  private mutating func lowerDisk(to limit: Int?, most: Int) throws(LarderError) -> Int? {
    guard let limit else { return nil }
    let pages = limit / engine.pageSize
    let usable = pages - DiskRoom.reserve(of: pages, pageSize: engine.pageSize)
    guard isOver(usable) else { return nil }
    let size = engine.environment.fileSize
    let available = try read { transaction throws(LMDBError) in
      try transaction.availablePages(upTo: DiskRoom.perStep, limit: size)
    }
    let entries = state.entries
    for _ in 0..<4 where state.garbage > 0 && isOver(usable) { _ = try reclaim(limit: 64) }
    try removeExpired(in: nil, limit: most) { batch in batch.isOver(usable) }
    try giveWay(for: .evictedForDisk, kept: []) { batch in
      entries &- batch.state.entries < UInt64(most) && batch.isOver(usable)
    }
    if !isOver(usable) { return nil }
    return max(limit, size + max(0, DiskRoom.perStep - available) * engine.pageSize)
  }
}

extension NamespaceRecord.RuleSet {
  /// Lets a limit that is below the usage hold at the usage, where it was said.
  fileprivate mutating func hold(entries: Int, bytes: Int) {
    let limits = effective.limits
    if let limit = limits.entries, limit < entries {
      if overrides.limits?.entries != nil {
        overrides.limits?.entries = entries
      } else {
        declared.limits.entries = entries
      }
    }
    if let limit = limits.bytes, limit < bytes {
      if overrides.limits?.bytes != nil {
        overrides.limits?.bytes = bytes
      } else {
        declared.limits.bytes = bytes
      }
    }
  }
}

extension StoreSettings {
  fileprivate mutating func hold(entries: Int, bytes: Int, disk: Int?) {
    let limits = limits
    if let disk { if overrides.disk != nil { overrides.disk = disk } else { declared.disk = disk } }
    if let limit = limits.entries, limit < entries {
      if overrides.entries != nil {
        overrides.entries = entries
      } else {
        declared.entries = entries
      }
    }
    if let limit = limits.bytes, limit < bytes {
      if overrides.bytes != nil { overrides.bytes = bytes } else { declared.bytes = bytes }
    }
  }
}
