import LMDB
package import LarderSystem

/// Size, age and rules of a namespace.
public struct NamespaceInfo: Sendable, Hashable {
  /// The name, unique in the store.
  public var name: String
  /// The number of stored entries, including expired entries.
  public var entries: Int
  /// The total size in bytes of the entries' values.
  public var bytes: Int
  /// The total size in bytes of the entries' headers, metadata and values.
  public var storedSize: Int
  /// When the namespace was made. Clearing and renaming do not change this time.
  public var created: Timestamp
  /// The rules that code has declared.
  public var declared: Rules
  /// An operator's rules. Each of these rules replaces a declared rule.
  public var overrides: Rules.Overrides
  /// The rules in force: the declared rules, except where overrides replace them.
  public var rules: Rules { overrides.applied(to: declared) }
}

extension Store {
  /// Every namespace in the order of names, in one snapshot. O(namespaces).
  ///
  /// First commits the write buffer and removes expired entries that reads of this process have found; see ``read(_:)``.
  public func namespaces() throws(LarderError) -> [NamespaceInfo] {
    try engine.flushPending(of: self)
    return try engine.metadata.namespaces(in: engine.beginRead()).map { $0.facts }
  }

  /// Declares the rules of a namespace for every process, and creates the namespace if it does not exist. An operator's
  /// overrides remain in force. If the declared rules have a higher ``Rules/version``, nothing changes.
  ///
  /// If the rules lower a limit, the call evicts entries, in several small transactions, before it returns.
  ///
  /// - Throws: ``LarderError/Code/invalidArgument`` for invalid rules or guarantees that do not fit into the store.
  ///   ``LarderError/Code/full`` if entries that may not be evicted exceed a limit. The usage then becomes the limit in force.
  ///   ``LarderError/Code/insideWrite`` inside ``write(_:)``.
  public func declare(_ rules: Rules, for name: String) throws(LarderError) {
    try checkWritable()
    let rules = rules.inMilliseconds
    try engine.changeRules(of: name, mayBeAbsent: true) { $0.declare(rules) }
  }

  /// Replaces an operator's overrides. Empty overrides restore the declared rules. Lower limits work as in ``declare(_:for:)``.
  /// Throws ``LarderError/Code/noSuchNamespace``, and the errors of ``declare(_:for:)``.
  public func override(_ overrides: Rules.Overrides, for name: String) throws(LarderError) {
    _ = try override(overrides, for: name) { true }
  }

  /// Like ``override(_:for:)``. If `shouldContinue` stops the call, returns false, and the reached usage becomes the limit.
  package func override(
    _ overrides: Rules.Overrides, for name: String, while shouldContinue: () -> Bool
  ) throws(LarderError) -> Bool {
    try checkWritable()
    let overrides = overrides.inMilliseconds
    return try engine.changeRules(
      of: name, mayBeAbsent: false, while: shouldContinue
    ) { $0.overrides = overrides }
  }

  /// The namespace with a shared tier's position and notes, and the namespace with its waiting removals.
  package static let (tierState, tierOutbox) = ("shared-tier", "shared-outbox")
  /// The key of the position, and the first part of the key of a note.
  package static let (tierProgress, tierNote) = ("progress", "namespace:")

  /// Empties every namespace in one commit; see ``Store/Namespace/clear()``. Keeps the records of a shared tier.
  @discardableResult
  public func clear() throws(LarderError) -> RemovalResult {
    try clear { ![Self.tierState, Self.tierOutbox].contains($0) }
  }

  /// Empties the namespaces whose names pass `isMeant`, in one commit. No load that began before this commit stores a value.
  package func clear(where isMeant: (String) -> Bool) throws(LarderError) -> RemovalResult {
    try checkWritable()
    let removal = try engine.commit { batch in
      var removal = RemovalResult()
      batch.refuseEarlierLoads(in: nil)
      for name in try batch.session.namespaceNames() where isMeant(name) {
        removal += try batch.clear(namespace(name))
      }
      return removal
    }
    engine.memory.removeAll { isMeant($0.string) }
    return removal
  }

  /// Gives a namespace another name. After the call every process sees the new name. O(1).
  ///
  /// - Throws: ``LarderError/Code/exists`` if the new name is taken, ``LarderError/Code/noSuchNamespace`` if no namespace has
  ///   the old name, ``LarderError/Code/invalidArgument`` for an invalid name.
  public func rename(_ old: String, to new: String) throws(LarderError) {
    try checkWritable()
    try engine.commit { batch in try batch.rename(namespace(old), to: new) }
    engine.memory.removeAll { $0 == ExactString(old) }
  }

  /// The time at which the next entry of each namespace stops being fresh. Omits namespaces without such an entry.
  package func nextExpiries() throws(LarderError) -> [ExactString: Timestamp] {
    let transaction = try engine.beginRead()
    var ends: [ExactString: Timestamp] = [:]
    for namespace in try engine.metadata.namespaces(in: transaction) {
      let end = try engine.typed { try nextExpiry(of: namespace.id, in: transaction) }
      ends[ExactString(namespace.facts.name)] = end.map { Timestamp(milliseconds: $0) }
    }
    return ends
  }

  /// Searches the expiry index in its order, by the ends of stale windows, so a later record may have an earlier expiry. Reads
  /// about 10,000 entries, and more if none of these is fresh. Without stale windows, the search ends at the first fresh entry.
  private func nextExpiry(
    of id: NamespaceID, in transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> Int64? {
    let now = now.milliseconds
    let indexes = engine.indexes
    let prefix = id.prefix
    var earliest = EntryHeader.never
    var looked = 0
    var hasWindows = false
    var cursor = try transaction.cursor(in: indexes.deadlines)
    var record = try cursor.seek(prefix.span)
    while let found = record, found.key.starts(with: prefix.span) {
      if let expiry = ExpiryRecord(found.key, found.value) {
        if expiry.block.deadline >= earliest, !hasWindows || looked > 10_000 { break }
        for indexed in expiry {
          if let entryKey = try indexed.entryKey(in: transaction, indexes),
            let header = try transaction.header(at: entryKey),
            indexed.leads(to: header), header.staleUntil > now
          {
            looked += 1
            hasWindows = hasWindows || header.staleUntil != header.expires
            if header.expires > now { earliest = min(earliest, header.expires) }
          }
        }
      }
      record = try cursor.next()
    }
    return earliest == EntryHeader.never ? nil : earliest
  }
}
