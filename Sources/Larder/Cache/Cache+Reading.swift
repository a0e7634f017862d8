import LMDB
import LarderSystem

/// Reads. A value that the codec cannot decode is a miss; it is counted, and replaced by the next write.
extension Cache {
  /// The fresh value under `key`, or nil.
  ///
  /// A value that was read before and is still current comes from memory, without a lookup and without decoding. O(log n)
  /// otherwise.
  @inlinable
  public func value(for key: some StoreKey) throws(LarderError) -> Value? {
    try key.withKeyBytes { key throws(LarderError) in
      if let item = memory?.current(key) { return unbox(item) }
      return try read(key)
    }
  }

  /// The fresh value under `key`, or nil, as ``value(for:)``: `try cache["k"]`. Read-only: a write can fail and takes
  /// an expiration, so it is a method.
  @inlinable
  public subscript(key: some StoreKey) -> Value? {
    get throws(LarderError) { try value(for: key) }
  }

  /// The fresh value under `key`, or nil; throws ``LarderError/Code/undecodable`` if the codec cannot decode it.
  @inlinable
  public func strictValue(for key: some StoreKey) throws(LarderError) -> Value? {
    try key.withKeyBytes { key throws(LarderError) in
      if let item = memory?.current(key) { return unbox(item) }
      return try readStrictly(key)
    }
  }

  /// The fresh values under some keys, read in one snapshot; keys without a fresh value are absent. O(k log n).
  public func values<K: StoreKey & Hashable>(
    for keys: some Sequence<K>
  ) throws(LarderError) -> [K: Value] {
    try namespace.engine.typed {
      let transaction = try namespace.engine.beginRead()
      var values: [K: Value] = [:]
      for key in keys where values[key] == nil {
        values[key] = try key.withKeyBytes { bytes in
          try read(bytes, in: transaction) { decodeCounting($0) }
        }
      }
      return values
    }
  }

  /// Lends the stored bytes of the fresh value under `key` to `body`; see ``Store/Namespace/withValue(for:_:)``.
  public func withValue<Result>(
    for key: some StoreKey, _ body: (Span<UInt8>) throws -> Result
  ) throws -> Result? {
    try namespace.withValue(for: key, body)
  }

  @inlinable @inline(__always)
  func unbox(_ item: MemoryItem) -> Value {
    guard let box = item as? MemoryBox<Value> else {
      preconditionFailure("a memory holds values of one type")
    }
    return box.value
  }

  @usableFromInline
  func read(_ key: Span<UInt8>) throws(LarderError) -> Value? {
    do {
      return try read(key, in: namespace.engine.beginRead()) { decodeCounting($0) }
    } catch {
      throw namespace.engine.larderError(error)
    }
  }

  @usableFromInline
  func readStrictly(_ key: Span<UInt8>) throws(LarderError) -> Value? {
    do {
      return try read(key, in: namespace.engine.beginRead()) { try decodeStrictly($0) }
    } catch {
      throw namespace.engine.larderError(error)
    }
  }

  /// One lookup: it shows that the value in memory is still the entry's, or lends the bytes to decode.
  private func read(
    _ key: Span<UInt8>, in transaction: borrowing ReadTransaction,
    _ decode: (Span<UInt8>) throws -> Value?
  ) throws -> Value? {
    let engine = namespace.engine
    let item = memory?.item(key)
    let snapshot = transaction.id
    var found: (id: NamespaceID, header: EntryHeader)?
    var isInMemory = false
    var decoded: (value: Value?, size: Int)?
    func isKnown(_ id: NamespaceID, _ header: EntryHeader) -> Bool {
      found = (id, header)
      isInMemory = item?.isValue(of: header, id: id, at: engine.clock.coarseNow) ?? false
      return isInMemory
    }
    try engine.reader.lend(
      key, of: namespace.handle, in: transaction, recordsAccess: !namespace.store.isReadOnly,
      unless: isKnown
    ) { bytes in
      memory?.countMiss()
      decoded = (try decode(bytes), bytes.count)
    }
    guard let memory else {
      return found == nil ? try uncommitted(key, in: transaction) : decoded?.value
    }
    if isInMemory, let item, let found {
      memory.confirm(item, found.header, snapshot: snapshot)
      return unbox(item)
    }
    if decoded == nil { memory.countMiss() }
    if let found, let decoded, let value = decoded.value {
      engine.followMemoryLimit(in: transaction)
      keep(
        value, for: key, size: decoded.size, id: found.id, header: found.header, snapshot: snapshot)
      return value
    }
    if let item { memory.remove(item) }
    return found == nil ? try uncommitted(key, in: transaction) : nil
  }

  private func uncommitted(
    _ key: Span<UInt8>, in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> Value? {
    guard !namespace.engine.loadWrites.isEmpty else { return nil }
    let id = try namespace.engine.reader.identify(namespace.handle, in: transaction)
    return uncommittedValue(key, base: BaseVersion(id: id), snapshot: transaction.id)
  }
}
