import LMDB

/// Storing the outcome of a load. A load whose value cannot be stored has not failed: its result carries the error.
extension CacheLoad {
  private var isForced: Bool { options.policy == .reload }

  func store(
    _ value: Value, _ attributes: EntryAttributes, _ base: BaseVersion
  ) async -> CacheResult<Value> {
    var result = CacheResult(value: value, source: .loaded)
    do {
      let bytes = try cache.encode(value)
      try cache.declareRules()
      let (name, key, isForced) = (cache.name, key, isForced)
      let stored = try await cache.namespace.engine.submit(
        SharedWrite(size: bytes.count) { batch -> Stored? in
          guard try isForced || batch.mayReplace(base, key, in: name) else { return nil }
          let (id, header) = try batch.put(
            bytes.span, for: key.span, in: name, attributes: attributes)
          return Stored(id: id, header: header, snapshot: batch.transaction.id - 1)
        })
      if let stored { try cache.keep(value, for: Key(key), size: bytes.count, stored) }
    } catch {
      result.error = error
    }
    return result
  }

  /// Starts the lifetime of the stored value again. If the entry is gone by then, the value is stored again.
  func renew(_ known: CachedValue<Value>, _ base: BaseVersion) async -> CacheResult<Value> {
    var attributes = options.attributes(codec: cache.codecID)
    attributes.entityTag = known.entityTag
    attributes.lastModified = known.lastModified
    attributes.metadata = known.metadata
    do {
      let (name, key) = (cache.name, key)
      let (expires, stale) = (attributes.expires, attributes.stale)
      let isRenewed = try await cache.namespace.engine.submit(
        SharedWrite { batch in
          guard try batch.living(key.span, in: name)?.header.version == base.version else {
            return false
          }
          return try batch.reschedule(key.span, in: name, expires: expires, stale: stale)
        })
      if isRenewed { return CacheResult(value: known.value, source: .loaded) }
    } catch {
      return CacheResult(value: known.value, source: .loaded, error: error)
    }
    return await store(known.value, attributes, base)
  }

  /// Stores that there is no value, if the options say for how long; otherwise removes the stored one, which is wrong.
  func storeAbsence(_ base: BaseVersion) async throws {
    guard options.absent != nil || base.version != nil else { return }
    try cache.declareRules()
    var attributes = options.attributes(codec: .bytes)
    attributes.expires = options.absent
    attributes.stale = .zero
    attributes.isNegative = true
    let (name, key, isForced) = (cache.name, key, isForced)
    let isStored = options.absent != nil
    _ = try await cache.namespace.engine.submit(
      SharedWrite { [attributes] batch in
        guard try isForced || batch.mayReplace(base, key, in: name) else { return }
        if isStored {
          let nothing: [UInt8] = []
          try batch.put(nothing.span, for: key.span, in: name, attributes: attributes)
        } else {
          _ = try batch.remove(key.span, in: name)
        }
      })
    try cache.forget(Key(key))
  }
}

extension WriteBatch {
  /// Whether the outcome of a load may be stored: no other version was written since its lookup, and its namespace was not
  /// cleared. An entry that was removed since does not matter.
  mutating func mayReplace(
    _ base: BaseVersion, _ key: [UInt8], in namespace: String
  ) throws(LarderError) -> Bool {
    if base.id != .store, try record(named: namespace)?.id != base.id { return false }
    guard let present = try living(key.span, in: namespace) else { return true }
    return present.header.version == base.version
  }
}
