import LMDB

/// What a removal took away: how many entries, and the bytes of their values.
public struct RemovalResult: Sendable, Hashable {
  public var entries: Int
  public var bytes: Int
  /// Set when a purge removed nothing because the clock seems to have jumped; see ``Store/purge()``.
  public var skippedAfterClockJump = false

  public init(entries: Int = 0, bytes: Int = 0) {
    self.entries = entries
    self.bytes = bytes
  }

  static func += (left: inout RemovalResult, right: RemovalResult) {
    left.entries += right.entries
    left.bytes += right.bytes
    left.skippedAfterClockJump = left.skippedAfterClockJump || right.skippedAfterClockJump
  }
}

extension WriteBatch {
  /// Declares a namespace's rules, making it if there is none. What an operator has set over them stays.
  ///
  /// What a lower limit leaves no room for is evicted in this batch; ``Store/declare(_:for:)`` does it in bounded steps.
  public mutating func declare(_ rules: Rules, for name: String) throws(LarderError) {
    let rules = rules.inMilliseconds
    if try record(named: name)?.rules.declared == rules { return }
    try finish(changeRules(of: name, makes: true, most: .max) { $0.declared = rules })
  }

  /// Puts an operator's rules over the declared ones; empty overrides let those hold again.
  public mutating func override(_ overrides: Rules.Overrides, for name: String) throws(LarderError)
  {
    let overrides = overrides.inMilliseconds
    try finish(changeRules(of: name, makes: false, most: .max) { $0.overrides = overrides })
  }

  /// Inside a batch a limit is reached at once, or the batch fails.
  private mutating func finish(_ lowering: Lowering) throws(LarderError) {
    if case .stuck(let error) = lowering { throw fail(error) }
  }

  /// Empties a namespace at once: it gets a new id, and its entries become garbage that is reclaimed in steps. By its id
  /// those who load what it lacks see that it was cleared meanwhile, be it that there was nothing in it.
  public mutating func clear(_ name: String) throws(LarderError) -> RemovalResult {
    guard var record = try record(named: name) else { return RemovalResult() }
    let old = try loadCounters(record.id)
    let new = try newID()
    counters[record.id] = nil
    damaged.remove(record.id)
    let garbage = MetadataKey.garbage(record.id)
    try change { transaction throws(LMDBError) in try transaction.put([], for: garbage, in: .main) }
    var emptied = old
    emptied.entries = 0
    emptied.bytes = 0
    emptied.stored = 0
    emptied.queue = QueueState()
    emptied.pinned = 0
    emptied.removals.count(.cleared, entries: old.entries, bytes: Int(clamping: old.bytes))
    record.id = new
    counters[new] = emptied
    state.garbage &+= 1
    state.entries &-= old.entries
    state.bytes &-= old.bytes
    state.stored &-= old.stored
    try store(record, named: name)
    try noteCleared(new, name, bytes: old.bytes)
    return RemovalResult(entries: Int(clamping: old.entries), bytes: Int(clamping: old.bytes))
  }

  /// Gives a namespace another name; its entries, rules and counts stay.
  public mutating func rename(_ old: String, to new: String) throws(LarderError) {
    try Store.Namespace.validate(new)
    guard let record = try record(named: old) else { throw Store.Namespace.absent(old) }
    if old == new { return }
    guard try self.record(named: new) == nil else {
      throw LarderError(
        .exists, "there is a namespace \(new) already", hint: "clear or rename that one first")
    }
    // What was read under the old name goes with the namespace.
    try mergeReads()
    let key = MetadataKey.namespace(old)
    try change { transaction throws(LMDBError) in _ = try transaction.remove(key, from: .main) }
    known[old] = nil
    try store(record, named: new)
    try noteRenamed(record.id, old, new)
  }
}

extension Store.Namespace {
  static func absent(_ name: String) -> LarderError {
    LarderError(
      .noSuchNamespace, "there is no namespace \(name)",
      hint: "see which there are with namespaces()")
  }
}
