import LMDB
import LarderSystem

extension WriteBatch {
  /// Declares a namespace's rules and creates a missing namespace. An operator's overrides stay, and so do declared rules of a
  /// higher ``Rules/version``.
  ///
  /// Entries without room under a lower limit are evicted in this batch; ``Store/declare(_:for:)`` evicts in several
  /// transactions.
  ///
  /// - Throws: ``LarderError/Code/invalidArgument`` for impossible rules; ``LarderError/Code/full`` if too much is pinned, and
  ///   then the batch cannot be committed.
  public mutating func declare(_ rules: Rules, for namespace: Store.Namespace) throws(LarderError) {
    let rules = rules.inMilliseconds
    let name = namespace.name
    if try session.namespace(name)?.record.rules.declared == rules { return }
    try require(changeRules(of: name, mayBeAbsent: true, most: .max) { $0.declare(rules) })
  }

  /// Declares a cache's rules once per opening of the store, unless the namespace was removed meanwhile.
  ///
  /// For a lower limit the call evicts at most ``LimitChange/evictedPerStep`` entries; later writes of the cache evict more.
  mutating func declareOnce(_ rules: Rules?, for namespace: Store.Namespace) throws(LarderError) {
    guard let rules else { return }
    let handle = namespace.handle
    let known = try session.namespace(namespace.name)
    if known != nil, handle.hasDeclared(rules) { return }
    let declared = rules.inMilliseconds
    if known?.record.rules.declared != declared {
      let progress = try changeRules(
        of: namespace.name, mayBeAbsent: true, most: LimitChange.evictedPerStep
      ) { $0.declare(declared) }
      try require(progress)
      if case .underWay = progress { return }
    }
    effects.declared.append((handle, rules))
  }

  /// Replaces an operator's overrides; empty overrides restore the declared rules. For lower limits, see
  /// ``declare(_:for:)``.
  ///
  /// - Throws: ``LarderError/Code/noSuchNamespace``, and the errors of ``declare(_:for:)``.
  public mutating func override(
    _ overrides: Rules.Overrides, for namespace: Store.Namespace
  ) throws(LarderError) {
    let overrides = overrides.inMilliseconds
    try require(
      changeRules(of: namespace.name, mayBeAbsent: false, most: .max) { $0.overrides = overrides })
  }

  /// Inside a batch a limit must be reached at once, or the batch fails.
  private mutating func require(_ progress: LimitProgress) throws(LarderError) {
    if case .stuck(let error) = progress { throw session.transaction.fail(error) }
  }

  /// Empties a namespace in constant time: it gets another id, and its entries are reclaimed later in bounded steps.
  ///
  /// A load that began before the clear stores no value, even if the namespace did not exist.
  ///
  /// - Returns: the number of removed entries and bytes; zero if the namespace does not exist.
  public mutating func clear(_ namespace: Store.Namespace) throws(LarderError) -> RemovalResult {
    let name = namespace.name
    session.removals.record(RemovalTable.hash(ofNamespace: name))
    guard var record = try session.namespace(name)?.record else {
      return RemovalResult()
    }
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
    session.recordClear(of: record.id, name, bytes: before.bytes)
    return RemovalResult(entries: Int(clamping: before.entries), bytes: Int(clamping: before.bytes))
  }

  /// Gives a namespace another name; its entries, rules and counters stay.
  ///
  /// - Throws: ``LarderError/Code/noSuchNamespace`` if the namespace does not exist, ``LarderError/Code/exists`` if a namespace
  ///   `new` exists, ``LarderError/Code/invalidArgument`` for an impossible name.
  public mutating func rename(_ namespace: Store.Namespace, to new: String) throws(LarderError) {
    let old = namespace.name
    try NamespaceName.validate(new)
    guard let record = try session.namespace(old)?.record else {
      throw NamespaceName.absent(old)
    }
    if old == new { return }
    guard try session.namespace(new) == nil else {
      throw LarderError(
        .exists, "there is a namespace \(new) already", hint: "rename that one first")
    }
    for name in [old, new] { session.removals.record(RemovalTable.hash(ofNamespace: name)) }
    // Reads under the old name belong to the namespace.
    try mergeReadCounters()
    try session.transaction.remove(MetadataKey.namespace(old), from: .main)
    session.known[ExactString(old)] = nil
    try session.store(record, named: new)
    session.recordRename(of: record.id, old, to: new)
  }

  mutating func resetStatistics(of name: String) throws(LarderError) {
    guard let id = try session.namespace(name)?.id else { return }
    let reset = NamespaceCounters(since: session.now, epoch: session.transaction.id)
    try session.update(id) { counters in
      counters.since = reset.since
      counters.epoch = reset.epoch
      counters.removals = reset.removals
      counters.reads = reset.reads
    }
    // The next read of every process then looks the namespace up, and finds that earlier reads do not count.
    session.ledger.updateStore { $0.generation &+= 1 }
  }
}

extension NamespaceCounters {
  fileprivate var cleared: NamespaceCounters {
    var counters = self
    counters.entries = 0
    counters.bytes = 0
    counters.stored = 0
    counters.queue = QueueState()
    counters.pinned = 0
    counters.removals.count(.cleared, entries: entries, bytes: Int(clamping: bytes))
    return counters
  }
}
