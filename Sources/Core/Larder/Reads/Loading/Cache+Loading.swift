/// Reads that load a missing or stale value. `Docs/Use/Loading.md` has all rules.
///
/// Tasks of this process that ask for a key at the same time share one load and its outcome. If all these tasks are cancelled,
/// the load is cancelled, too. The error of a load is not stored. If a closure asks for a load of its own key, directly or
/// through the load of another key, the inner call throws ``LarderError/Code/loadCycle``.
///
/// A loaded value is returned before its commit. The commit follows in the background, before every later write of this process.
/// Until the commit, only reads of this process find the value, and only if their cache has the same value type and the store
/// has no fresh value. If a write or removal is committed during the load, the loaded value is returned but not stored. A caller
/// that asks after a removal never shares a load that began before the removal.
///
/// Every function throws the error of `load` if no stored value may replace the error. Every function throws
/// ``LarderError/Code/notStored`` under ``RequestPolicy/cacheOnly`` if no value is stored, and ``LarderError/Code/timedOut`` if
/// the load takes longer than ``LoadOptions/timeout``.
extension Cache {
  /// A fresh value, or a stale value within its window. If neither is stored, calls `load`, and stores and returns its result.
  ///
  ///     let board = try await boards.value(for: station, expires: .after(.minutes(2))) {
  ///       try await api.board(station)
  ///     }
  ///
  /// - Parameters:
  ///   - expires: how long a loaded value stays fresh; nil means the namespace's rule.
  ///   - stale: how long after its expiry a loaded value may be returned; nil means the namespace's rule.
  public func value(
    for key: some StoreKey, expires: Expiration? = nil, stale: Staleness? = nil,
    load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await result(for: key, options: LoadOptions(expires: expires, stale: stale), load: load)
      .value
  }

  /// The value under `key`, read or loaded according to the options.
  public func value(
    for key: some StoreKey, options: LoadOptions, load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value { try await result(for: key, options: options, load: load).value }

  /// The value under `key`, read or loaded according to the options, with its source and age.
  public func result(
    for key: some StoreKey, options: LoadOptions = LoadOptions(),
    load: @escaping @Sendable () async throws -> Value
  ) async throws -> CacheResult<Value> {
    let stored = try stored(key, options)
    if case .known(let result?) = stored { return result }
    let key = key.copied
    var options = options
    options.needsValue = true
    var lookup: CacheLookup<Value>? =
      if case .needsLoad(let lookup) = stored { lookup } else { try lookUp(key.span, for: .load) }
    // If a shared load finds no value, its callers share a second load. A third load is the caller's own.
    for isFirst in [true, false, false] {
      let result = try await result(after: lookup, key, options) { _ in .value(try await load()) }
      if let result { return result }
      lookup = try isFirst ? lookUp(key.span, for: .load) : nil
    }
    throw notStored(key)
  }

  /// The value under `key`, which is read or loaded; nil if the load finds no value.
  public func value(
    for key: some StoreKey, options: LoadOptions = LoadOptions(),
    load: @escaping @Sendable (CachedValue<Value>?) async throws -> Loaded<Value>
  ) async throws -> Value? { try await result(for: key, options: options, load: load)?.value }

  /// The value under `key`, which is read or loaded, with its source and age. If the load finds no value, the result is nil,
  /// and a negative entry records the absence for the time in ``LoadOptions/absent``.
  ///
  /// - Parameter load: gets the stored value, fresh or stale, and can ask the origin whether that value is current.
  public func result(
    for key: some StoreKey, options: LoadOptions = LoadOptions(),
    load: @escaping @Sendable (CachedValue<Value>?) async throws -> Loaded<Value>
  ) async throws -> CacheResult<Value>? {
    switch try stored(key, options) {
    case .known(let result): return result
    case .needsLoad(let lookup): return try await result(after: lookup, key.copied, options, load)
    }
  }

  /// The stored value, if the request needs no load. In this case nothing is allocated for a load.
  package func stored(_ key: some StoreKey, _ options: LoadOptions) throws -> StoredResult<Value> {
    if options.policy == .reload { return .needsLoad(after: nil) }
    return try key.withKeyBytes { key in
      if options.policy != .revalidate, options.refreshAhead == nil, let item = memory?.current(key)
      {
        return .known(
          CacheResult(
            value: unbox(item), source: .memory,
            age: max(.zero, item.writeTime.duration(to: namespace.engine.clock.now))))
      }
      let lookup = try lookUp(key, for: .request)
      if LoadDecision(lookup.found, options) == .use, lookup.found.entry?.state == .fresh {
        return .known(result(lookup))
      }
      return .needsLoad(after: lookup)
    }
  }

  /// The loaded value, or the stored value if the load fails or runs in the background. Nil if the key has no value.
  package func result(
    after lookup: CacheLookup<Value>?, _ key: [UInt8], _ options: LoadOptions,
    _ load: @escaping @Sendable (CachedValue<Value>?) async throws -> Loaded<Value>
  ) async throws -> CacheResult<Value>? {
    let loading = CacheLoad(cache: self, key: key, options: options, source: .key(load))
    return try await loading.result(of: loading.begin(after: lookup))
  }

  /// The stored value as a result; nil for a negative entry.
  func result(_ lookup: CacheLookup<Value>) -> CacheResult<Value>? {
    guard let entry = lookup.found.entry, let value = lookup.value else { return nil }
    if entry.state != .fresh { namespace.handle.count(.served) }
    let written = Timestamp(milliseconds: entry.header.written)
    return CacheResult(
      value: value,
      source: entry.state != .fresh ? .stale : lookup.found.isFromMemory ? .memory : .disk,
      age: max(.zero, written.duration(to: lookup.found.now)))
  }

  package func notStored(_ key: [UInt8]) -> LarderError {
    LarderError(
      .notStored, "namespace \(name) has nothing under \(Key(key))",
      hint: "use a policy other than cacheOnly to load it")
  }
}
