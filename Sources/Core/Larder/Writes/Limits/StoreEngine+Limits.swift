import LMDB

enum LimitProgress {
  case done
  case underWay
  /// The remaining entries may not be evicted. The usage that was reached is now the limit in force.
  case stuck(LarderError)

  static let evictedPerStep = 1000
}

/// Changes of limits. If a new limit is below the usage, several transactions evict entries. Each transaction stores its usage
/// as the limit in force, so that the usage cannot grow again. If the change is stopped, the last of these limits stays in force.
extension StoreEngine {
  /// Changes the rules of a namespace. Returns whether the change is complete; false if `shouldContinue` has stopped it.
  @discardableResult
  func changeRules(
    of name: String, mayBeAbsent: Bool, while shouldContinue: () -> Bool = { true },
    _ change: (inout NamespaceRecord.RuleSet) -> Void
  ) throws(LarderError) -> Bool {
    try changeLimits(while: shouldContinue) { session throws(LarderError) in
      try session.changeRules(
        of: name, mayBeAbsent: mayBeAbsent, most: LimitProgress.evictedPerStep, change)
    }
  }

  @discardableResult
  func changeSettings(
    while shouldContinue: () -> Bool = { true }, _ change: (inout StoreSettings) -> Void
  ) throws(LarderError) -> Bool {
    let ceiling = environment.fileSize + BatchPages.perStep * pageSize
    let isDone = try changeLimits(while: shouldContinue) { session throws(LarderError) in
      try session.changeSettings(below: ceiling, change)
    }
    memory.budget.limit = try metadata.settings(in: reader.beginRead()).memoryLimit ?? .max
    return isDone
  }

  private func changeLimits(
    while shouldContinue: () -> Bool,
    _ step: (inout WriteSession) throws(LarderError) -> LimitProgress
  ) throws(LarderError) -> Bool {
    while true {
      switch try commit(.standard, { batch in try step(&batch.session) }) {
      case .done: return true
      case .underWay: if !shouldContinue() { return false }
      case .stuck(let error): throw error
      }
    }
  }
}

extension WriteSession {
  mutating func changeRules(
    of name: String, mayBeAbsent: Bool, most: Int, _ change: (inout NamespaceRecord.RuleSet) -> Void
  ) throws(LarderError) -> LimitProgress {
    let found = try namespace(name)?.record
    if found == nil, !mayBeAbsent { throw NamespaceName.absent(name) }
    let before = found?.rules ?? NamespaceRecord.RuleSet()
    var changed = before
    change(&changed)
    let rules = changed.effective
    try changed.declared.validate()
    try rules.validate()
    if changed != before, let guaranteed = rules.limits.guaranteed, guaranteed > 0 {
      try checkGuarantees(of: name, guaranteed)
    }
    var record = try namespaceOrNew(name).record
    guard changed != before else { return .done }
    record.rules = changed
    let id = record.id
    let limits = rules.limits
    let entries = try self.counters(of: id).entries
    let isDone = try removeExpired(in: id, limit: most) { $0.exceeds(limits, in: id) }
    // If the search has stopped at its limit, the next steps continue it before they evict entries that have not expired.
    if isDone, exceeds(limits, in: id) {
      // A step without pages for its evictions would fail, and entries of other namespaces would be evicted for this step.
      let most = most == .max ? most : min(most, removalsInOwnBatch)
      var request = RoomRequest(id: id, limits: limits, evictionsLeft: most)
      if let newest = try newestPosition(in: id) { request.skipped = [newest] }
      let removed = try evict(rules.eviction, request)
      // The limit cannot be reached as long as the newest entry stays, so this second call may evict the newest entry as well.
      if exceeds(limits, in: id), removed < most {
        request.skipped = []
        request.evictionsLeft = most - removed
        try evict(rules.eviction, request)
      }
    }
    let counters = try self.counters(of: id)
    let isStillOver = exceeds(limits, in: id)
    if isStillOver {
      // If the change concerns the overrides, the limits that code has declared stay, and overrides are raised or added.
      let isOverride = changed.declared == before.declared
      var own = changed.overrides.limits ?? Limits()
      Limits.raise(&own, over: &record.rules.declared.limits, to: counters.usage, isOverride)
      if own != Limits() { record.rules.overrides.limits = own }
    }
    try store(record, named: name)
    guard isStillOver else { return .done }
    if counters.entries < entries || !isDone, most < .max { return .underWay }
    return .stuck(
      LarderError(
        .full,
        "namespace \(name) holds \(counters.usage.words), and "
          + (rules.eviction == .refuse
            ? "it evicts nothing"
            : counters.pinned == 1 ? "1 is pinned" : "\(counters.pinned) are pinned")
          + ": its limit of \(limits.words) cannot be reached",
        hint: "remove or unpin entries, then set the limit again"))
  }

