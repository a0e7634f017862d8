import LMDB

/// Storing what was loaded. A load that cannot be stored has not failed: its outcome says why.
extension LoadFlight {
  private var isForced: Bool { options.policy == .reload }

  func keep(
    _ value: Value, _ attributes: EntryAttributes, _ found: Found<Value>
  ) async -> CacheResult<Value> {
    var loaded = CacheResult(value: value, source: .loaded, age: .zero)
    do {
      let bytes = try cache.encode(value)
      try cache.declareRules()
      let (name, key, seen, isForced) = (cache.name, key, found.seen, isForced)
      let stored = try await cache.namespace.engine.submit(
        SharedWrite(size: bytes.count) { batch -> Stored? in
          guard try isForced || batch.mayReplace(seen, key, in: name) else { return nil }
          let (id, header) = try batch.put(
            bytes.span, for: key.span, in: name, attributes: attributes)
          return Stored(id: id, header: header, snapshot: batch.transaction.id - 1)
        })
      if let stored { try cache.keep(value, for: Key(key), size: bytes.count, stored) }
    } catch {
      loaded.error = error
    }
    return loaded
  }

  /// Lets the lifetime of what is stored begin anew; what has left meanwhile is stored again.
  func renew(_ known: CachedValue<Value>, _ found: Found<Value>) async -> CacheResult<Value> {
    var attributes = options.attributes(codec: cache.codecID)
    attributes.entityTag = known.entityTag
    attributes.lastModified = known.lastModified
    attributes.metadata = known.metadata
    do {
      let (name, key, seen) = (cache.name, key, found.seen)
      let (expires, stale) = (attributes.expires, attributes.stale)
      let isRenewed = try await cache.namespace.engine.submit(
        SharedWrite { batch in
          guard try batch.living(key.span, in: name)?.header.version == seen.version else {
            return false
          }
          return try batch.reschedule(key.span, in: name, expires: expires, stale: stale)
        })
      if isRenewed { return CacheResult(value: known.value, source: .loaded, age: .zero) }
    } catch {
      return CacheResult(value: known.value, source: .loaded, age: .zero, error: error)
    }
    return await keep(known.value, attributes, found)
  }

  /// Notes that there is nothing, or at least removes what is known to be wrong now.
  func keepAbsence(_ found: Found<Value>) async throws {
    guard options.absent != nil || found.seen.version != nil else { return }
    try cache.declareRules()
    var attributes = options.attributes(codec: .bytes)
    attributes.expires = options.absent
    attributes.stale = .zero
    attributes.isNegative = true
    let (name, key, seen, isForced) = (cache.name, key, found.seen, isForced)
    let isKept = options.absent != nil
    _ = try await cache.namespace.engine.submit(
      SharedWrite { [attributes] batch in
        guard try isForced || batch.mayReplace(seen, key, in: name) else { return }
        if isKept {
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
  /// Whether what a load has seen under the key is still all there is. What has left meanwhile is no hindrance, unless
  /// its namespace was cleared.
  mutating func mayReplace(
    _ seen: Seen, _ key: [UInt8], in namespace: String
  ) throws(LarderError) -> Bool {
    if seen.id != .store, try record(named: namespace)?.id != seen.id { return false }
    guard let present = try living(key.span, in: namespace) else { return true }
    return present.header.version == seen.version
  }
}
