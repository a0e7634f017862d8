import LMDB
import LarderSystem

extension Store {
  /// A named part of a store with its own rules.
  ///
  /// A `Namespace` is a view, so making a `Namespace` changes nothing in the store. A view stays valid if a process clears,
  /// renames or removes the namespace. The first write or declaration of rules creates the namespace.
  ///
  /// A name has 1 to 100 bytes without white space, `@` and control characters. With an invalid name or key
  /// (``StoreKey``), reads find nothing and writes throw ``LarderError/Code/invalidArgument``.
  public struct Namespace: Sendable {
    /// The store of the namespace.
    public let store: Store
    let handle: NamespaceHandle

    /// The namespace's name.
    public var name: String { handle.name }

    var engine: StoreEngine { store.engine }

    /// The most bytes that a name may have.
    public static let longestName = NamespaceName.longest
  }
}

extension Store.Namespace {
  /// The namespace's size and rules; nil if the namespace does not exist. O(log namespaces).
  public func info() throws(LarderError) -> NamespaceInfo? {
    try engine.flushPending(of: store)
    let transaction = try engine.beginRead()
    guard let record = try engine.metadata.record(named: name, in: transaction) else { return nil }
    return try engine.metadata.listed(record, name: name, in: transaction).facts
  }

  /// The namespace's size, reads and removals; nil if the namespace does not exist. O(log namespaces).
  public func statistics() throws(LarderError) -> Statistics.Namespace? {
    try engine.flushPending(of: store)
    let transaction = try engine.beginRead()
    guard let record = try engine.metadata.record(named: name, in: transaction) else { return nil }
    return Statistics.Namespace(
      try engine.metadata.listed(record, name: name, in: transaction), unmerged: handle,
      at: transaction.id, memory: engine.memory.statistics[ExactString(name)])
  }

  /// Throws if the namespace's name or a rule is invalid. Does not compare the rules with the contents of this store.
  package func check(_ rules: Rules) throws(LarderError) {
    try NamespaceName.validate(name)
    try rules.validate()
  }

  /// Throws if every store with these rules and limits would refuse a write of `size` bytes, even an empty store.
  package func check(
    _ size: Int, for key: [UInt8], _ attributes: EntryAttributes, under rules: Rules,
    _ limits: StoreLimits
  ) throws(LarderError) {
    try WriteBatch.validate(key.span, in: name, attributes)
    try NamespaceName.validate(name)
    let stored = engine.transforms.isEmpty ? size : 0
    try limits.checkSize(size, stored: stored, under: rules, named: name)
  }

  /// The namespace's number, as in ``TransformContext/namespace``; nil if the namespace does not exist.
  package func number() throws(LarderError) -> UInt32? {
    let id = try engine.reader.identify(handle, in: engine.reader.beginRead())
    return id == .store ? nil : id.rawValue
  }

  /// A copy of the fresh value under `key`, or nil. Counts neither as a read nor as an access.
  package func uncountedValue(for key: some StoreKey) throws(LarderError) -> [UInt8]? {
    try engine.typed {
      try withEntry(for: key) { entry, value in
        entry.state == .fresh && !entry.isNegative ? value.copied : nil
      } ?? nil
    }
  }

  /// Passes the bytes of the fresh value under `key` to `body`, without a copy. Returns nil if no fresh value is stored.
  ///
  /// The bytes are in the store's memory map or in memory of the reader, and the compiler lets only `body` use the bytes. Keep
  /// `body` short, because the store cannot reuse freed pages until `body` returns. O(log n).
  @inlinable
  public func withValue<Result>(
    for key: some StoreKey, _ body: (Span<UInt8>) throws -> Result
  ) throws -> Result? {
    var result: Result?
    try key.withKeyBytes { key in try lend(key) { bytes in result = try body(bytes) } }
    return result
  }

  /// A copy of the fresh value under `key`, or nil. O(log n).
  public func value(for key: some StoreKey) throws(LarderError) -> [UInt8]? {
    try engine.typed { try withValue(for: key) { bytes in bytes.copied } }
  }

  @usableFromInline
  func lend(_ key: Span<UInt8>, _ body: (Span<UInt8>) throws -> Void) throws {
    let transaction = try engine.reader.beginLookup(key, of: handle)
    try engine.reader.lend(
      key, of: handle, id: engine.reader.identify(handle, in: transaction), in: transaction,
      recordsAccess: !store.isReadOnly, body)
  }

  /// Whether a fresh value is under `key`. Does not count as a read.
  @inlinable
  public func contains(_ key: some StoreKey) throws(LarderError) -> Bool {
    try key.withKeyBytes { key throws(LarderError) in try hasFresh(key) }
  }

  @usableFromInline
  func hasFresh(_ key: Span<UInt8>) throws(LarderError) -> Bool {
    let transaction = try engine.reader.beginLookup(key, of: handle)
    return try engine.reader.lookUp(key, of: handle, in: transaction).outcome == .fresh
  }

  /// The entry under `key`, even an expired entry; nil if the key has no entry. Does not count as a read.
  public func entry(for key: some StoreKey) throws(LarderError) -> Store.Entry? {
    try key.withKeyBytes { key throws(LarderError) in
      let transaction = try engine.reader.beginLookup(key, of: handle)
      return try engine.reader.entry(key, of: handle, in: transaction)
    }
  }
}
