import LMDB
import LarderSystem

extension WriteBatch {
  /// Declares rules, and creates a missing namespace. Overrides and rules of a higher ``Rules/version`` stay in force.
  ///
  /// With a lower limit, this batch evicts all entries without room; ``Store/declare(_:for:)`` uses several transactions.
  ///
  /// - Throws: ``LarderError/Code/invalidArgument`` for impossible rules. ``LarderError/Code/full`` if entries that may not be
  ///   evicted exceed a limit; then the batch cannot be committed.
  public mutating func declare(_ rules: Rules, for namespace: Store.Namespace) throws(LarderError) {
    let rules = rules.inMilliseconds
    let name = namespace.name
    if try session.namespace(name)?.record.rules.declared == rules { return }
    try require(session.changeRules(of: name, mayBeAbsent: true, most: .max) { $0.declare(rules) })
  }

  /// Declares a cache's rules once after the store is opened, and again if the name belongs to another namespace. If a limit is
  /// lower than before, evicts at most ``LimitProgress/evictedPerStep`` entries. Later writes evict the rest.
  mutating func declareOnce(_ rules: Rules?, for namespace: Store.Namespace) throws(LarderError) {
    guard let rules else { return }
    let (name, engine) = (namespace.name, session.engine)
    // A cache of another store knows only what was declared there.
    let handle = namespace.engine === engine ? namespace.handle : engine.handle(for: name)
    let known = try session.namespace(name)
    if let known, handle.hasDeclared(rules, of: known.record.created) { return }
    let declared = rules.inMilliseconds
    if known?.record.rules.declared != declared {
      let progress = try session.changeRules(
        of: name, mayBeAbsent: true, most: LimitProgress.evictedPerStep
      ) { $0.declare(declared) }
      try require(progress)
      if case .underWay = progress { return }
    }
    let created = try session.namespaceOrNew(name).record.created
    session.effects.declared.append((handle, rules, created))
  }

  /// Replaces an operator's overrides. Empty overrides restore the declared rules. Lower limits work as in ``declare(_:for:)``.
  ///
  /// - Throws: ``LarderError/Code/noSuchNamespace``, and the errors of ``declare(_:for:)``.
  public mutating func override(
    _ overrides: Rules.Overrides, for namespace: Store.Namespace
  ) throws(LarderError) {
    let overrides = overrides.inMilliseconds
    try require(
      session.changeRules(of: namespace.name, mayBeAbsent: false, most: .max) {
        $0.overrides = overrides
      })
  }

  /// Throws, and makes the batch fail, if entries that may not be evicted exceed the limit.
  private mutating func require(_ progress: LimitProgress) throws(LarderError) {
    if case .stuck(let error) = progress { throw session.transaction.fail(error) }
  }

  /// Whether a namespace has entries, with the changes of this batch.
  package mutating func hasEntries(in namespace: Store.Namespace) throws(LarderError) -> Bool {
    guard let id = try session.namespace(namespace.name)?.id else { return false }
    return try session.counters(of: id).entries > 0
  }

  /// Empties a namespace in constant time: the namespace gets another id. Later writes remove the old entries in small steps.
  ///
  /// A load that began before the clear does not store its value, even if the namespace did not exist.
  ///
  /// - Returns: the number of removed entries and bytes; both are 0 if the namespace does not exist.
  public mutating func clear(_ namespace: Store.Namespace) throws(LarderError) -> RemovalResult {
    let name = namespace.name
    session.recordRemoval(of: RemovalTable.hash(ofNamespace: name))
    guard var record = try session.namespace(name)?.record else { return RemovalResult() }
    let before = try session.counters(of: record.id)
    let old = record.id
    session.ledger.drop(old)
    session.damaged.remove(old)
    let key = MetadataKey.garbage(old)
    try session.transaction.put(session.engine.seal.seal([], for: key), for: key, in: .main)
    record.id = try session.newID()
    try session.store(record, named: name)
    session.ledger.begin(record.id, with: before.cleared)
    session.ledger.updateStore { state in
      state.garbage &+= 1
      state.entries &-= before.entries
      state.bytes &-= before.bytes
      state.stored &-= before.stored
    }
    let bytes = Int(clamping: before.bytes)
    session.record(.cleared, id: record.id, name: Array(name.utf8), before: bytes)
    return RemovalResult(entries: Int(clamping: before.entries), bytes: bytes)
  }

  /// Clears a namespace. If a value was written or an entry was unpinned after the horizon, returns nil and changes nothing.
  package mutating func clear(
    _ namespace: Store.Namespace, asOf horizon: WriteHorizon
  ) throws(LarderError) -> RemovalResult? {
    let name = namespace.name
    session.recordRemoval(of: RemovalTable.hash(ofNamespace: name))
    guard let id = try session.namespace(name)?.id else { return RemovalResult() }
    guard try session.counters(of: id).next == horizon.first(in: name) else { return nil }
    return try clear(namespace)
  }

  /// Renames a namespace, which keeps its entries, rules and counters.
  ///
  /// - Throws: ``LarderError/Code/noSuchNamespace`` if the namespace does not exist, ``LarderError/Code/exists`` if there
  ///   already is a namespace `new`, ``LarderError/Code/invalidArgument`` for an impossible name.
  public mutating func rename(_ namespace: Store.Namespace, to new: String) throws(LarderError) {
    let old = namespace.name
    try NamespaceName.validate(new)
    guard let record = try session.namespace(old)?.record else { throw NamespaceName.absent(old) }
    if old.isExactly(new) { return }
    guard try session.namespace(new) == nil else {
      throw LarderError(
        .exists, "there is a namespace \(new) already", hint: "rename that one first")
    }
    for name in [old, new] { session.recordRemoval(of: RemovalTable.hash(ofNamespace: name)) }
    // Counts of reads are in memory under the old name, but belong to the namespace. So the counts are written first.
    try session.mergeReadCounters()
    try session.transaction.remove(MetadataKey.namespace(old), from: .main)
    session.known.set(ExactString(old), to: nil)
    try session.store(record, named: new)
    session.changes?.names[record.id] = Array(new.utf8)
    session.record(.renamed, id: record.id, name: Array(old.utf8), key: Array(new.utf8))
  }

  mutating func resetStatistics(of name: String) throws(LarderError) {
    guard let id = try session.namespace(name)?.id else { return }
    let reset = NamespaceCounters(since: session.now, epoch: session.transaction.id)
    try session.update(id) { counters in
      (counters.since, counters.epoch) = (reset.since, reset.epoch)
      (counters.removals, counters.reads) = (reset.removals, reset.reads)
    }
    // With a new generation, each process looks the namespace up again and learns that counts of earlier reads are void.
    session.ledger.updateStore { $0.generation &+= 1 }
  }
}

extension NamespaceCounters {
  fileprivate var cleared: NamespaceCounters {
    var counters = self
    counters.entries = 0
    counters.bytes = 0
    counters.stored = 0
    counters.pinned = 0
    counters.queue = QueueState()
    counters.removals.count(.cleared, entries: entries, bytes: Int(clamping: bytes))
    return counters
  }
}
