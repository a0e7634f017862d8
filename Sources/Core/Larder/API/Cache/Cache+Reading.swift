import LMDB

/// Reads. A value that the codec cannot decode counts as undecodable: `strictValue` throws, and the other reads give nil.
extension Cache {
  /// The fresh value under `key`, or nil.
  ///
  /// O(log n). If the memory tier has the value, the read decodes nothing, and is O(1) until the next write of any process.
  @inlinable
  public func value(for key: some StoreKey) throws(LarderError) -> Value? {
    try key.withKeyBytes { key throws(LarderError) in
      if let item = memory?.current(key) { return unbox(item) }
      return try read(key)
    }
  }

  /// The fresh value under `key`, or nil. Throws ``LarderError/Code/undecodable`` if the codec cannot decode the value.
  @inlinable
  public func strictValue(for key: some StoreKey) throws(LarderError) -> Value? {
    try key.withKeyBytes { key throws(LarderError) in
      if let item = memory?.current(key) { return unbox(item) }
      return try read(key, isStrict: true)
    }
  }

  /// The fresh values under k keys, in the order of `keys`, from one snapshot; nil for a key without a fresh value. O(k log n).
  public func values(for keys: some Sequence<some StoreKey>) throws(LarderError) -> [Value?] {
    let (keys, writes) = (Array(keys), namespace.engine.loads.writes)
    return try namespace.engine.typed {
      var values: [Value?] = []
      // A loaded value may be committed after the first snapshot began; see `read(_:isStrict:)`.
      for _ in 0..<2 {
        let transaction = try namespace.engine.beginRead()
        values = try keys.map { key in
          try key.withKeyBytes { bytes in try read(bytes, in: transaction) { decodeCounting($0) } }
        }
        if values.allSatisfy({ $0 != nil }) || !writes.hasCommitted(after: transaction.id) { break }
      }
      return values
    }
  }

  /// Passes the stored bytes of the fresh value under `key` to `body`; see ``Store/Namespace/withValue(for:_:)``.
  public func withValue<Result>(
    for key: some StoreKey, _ body: (Span<UInt8>) throws -> Result
  ) throws -> Result? { try namespace.withValue(for: key, body) }

  @inlinable @inline(__always)
  func unbox(_ item: MemoryItem) -> Value {
    guard let box = item as? MemoryBox<Value> else {
      preconditionFailure("a memory holds values of one type")
    }
    return box.value
  }

  @usableFromInline
  func read(_ key: Span<UInt8>, isStrict: Bool = false) throws(LarderError) -> Value? {
    // If a loaded value that waited when the first snapshot began is now committed, only a second snapshot has the value.
    for _ in 0..<2 {
      do {
        let transaction = try namespace.engine.reader.beginLookup(key, of: namespace.handle)
        let value = try read(key, in: transaction) {
          try isStrict ? decodeStrictly($0) : decodeCounting($0)
        }
        if value != nil { return value }
        if !namespace.engine.loads.writes.hasCommitted(after: transaction.id) { break }
      } catch { throw namespace.engine.larderError(error) }
    }
    return nil
  }

  /// Reads a stored value, or a loaded value that is not committed yet.
  @inline(__always)
  private func read(
    _ key: Span<UInt8>, in transaction: borrowing ReadTransaction,
    _ decode: (Span<UInt8>) throws -> Value?
  ) throws -> Value? {
    var value: Value?
    let lookup = try lookUp(key, &value, in: transaction, for: .value, decode)
    if value != nil || namespace.engine.loads.writes.isEmpty { return value }
    return uncommittedValue(key, base: lookup.base, snapshot: lookup.snapshot)
  }
}
