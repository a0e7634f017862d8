import Synchronization

/// Writes the outcome of a load. If the value cannot be stored, the load still succeeds, and its result has the error.
extension CacheLoad {
  /// - Parameter isRenewal: whether `value` is the stored value, whose lifetime starts again. In a renewal, the value is
  ///   encoded and stored only if the entry was evicted during the load.
  func store(
    _ value: Value, _ attributes: EntryAttributes, _ turn: Turn, isRenewal: Bool = false
  ) -> LoadedValue<Value> {
    do {
      try cache.namespace.store.checkWritable()
      let encoded: [UInt8]? = try isRenewal ? nil : cache.encode(value)
      let now = engine.clock.now
      let attributes = attributes.counted(from: now)
      let result = CacheResult(uncommitted: value, attributes, at: now)
      let found = turn.lookup.found
      return try writing(result, turn, attributes, size: encoded?.count ?? found.size ?? 0) {
        [cache, key] batch in
        var attributes = attributes
        if isRenewal, try batch.session.namespace(cache.name)?.rules.expires == .never {
          attributes.expires = attributes.expires ?? found.entry?.renewed(at: now)
        }
        if isRenewal,
          try batch.session.living(key.span, in: cache.name)?.header.version == found.base.version,
          try batch.reschedule(
            key.span, in: cache.name, expires: attributes.expires, stale: attributes.stale,
            confirmed: attributes.written)
        {
          return {}
        }
        // The owners of an evicted entry are not known by name, and one of them may have been removed during the load.
        if isRenewal, found.entry?.fields?.owners.isEmpty == false { return nil }
        let bytes = try encoded ?? cache.encode(value)
        let stored = try batch.set(encoded: bytes, for: key, in: cache, attributes)
        return { cache.keep(value, for: key.span, size: bytes.count, stored, isWritten: true) }
      }
    } catch { return LoadedValue(result: CacheResult(value: value, source: .loaded, error: error)) }
  }

  func renew(_ known: CachedValue<Value>, _ turn: Turn) -> LoadedValue<Value> {
    var attributes = merged(EntryAttributes())
    attributes.entityTag = known.validators.entityTag
    attributes.lastModified = known.validators.lastModified
    attributes.metadata = known.metadata
    let tags = turn.lookup.found.entry?.fields?.tags ?? []
    if !tags.isEmpty { attributes.tags = tags.map { String(decoding: $0, as: UTF8.self) } }
    return store(known.value, attributes, turn, isRenewal: true)
  }

  /// Stores a negative entry if the load or the options give its lifetime. Otherwise removes the outdated stored value.
  func storeAbsence(
    _ given: EntryAttributes, _ turn: Turn
  ) throws(LarderError) -> LoadedValue<Value> {
    let expires = given.expires ?? options.absent
    let (isKnown, isReload) = (turn.lookup.found.base.version != nil, options.policy == .reload)
    // A value of the shared tier has a condition, which the write must check even if there is nothing to store.
    guard !cache.namespace.store.isReadOnly,
      expires != nil || isKnown || isReload || given.copy != nil
    else { return LoadedValue() }
    var attributes = merged(given)
    attributes.codec = .bytes
    attributes.expires = expires
    attributes.stale = .zero
    attributes.isNegative = true
    attributes = attributes.counted(from: engine.clock.now)
    return try writing(nil, turn, attributes, size: 0) { [cache, key, attributes] batch in
      if expires != nil {
        try batch.declareOnce(cache.rules, for: cache.namespace)
        try batch.put(Span(), for: key.span, in: cache.name, attributes: attributes)
      } else if try isKnown || isReload && batch.session.living(key.span, in: cache.name) != nil {
        // The removal of a missing key would prevent other loads from storing their values.
        _ = try batch.remove(key.span, in: cache.name)
      }
      return { cache.forget(key.span) }
    }
  }

  /// The write of an outcome. When the write runs, it first checks whether the outcome may still be stored.
  private func writing(
    _ result: CacheResult<Value>?, _ turn: Turn, _ attributes: EntryAttributes, size: Int,
    _ body: @escaping LoadWrite.Body
  ) throws(LarderError) -> LoadedValue<Value> {
    let links = try removalHashes(of: attributes, replacing: turn.lookup.found.entry)
    let (base, isForced) = (turn.lookup.found.base, options.policy == .reload)
    // A negative entry, or a value that expired before this load, may be committed during this load.
    let began = turn.lookup.found.now.milliseconds
    var lifetime = attributes.expires
    if lifetime == nil, result != nil {
      if cache.hasDeclaredRules, let known = cache.namespace.handle.known.withLock({ $0 }) {
        lifetime = known.namespace.rules.expires
      } else {
        lifetime = try cache.rulesOfNextWrite().expires
      }
    }
    // Until its commit the value answers readers, but only before its end.
    var end: Timestamp?
    if let expires = lifetime, expires.timeToIdle == nil, let loaded = attributes.loaded,
      let time = try? expires.deadline(from: loaded)
    {
      end = Timestamp(milliseconds: time)
    }
    let write = LoadWrite(base: base, size: size, end: end, links: links, engine: engine) {
      [cache, key, moment = turn.moment] batch in
      let isNewest = try batch.isNewest(moment, key, in: cache.name, attributes)
      // A clear gives the namespace another id.
      let isSame =
        try isForced || base.id == .store || batch.session.namespace(cache.name)?.id == base.id
      if let copy = attributes.copy {
        // Without a known moment, a second load could not store its value either. A throw after a change would undo the commit.
        if !isNewest || !isSame, moment.isKnown, let error = copy.overtaken { throw error }
        guard try copy.mayStore(&batch) else { return nil }
      } else if !isForced {
        // An evicted entry counts as unchanged, so the outcome may be stored.
        guard
          try batch.session.living(key.span, in: cache.name).map({
            $0.header.version == base.version
              || $0.header.written <= began
                && ($0.header.flags.contains(.negative) || $0.header.expires <= began)
          }) ?? true
        else { return nil }
      }
      guard isNewest, isSame else { return nil }
      return try body(&batch)
    }
    return LoadedValue(result: result, write: write)
  }

  private func removalHashes(
    of attributes: EntryAttributes, replacing entry: CachedEntry?
  ) throws(LarderError) -> [UInt64] {
    let reader = engine.reader
    let tags = attributes.tags.map { Array($0.utf8) } + (entry?.fields?.tags ?? [])
    var hashes = RemovalTable.hashes(ofTags: tags, in: cache.name)
    for owner in attributes.owners {
      let id = try reader.identify(engine.handle(for: owner.namespace), in: reader.beginRead())
      hashes += RemovalTable.hashes(of: owner, in: id == .store ? nil : id)
    }
    return hashes
  }
}
