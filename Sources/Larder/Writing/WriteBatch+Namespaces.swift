import LMDB
import LarderSystem

/// The entries and bytes that a call removed.
public struct RemovalResult: Sendable, Hashable {
  /// Entries.
  public var entries: Int
  /// Bytes of their values.
  public var bytes: Int
  /// Whether a purge removed nothing because the clock seems to have jumped; see ``Store/purge()``.
  public var skippedAfterClockJump = false

  /// A removal of so many entries and bytes.
  public init(entries: Int = 0, bytes: Int = 0) {
    self.entries = entries
    self.bytes = bytes
  }

  static func += (left: inout RemovalResult, right: RemovalResult) {
    left.entries = left.entries.saturatingAdding(right.entries)
    left.bytes = left.bytes.saturatingAdding(right.bytes)
    left.skippedAfterClockJump = left.skippedAfterClockJump || right.skippedAfterClockJump
  }
}

extension WriteBatch {
  /// Declares a namespace's rules and creates the namespace if it does not exist. An operator's overrides stay, and so do
  /// declared rules of a higher ``Rules/version``.
  ///
  /// Entries for which a lower limit leaves no room are evicted in this batch; ``Store/declare(_:for:)`` evicts in several
  /// transactions.
  ///
  /// - Throws: ``LarderError/Code/invalidArgument`` for impossible rules; ``LarderError/Code/full`` if too much is pinned, and
  ///   then the batch cannot be committed.
  public mutating func declare(_ rules: Rules, for name: String) throws(LarderError) {
    let rules = rules.inMilliseconds
    if try writer.namespace(name)?.record.rules.declared == rules { return }
    try require(changeRules(of: name, ifAbsent: .make, most: .max) { $0.declare(rules) })
  }

  /// Declares a cache's rules once in an opening of the store: later calls with the same rules do nothing, unless the
  /// namespace is gone.
  ///
  /// For a lower limit it evicts at most ``LimitChange/evictedPerStep`` entries; later writes of the cache go on until the
  /// limit is reached.
  mutating func declareOnce(
    _ rules: Rules?, for namespace: Store.Namespace
  ) throws(LarderError) {
    guard let rules else { return }
    let handle = namespace.handle
    let known = try writer.namespace(namespace.name)
    if known != nil, handle.hasDeclared(rules) { return }
    let declared = rules.inMilliseconds
    if known?.record.rules.declared != declared {
      let progress = try changeRules(
        of: namespace.name, ifAbsent: .make, most: LimitChange.evictedPerStep
      ) { $0.declare(declared) }
      try require(progress)
      if case .underWay = progress { return }
    }
    effects.declared.append((handle, rules))
  }

  /// Replaces an operator's overrides of the declared rules; empty overrides lift them. Limits are as in
  /// ``declare(_:for:)``.
  ///
  /// - Throws: ``LarderError/Code/noSuchNamespace``, and as ``declare(_:for:)``.
  public mutating func override(_ overrides: Rules.Overrides, for name: String) throws(LarderError)
  {
    let overrides = overrides.inMilliseconds
    try require(changeRules(of: name, ifAbsent: .refuse, most: .max) { $0.overrides = overrides })
  }

  /// Inside a batch a limit is reached at once, or the batch fails.
  private mutating func require(_ progress: LimitProgress) throws(LarderError) {
    if case .stuck(let error) = progress { throw writer.fail(error) }
  }