  private mutating func newestPosition(in id: NamespaceID) throws(LarderError) -> UInt64? {
    let (end, queue) = (IndexKey.queue(.max, in: id), engine.indexes.queue)
    return try transaction.read { lmdb throws(LMDBError) -> UInt64? in
      var cursor = try lmdb.cursor(in: queue)
      _ = try cursor.seek(end.span)
      guard let last = try cursor.previous(), last.key.count > 4, last.key.namespaceID == id
      else { return nil }
      return QueueRecord.position(of: last.key)
    }
  }

  fileprivate mutating func changeSettings(
    below ceiling: Int, _ change: (inout StoreSettings) -> Void
  ) throws(LarderError) -> LimitProgress {
    let (most, withPages) = (LimitProgress.evictedPerStep, removalsInOwnBatch)
    var settings = try self.settings()
    let before = settings
    change(&settings)
    try settings.declared.validate()
    try settings.limits.validate()
    guard settings != before else { return .done }
    let wanted = settings.limits
    budget.limits = wanted
    try checkGuarantees(of: nil, 0)
    let entries = state.entries
    var isDone = try removeExpired(in: nil, limit: most) { $0.isStoreOver }
    try evictInTurn { session in
      isDone && session.isStoreOver
        && entries &- session.state.entries < UInt64(min(most, withPages))
    }
    let disk = try lowerDisk(wanted.disk, below: ceiling, &isDone)
    let isOver = isStoreOver || disk != nil
    if isOver {
      let isOverride = settings.declared == before.declared
      Limits.raise(
        &settings.overrides.counted, over: &settings.declared.counted, to: state.usage, isOverride)
      if let disk {
        let isOwn = settings.overrides.disk != nil || isOverride
        if isOwn { settings.overrides.disk = disk } else { settings.declared.disk = disk }
      }
    }
    budget.limits = settings.limits
    try store(settings)
    if !isOver { return .done }
    if state.entries < entries || !isDone || disk != nil && state.garbage > 0 { return .underWay }
    return .stuck(
      LarderError(
        .full,
        "\(engine.environment.path) holds \(state.usage.words)"
          + " that may not be evicted: its limit of \(wanted.words) cannot be reached",
        hint: "remove or unpin entries, then set the limit again"))
  }

  /// Evicts until the pages in use fit into a data file of `limit` bytes without its reserve. If more steps are necessary,
  /// returns a limit for the next step. Because removals need free pages, that limit may be above the file size, up to `ceiling`.
  private mutating func lowerDisk(
    _ limit: Int?, below ceiling: Int, _ isDone: inout Bool
  ) throws(LarderError) -> Int? {
    guard let limit else { return nil }
    let usable = BatchPages.usable(of: limit, pageSize: engine.pageSize)
    guard usesMore(than: usable) else { return nil }
    let size = engine.environment.fileSize
    let available = try transaction.read { lmdb throws(LMDBError) in
      try lmdb.availablePages(upTo: BatchPages.perStep, limit: size)
    }
    let (most, entries) = (100, state.entries)
    let evicted = UInt64(min(most, removalsInOwnBatch))
    for _ in 0..<4 where state.garbage > 0 && usesMore(than: usable) {
      _ = try GarbageCollector.reclaim(limit: 64, &self)
    }
    isDone = try removeExpired(in: nil, limit: most) { $0.usesMore(than: usable) } && isDone
    try evictInTurn { session in
      isDone && session.state.garbage == 0 && entries &- session.state.entries < evicted
        && session.usesMore(than: usable)
    }
    if !usesMore(than: usable) { return nil }
    let wanted = size + max(0, BatchPages.perStep - available) * engine.pageSize
    return max(limit, size, min(wanted, ceiling))
  }
}

extension Limits {
  /// Raises each limit below the usage: the override if there is one or `inOverrides` is set, otherwise the declared limit.
  fileprivate static func raise(
    _ overrides: inout Limits, over declared: inout Limits, to usage: Usage, _ inOverrides: Bool
  ) {
    for (limit, used) in [(\Limits.entries, usage.entries), (\Limits.bytes, usage.bytes)] {
      let (override, used) = (overrides[keyPath: limit], Int(clamping: used))
      guard let most = overridden(declared[keyPath: limit], by: override), most < used
      else { continue }
      if override != nil || inOverrides {
        overrides[keyPath: limit] = used
      } else {
        declared[keyPath: limit] = used
      }
    }
  }
}
