import LMDB
import LarderSystem

/// A consistent view of the store: all reads of a snapshot find the same state, even while other writes happen.
///
/// The compiler lets only the closure of ``Store/read(_:)`` use the snapshot. Keep the closure short, because the store cannot
/// reuse freed pages until the closure returns. Of a namespace only the name counts: all reads find the entries of one store.
public struct Snapshot: ~Copyable {
  let transaction: ReadTransaction
  let store: Store
  private var engine: StoreEngine { store.engine }

  /// The handle in the store of the snapshot. A handle of another store must not remember the namespace ids of this store.
  private func handle(of namespace: Store.Namespace) -> NamespaceHandle {
    namespace.engine === engine ? namespace.handle : engine.handle(for: namespace.name)
  }

  /// Passes the bytes of the fresh value under `key` to `body`. Returns nil if no fresh value is stored.
  ///
  /// Counts as a read and as an access. The bytes are valid only in `body`. O(log n). Throws ``LarderError`` or `body`'s error.
  public func withValue<Result>(
    for key: some StoreKey, in namespace: Store.Namespace, _ body: (Span<UInt8>) throws -> Result
  ) throws -> Result? {
    var result: Result?
    let handle = handle(of: namespace)
    try key.withKeyBytes { key in
      let id = try engine.reader.identify(handle, in: transaction)
      try engine.reader.lend(
        key, of: handle, id: id, in: transaction, recordsAccess: !store.isReadOnly
      ) { bytes in result = try body(bytes) }
    }
    return result
  }

  /// A copy of the fresh value under `key`, or nil. Counts as a read and as an access.
  public func value(
    for key: some StoreKey, in namespace: Store.Namespace
  ) throws(LarderError) -> [UInt8]? {
    try engine.typed { try withValue(for: key, in: namespace) { bytes in bytes.copied } }
  }

  /// The decoded fresh value under `key`, or nil. If the codec cannot decode the value, counts a miss and returns nil.
  ///
  /// Counts as a read and as an access. Does not use the memory tier, which may have a newer value than the snapshot.
  public func value<Value>(
    for key: some StoreKey, in cache: Cache<Value>
  ) throws(LarderError) -> Value? {
    try engine.typed {
      try withValue(for: key, in: cache.namespace) { bytes in cache.decodeCounting(bytes) } ?? nil
    }
  }

  /// The entry under `key` without its value, even an expired entry; nil if absent. Counts neither as a read nor as an access.
  public func entry(
    for key: some StoreKey, in namespace: Store.Namespace
  ) throws(LarderError) -> Store.Entry? {
    try key.withKeyBytes { key throws(LarderError) in
      try engine.reader.entry(key, of: handle(of: namespace), in: transaction)
    }
  }

  /// Whether a fresh value is under `key`. Counts neither as a read nor as an access.
  public func contains(_ key: some StoreKey, in namespace: Store.Namespace) throws(LarderError)
    -> Bool
  {
    try key.withKeyBytes { key throws(LarderError) in
      try engine.reader.lookUp(key, of: handle(of: namespace), in: transaction).outcome == .fresh
    }
  }
}

extension Store {
  /// Calls `body` with a snapshot for several consistent reads. First commits the write buffer, so the call may wait for at
  /// most ``Options/lockTimeout``. Throws the error of `body`. Throws ``LarderError/Code/busy``, ``LarderError/Code/full`` or
  /// ``LarderError/Code/damaged`` if the commit fails, and ``LarderError/Code/busy`` if too many reads run.
  public func read<Result>(_ body: (borrowing Snapshot) throws -> Result) throws -> Result {
    try body(Snapshot(transaction: engine.beginRead(), store: self))
  }
}

extension Store.Namespace {
  /// Passes the entry under `key`, even an expired entry, and its value to `body`. Nil if the entry is absent or damaged.
  ///
  /// Counts neither as a read nor as an access. The value of a negative entry is empty. The bytes are valid only in `body`.
  /// Keep `body` short, because the store cannot reuse freed pages until `body` returns. O(log n); with owners, O(namespaces).
  /// Throws the error of `body`, or ``LarderError`` if LMDB fails.
  public func withEntry<Result>(
    for key: some StoreKey, _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    try withEntry(for: key, damaged: {}, body)
  }

  /// Like ``withEntry(for:_:)``, but only for an entry that passes `isWanted`. If `readsValue` is false, reads no value, and
  /// `body` gets no bytes. Calls `damaged` if the entry or its value is damaged.
  package func withEntry<Result>(
    for key: some StoreKey, readsValue: Bool = true, damaged: () -> Void,
    where isWanted: (Store.Entry) throws -> Bool = { _ in true },
    _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    try key.withKeyBytes { key -> Result? in
      let reader = engine.reader
      let transaction = try reader.beginLookup(key, of: handle)
      let found = try reader.lookUp(key, of: handle, in: transaction)
      if let entry = try reader.entry(found, key: key, of: handle, in: transaction) {
        guard try isWanted(entry) else { return nil }
        guard readsValue else { return try body(entry, Span()) }
        let result = try reader.withValue(of: found, key: key, in: transaction) { value in
          try body(entry, value)
        }
        if let result { return result }
      }
      if found.outcome != .absent { damaged() }
      return nil
    }
  }
}
