import LMDB

/// What a removal took away: how many entries, and the bytes of their values.
public struct Removal: Sendable, Hashable {
  public var entries: Int
  public var bytes: Int
  /// Set when a purge removed nothing because the clock seems to have jumped; see ``Store/purge()``.
  public var isPostponed = false

  public init(entries: Int = 0, bytes: Int = 0) {
    self.entries = entries
    self.bytes = bytes
  }

  static func += (left: inout Removal, right: Removal) {
    left.entries += right.entries
    left.bytes += right.bytes
    left.isPostponed = left.isPostponed || right.isPostponed
  }
}

extension Batch {
  /// Declares a namespace's rules, making it if there is none. What an operator has set over them stays.
  public mutating func declare(_ rules: Rules, for name: String) throws(LarderError) {
    try rules.validate()
    var record = try recordMaking(name)
    guard record.rules.declared != rules else { return }
    record.rules.declared = rules
    try store(record, named: name)
  }

  /// Puts an operator's rules over the declared ones; empty overrides let those hold again.
  public mutating func override(_ overrides: Rules.Overrides, for name: String) throws(LarderError)
  {
    guard var record = try record(named: name) else { throw Namespace.absent(name) }
    record.rules.overrides = overrides
    try record.rules.effective.validate()
    try store(record, named: name)
  }

  /// Empties a namespace at once: it gets a new id, and its entries become garbage that is reclaimed in steps.
  public mutating func clear(_ name: String) throws(LarderError) -> Removal {
    guard var record = try record(named: name) else { return Removal() }
    let old = try loadCounters(record.id)
    guard old.entries > 0 else { return Removal() }
    let garbage = CatalogueKey.garbage(record.id)
    try change { transaction throws(LMDBError) in try transaction.put([], for: garbage, in: .main) }
    var new = old
    new.entries = 0
    new.bytes = 0
    new.stored = 0
    new.policy = NamespaceCounters().policy
    new.removals[.cleared] += old.entries
    record.id = try newID()
    counters[record.id] = new
    state.garbage += 1
    state.entries &-= old.entries
    state.bytes &-= old.bytes
    state.stored &-= old.stored
    try store(record, named: name)
    return Removal(entries: Int(clamping: old.entries), bytes: Int(clamping: old.bytes))
  }

  /// Gives a namespace another name; its entries, rules and counts stay.
  public mutating func rename(_ old: String, to new: String) throws(LarderError) {
    try Namespace.validate(new)
    guard let record = try record(named: old) else { throw Namespace.absent(old) }
    guard try self.record(named: new) == nil else {
      throw LarderError(
        .exists, "there is a namespace \(new) already", hint: "clear or rename that one first")
    }
    let key = CatalogueKey.namespace(old)
    try change { transaction throws(LMDBError) in _ = try transaction.remove(key, from: .main) }
    records[old] = nil
    try store(record, named: new)
  }
}

extension Namespace {
  static func absent(_ name: String) -> LarderError {
    LarderError(
      .noSuchNamespace, "there is no namespace \(name)",
      hint: "see which there are with namespaces()")
  }
}
