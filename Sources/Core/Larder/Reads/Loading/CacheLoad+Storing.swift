import LMDB
import LarderSystem

/// Writing the outcome of a load. A load whose value cannot be stored has not failed: its result carries the error.
extension CacheLoad {
  private var isForced: Bool { options.policy == .reload }

  func store(
    _ value: Value, _ attributes: EntryAttributes, _ base: BaseVersion
  ) -> LoadedValue<Value> {
    do {
      try cache.namespace.store.checkWritable()
      return queue(value, try cache.encode(value), attributes, base)
    } catch {
      return LoadedValue(result: CacheResult(value: value, source: .loaded, error: error))
    }
  }

  private func queue(
    _ value: Value, _ bytes: [UInt8], _ attributes: EntryAttributes, _ base: BaseVersion
  ) -> LoadedValue<Value> {
    let (key, isForced) = (key, isForced)
    let attributes = attributes.counted(from: cache.namespace.engine.clock.now)
    let write = enqueue(base, size: bytes.count) { [cache] batch -> Stored? in
      if let copy = attributes.copy {
        guard try batch.isSameNamespace(base, cache.name), try copy.mayStore(&batch) else {
          return nil
        }
      } else {
        guard try isForced || batch.mayReplace(base, key, in: cache.name) else { return nil }
      }
      try batch.declareOnce(cache.rules, for: cache.namespace)
      let (id, header) = try batch.put(
        bytes.span, for: key.span, in: cache.name, attributes: attributes)
      return Stored(id: id, header: header, snapshot: batch.snapshot)
    } completion: { [cache] stored in
      if let stored { cache.keep(value, for: key, size: bytes.count, stored) }
    }
    var end: Timestamp?
    if case .at(let time) = attributes.expires { end = time }
    return LoadedValue(
      result: CacheResult(
        uncommitted: value, attributes, at: cache.namespace.engine.clock.now),
      write: write, end: end)
  }

  /// Starts the lifetime of the stored value again. If the entry is gone by then, the value is stored again.
  func renew(_ known: CachedValue<Value>, _ base: BaseVersion) -> LoadedValue<Value> {
    var attributes = options.attributes(codec: cache.codecID)
    attributes.entityTag = known.entityTag
    attributes.lastModified = known.lastModified
    attributes.metadata = known.metadata
    attributes = attributes.counted(from: cache.namespace.engine.clock.now)
    let key = key
    do {
      try cache.namespace.store.checkWritable()
    } catch {
      return LoadedValue(result: CacheResult(value: known.value, source: .loaded, error: error))
    }
    let write = enqueue(base, size: 0) { [cache, isForced, attributes] batch in
      if try batch.renew(key, base, in: cache.name, attributes) { return }
      guard try isForced || batch.mayReplace(base, key, in: cache.name) else { return }
      try batch.declareOnce(cache.rules, for: cache.namespace)
      let bytes = try cache.encode(known.value)
      try batch.put(bytes.span, for: key.span, in: cache.name, attributes: attributes)
    }
    return LoadedValue(
      result: CacheResult(value: known.value, source: .loaded, isCommitted: false), write: write)
  }

  /// Stores that there is no value, if the options say for how long; otherwise removes the stored one, which is wrong.
  func storeAbsence(_ base: BaseVersion) throws(LarderError) -> LoadedValue<Value> {
    guard options.absent != nil || base.version != nil else { return LoadedValue() }
    try cache.namespace.store.checkWritable()
    var attributes = options.attributes(codec: .bytes)
    attributes.expires = options.absent
    attributes.stale = .zero
    attributes.isNegative = true
    attributes = attributes.counted(from: cache.namespace.engine.clock.now)
    let (key, isForced) = (key, isForced)
    let isStored = options.absent != nil
    let write = enqueue(base, size: 0) { [cache, attributes] batch in
      guard try isForced || batch.mayReplace(base, key, in: cache.name) else { return }
      if isStored {
        try batch.declareOnce(cache.rules, for: cache.namespace)
        let nothing: [UInt8] = []
        try batch.put(nothing.span, for: key.span, in: cache.name, attributes: attributes)
      } else {
        _ = try batch.remove(key.span, in: cache.name)
      }
    } completion: { [cache] _ in
      cache.forget(key.span)
    }
    return LoadedValue(write: write)
  }

  private func enqueue<Result: Sendable>(
    _ base: BaseVersion, size: Int,
    _ body: @escaping @Sendable (inout WriteBatch) throws -> Result,
    completion: @escaping @Sendable (Result) -> Void = { _ in }
  ) -> LoadWrite {
    let write = LoadWrite(base: base, size: size)
    cache.namespace.engine.enqueue(write, body, completion: completion)
    return write
  }
}

extension EntryAttributes {
  /// A lifetime of its own begins when the value was loaded, however long its commit takes.
  fileprivate func counted(from now: Timestamp) -> EntryAttributes {
    var attributes = self
    attributes.written = attributes.written ?? now
    if case .after(let lifetime) = expires { attributes.expires = .at(now.advanced(by: lifetime)) }
    return attributes
  }
}

extension WriteBatch {
  /// Starts the lifetime of that version of the entry again; false if another one or none is there.
  fileprivate mutating func renew(
    _ key: [UInt8], _ base: BaseVersion, in namespace: String, _ attributes: EntryAttributes
  ) throws(LarderError) -> Bool {
    guard try writer.living(key.span, in: namespace)?.header.version == base.version else {
      return false
    }
    return try reschedule(
      key.span, in: namespace, expires: attributes.expires, stale: attributes.stale)
  }

  /// Whether the outcome of a load may be stored: no other version was written since its lookup, and its namespace was not
  /// cleared. An entry that was removed since does not matter.
  mutating func mayReplace(
    _ base: BaseVersion, _ key: [UInt8], in namespace: String
  ) throws(LarderError) -> Bool {
    guard try isSameNamespace(base, namespace) else { return false }
    guard let present = try writer.living(key.span, in: namespace) else { return true }
    return present.header.version == base.version
  }

  /// Whether the namespace was not cleared since the lookup of a load.
  mutating func isSameNamespace(
    _ base: BaseVersion, _ namespace: String
  ) throws(LarderError) -> Bool {
    if base.id == .store { return true }
    return try writer.directory.find(namespace, &writer.context)?.id == base.id
  }
}
