import LMDB
import LarderSystem

/// What a namespace is and holds.
public struct NamespaceInfo: Sendable, Hashable {
  public var name: String
  /// Entries stored, expired ones that nobody has removed yet included.
  public var entries: Int
  /// Bytes of their values.
  public var bytes: Int
  /// Bytes of their headers and values.
  public var storedSize: Int
  public var created: Timestamp
  /// What code declared.
  public var declared: Rules
  /// What an operator put over it.
  public var overrides: Rules.Overrides
  /// What holds.
  public var rules: Rules { overrides.applied(to: declared) }
}

extension Store {
  /// Every namespace, by name. O(namespaces).
  public func namespaces() throws(LarderError) -> [NamespaceInfo] {
    try engine.settle(self)
    let transaction = try engine.beginRead()
    return try engine.namespaces(in: transaction).map { $0.facts }
  }

  /// Declares the rules of a namespace, which every process then obeys; makes the namespace if there is none.
  ///
  /// What a lower limit leaves no room for is evicted, in bounded transactions, before this returns. If too much is
  /// pinned, ``LarderError/Code/full`` is thrown, and what was reached is the limit that holds.
  public func declare(_ rules: Rules, for name: String) throws(LarderError) {
    try checkWritable()
    let rules = rules.inMilliseconds
    try engine.changeRules(of: name, makes: true) { $0.declared = rules }
  }

  /// Puts an operator's rules over the declared ones; empty overrides let those hold again. Lower limits are reached as
  /// in ``declare(_:for:)``.
  public func override(_ overrides: Rules.Overrides, for name: String) throws(LarderError) {
    try checkWritable()
    let overrides = overrides.inMilliseconds
    try engine.changeRules(of: name, makes: false) { $0.overrides = overrides }
  }

  /// Empties every namespace at once; see ``Store/Namespace/clear()``.
  @discardableResult
  public func clear() throws(LarderError) -> RemovalResult {
    try checkWritable()
    let removal = try engine.write { batch in
      var removal = RemovalResult()
      for name in try batch.names() { removal += try batch.clear(name) }
      return removal
    }
    engine.memory.removeAll()
    return removal
  }

  /// Gives a namespace another name, at once for every process.
  ///
  /// Throws ``LarderError/Code/exists`` if the new name is taken and ``LarderError/Code/noSuchNamespace`` if the old is
  /// not.
  public func rename(_ old: String, to new: String) throws(LarderError) {
    try checkWritable()
    try engine.write { batch in try batch.rename(old, to: new) }
    engine.memory.removeAll(of: old)
  }
}

extension WriteBatch {
  mutating func names() throws(LarderError) -> [String] {
    var names: [String] = []
    let prefix = MetadataKey.namespaces
    try forEach(in: .main, from: prefix) { key, _ in
      names.append(String(decoding: key.dropFirst(prefix.count), as: UTF8.self))
    }
    return names
  }
}

extension StoreEngine {
  struct ListedNamespace {
    var id: NamespaceID
    var facts: NamespaceInfo
    var counters: NamespaceCounters
  }

  func namespaces(in transaction: borrowing ReadTransaction) throws(LarderError)
    -> [ListedNamespace]
  {
    var listed: [ListedNamespace] = []
    for (name, bytes) in try catalogue(in: transaction) {
      listed.append(
        try facts(of: NamespaceRecord(bytes.span, name: name), name: name, in: transaction))
    }
    return listed
  }

  /// The catalogue's records as they are, by name.
  func catalogue(in transaction: borrowing ReadTransaction) throws(LarderError)
    -> [(name: String, record: [UInt8])]
  {
    var records: [(name: String, record: [UInt8])] = []
    let prefix = MetadataKey.namespaces
    do throws(LMDBError) {
      var cursor = try transaction.cursor(in: .main)
      var record = try cursor.seek(prefix.span)
      while let found = record, found.key.starts(with: prefix.span) {
        let name = found.key.extracting(prefix.count..<found.key.count).copied
        records.append((String(decoding: name, as: UTF8.self), found.value.copied))
        record = try cursor.next()
      }
    } catch {
      throw self.error(error)
    }
    return records
  }

  func facts(
    of record: NamespaceRecord, name: String, in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> ListedNamespace {
    let counters = try counters(of: record.id, in: transaction)
    let facts = NamespaceInfo(
      name: name, entries: Int(clamping: counters.entries), bytes: Int(clamping: counters.bytes),
      storedSize: Int(clamping: counters.stored), created: Timestamp(milliseconds: record.created),
      declared: record.rules.declared, overrides: record.rules.overrides)
    return ListedNamespace(id: record.id, facts: facts, counters: counters)
  }
}