  /// Empties a namespace in constant time: it gets another id, and its entries are reclaimed later in bounded steps.
  ///
  /// A load of a key that began before the clear does not store its value, even if the namespace was empty.
  ///
  /// - Returns: the number of entries and bytes removed; zero if the namespace does not exist.
  public mutating func clear(_ name: String) throws(LarderError) -> RemovalResult {
    guard var record = try writer.namespace(name)?.record else { return RemovalResult() }
    let before = try writer.counters(of: record.id)
    let old = record.id
    writer.dropCounters(of: old)
    record.id = try writer.withDirectory {
      [record, now = writer.now, seal = writer.engine.seal] directory, counters, transaction
        throws(LarderError) in
      let key = MetadataKey.garbage(old)
      try transaction.put(seal.seal([], for: key), for: key, in: .main)
      var record = record
      record.id = try directory.newID(at: now, &counters, &transaction)
      try directory.store(record, named: name, &counters, &transaction)
      return record.id
    }
    writer.begin(record.id, with: before.cleared)
    writer.updateStore { state in
      state.garbage &+= 1
      state.entries &-= before.entries
      state.bytes &-= before.bytes
      state.stored &-= before.stored
    }
    writer.recordClear(of: record.id, name, bytes: before.bytes)
    return RemovalResult(
      entries: Int(clamping: before.entries), bytes: Int(clamping: before.bytes))
  }

  /// Gives a namespace another name; entries, rules and counters stay.
  ///
  /// - Throws: ``LarderError/Code/noSuchNamespace`` if there is no namespace `old`, ``LarderError/Code/exists`` if there is one
  ///   called `new`, ``LarderError/Code/invalidArgument`` for an impossible name.
  public mutating func rename(_ old: String, to new: String) throws(LarderError) {
    try NamespaceName.validate(new)
    guard let record = try writer.namespace(old)?.record else { throw NamespaceName.absent(old) }
    if old == new { return }
    guard try writer.namespace(new) == nil else {
      throw LarderError(
        .exists, "there is a namespace \(new) already", hint: "clear or rename that one first")
    }
    // Reads under the old name belong to the namespace.
    try mergeReadCounters()
    try writer.withDirectory { directory, counters, transaction throws(LarderError) in
      try directory.remove(old, &transaction)
      try directory.store(record, named: new, &counters, &transaction)
    }
    writer.recordRename(of: record.id, old, to: new)
  }

  /// Resets the counts of reads and removals of a namespace.
  mutating func resetStatistics(of name: String) throws(LarderError) {
    guard let id = try writer.namespace(name)?.id else { return }
    let reset = NamespaceCounters(since: writer.now, epoch: writer.transaction.id)
    try writer.update(id) { counters in
      counters.since = reset.since
      counters.epoch = reset.epoch
      counters.removals = reset.removals
      counters.reads = reset.reads
    }
    // Makes the next read of every process look the namespace up, where it finds that earlier reads do not count.
    writer.updateStore { $0.generation &+= 1 }
  }
}

extension NamespaceCounters {
  /// The counters after everything was cleared.
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

/// A moment between the writes of a store: the version that the next value of each namespace gets.
///
/// A value that is written later has that version or a higher one, also if its namespace was cleared meanwhile.
package struct WriteHorizon: Sendable {
  private let next: [String: UInt64]

  /// The horizon of the last commit.
  package init(of store: Store) throws(LarderError) {
    let namespaces = try store.engine.metadata.namespaces(in: store.engine.beginRead())
    next = Dictionary(
      namespaces.map { ($0.facts.name, $0.counters.next) }, uniquingKeysWith: min)
  }

  /// The first version in a namespace that was written later; a namespace without values at the time has no earlier one.
  func first(in namespace: String) -> UInt64 { next[namespace] ?? 0 }

  /// Whether the value of an entry was written before.
  package func covers(_ entry: Store.Entry) -> Bool {
    entry.version < first(in: entry.namespace)
  }
}

extension WriteBatch {
  /// Empties a namespace as ``clear(_:)`` does; nil, without a change, if a value was written into it after the horizon.
  package mutating func clear(
    _ name: String, asOf horizon: WriteHorizon
  ) throws(LarderError) -> RemovalResult? {
    guard let id = try writer.namespace(name)?.id else { return RemovalResult() }
    guard try writer.counters(of: id).next == horizon.first(in: name) else { return nil }
    return try clear(name)
  }
}
