import LMDB

extension Cache {
  /// The fresh value under `key`, or nil. A value that the codec cannot read is a miss that is counted, and gives way to
  /// the next write.
  ///
  /// One that was read before and is still current comes from memory, without a lookup and without being decoded.
  @inlinable
  public func value(for key: some StoreKey) throws -> Value? {
    var value: Value?
    try key.withKeyBytes { key in
      if let item = memory?.current(key) {
        value = unbox(item)
      } else {
        value = try read(key)
      }
    }
    return value
  }

  /// The fresh value under `key`, or nil; throws ``LarderError/Code/undecodable`` if the codec cannot read it.
  @inlinable
  public func strictValue(for key: some StoreKey) throws -> Value? {
    var value: Value?
    try key.withKeyBytes { key in
      if let item = memory?.current(key) {
        value = unbox(item)
      } else {
        value = try readStrictly(key)
      }
    }
    return value
  }

  @inlinable @inline(__always)
  func unbox(_ item: MemoryItem) -> Value {
    guard let box = item.box as? MemoryBox<Value> else {
      preconditionFailure("a value of another type")
    }
    return box.value
  }

  @usableFromInline
  func read(_ key: Span<UInt8>) throws -> Value? {
    try read(key) { bytes in decodeCounting(bytes) }
  }

  @usableFromInline
  func readStrictly(_ key: Span<UInt8>) throws -> Value? {
    try read(key) { bytes in try decodeStrictly(bytes) }
  }

  /// The plain way: one lookup, which finds that the value in memory is still the entry's, or else what to keep there.
  private func read(_ key: Span<UInt8>, _ decode: (Span<UInt8>) throws -> Value?) throws -> Value? {
    let engine = namespace.engine
    let kept = memory?.item(key)
    let transaction = try engine.beginRead()
    let snapshot = transaction.id
    var found: (id: NamespaceID, header: EntryHeader)?
    var isKept = false
    var decoded: (value: Value?, size: Int)?
    func isKnown(_ id: NamespaceID, _ header: EntryHeader) -> Bool {
      found = (id, header)
      isKept = kept?.isValue(of: header, id: id, at: engine.coarseNow) ?? false
      return isKept
    }
    try engine.lend(
      key, of: namespace.handle, in: transaction, recordsAccess: !namespace.store.isReadOnly,
      unless: isKnown
    ) { bytes in
      memory?.countMiss()
      decoded = (try decode(bytes), bytes.count)
    }
    guard let memory else { return decoded?.value }
    if isKept, let kept, let found {
      memory.confirm(kept, found.header, snapshot: snapshot)
      return unbox(kept)
    }
    if decoded == nil { memory.countMiss() }
    if let found, let decoded, let value = decoded.value {
      engine.followMemoryLimit(in: transaction)
      keep(
        value, for: key, size: decoded.size, id: found.id, header: found.header, snapshot: snapshot)
      return value
    }
    // Whatever is there by now is not what is in the store, or its end has come.
    if let kept { memory.remove(kept) }
    return nil
  }
}
