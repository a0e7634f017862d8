import LarderSystem

extension Cache {
  /// The value under `key`; if it is not fresh, what `load` makes of it, which is stored.
  ///
  ///     let board = try await boards.value(
  ///       for: station, expires: .after(.minutes(2)),
  ///       stale: .whileRevalidating(.minutes(10)).onError(.hours(24))
  ///     ) { try await api.board(station) }
  ///
  /// However many tasks of this process ask for a key at a time, it is loaded once, and all get the outcome. A task that is
  /// cancelled stops waiting; when all are, the load is. An error reaches all who wait and is not kept. See
  /// ``value(for:options:load:)``.
  public func value(
    for key: some StoreKey, expires: Expiration? = nil, stale: Staleness? = nil,
    load: @escaping @Sendable () async throws -> Value
  ) async throws -> CacheResult<Value> {
    try await value(for: key, options: LoadOptions(expires: expires, stale: stale), load: load)
  }

  /// The value under `key`, found or loaded as the options say.
  ///
  /// A write of the key that is committed while it is loaded stays: what was loaded is then returned and not stored.
  /// Failing to store it is no failure either; ``CacheResult/error`` tells.
  ///
  /// Throws what `load` threw if nothing may be served instead, ``LarderError/Code/notStored`` if nothing was to be
  /// loaded, ``LarderError/Code/timedOut`` if it took too long.
  public func value(
    for key: some StoreKey, options: LoadOptions, load: @escaping @Sendable () async throws -> Value
  ) async throws -> CacheResult<Value> {
    let key = Key(try key.copied)
    let asking: @Sendable (CachedValue<Value>?) async throws -> LoadOutcome<Value> = { _ in
      .value(try await load())
    }
    if let loaded = try await answer(for: key, options: options, asking) { return loaded }
    // Another caller found that there is nothing. This one says that there always is something.
    var options = options
    if options.policy != .cacheOnly {
      options.policy = .reload
      if let loaded = try await answer(for: key, options: options, asking) { return loaded }
    }
    throw notStored(key.bytes)
  }

  /// The value under `key`, found or loaded; nil if there is none, which is known for as long as ``LoadOptions/absent``
  /// says.
  public func valueIfPresent(
    for key: some StoreKey, options: LoadOptions,
    load: @escaping @Sendable () async throws -> Value?
  ) async throws -> CacheResult<Value>? {
    try await answer(for: key, options: options) { _ in
      try await load().map { .value($0) } ?? .absent
    }
  }

  /// The value under `key`, found or loaded by a load that is told what is stored already, so that it can ask its origin
  /// whether that is still right; nil if there is none.
  public func answer(
    for key: some StoreKey, options: LoadOptions,
    _ load: @escaping @Sendable (CachedValue<Value>?) async throws -> LoadOutcome<Value>
  ) async throws -> CacheResult<Value>? {
    let key = try key.copied
    let flight = LoadFlight(cache: self, key: key, options: options, load: load)
    if options.policy == .reload { return try await flight.join() }
    if options.policy != .revalidate, options.refreshAhead == nil, let hit = try inMemory(key) {
      return hit
    }
    let found = try find(key)
    let choice = LoadChoice(found, options)
    switch choice {
    case .use:
      return result(found)
    case .useAndRefresh:
      flight.refresh()
      return result(found)
    case .fail:
      throw notStored(key)
    case .load(let isFallback):
      do {
        return try await flight.join()
      } catch {
        try Task.checkCancellation()
        guard isFallback, var served = result(found) else { throw error }
        served.source = .stale
        served.error = error
        return served
      }
    }
  }

  /// What needs no lookup. The age it tells is that of the value.
  private func inMemory(_ key: [UInt8]) throws -> CacheResult<Value>? {
    guard let item = memory?.current(key.span) else { return nil }
    let written = Timestamp(milliseconds: item.writtenAt)
    return CacheResult(
      value: unbox(item), source: .memory,
      age: max(.zero, written.duration(to: namespace.engine.clock.now)))
  }

  /// What is stored, as an answer; nil if it says that there is nothing.
  func result(_ found: Found<Value>) -> CacheResult<Value>? {
    guard let entry = found.entry, let value = found.value else { return nil }
    if entry.state != .fresh { namespace.handle.countServed() }
    let written = Timestamp(milliseconds: entry.header.written)
    return CacheResult(
      value: value,
      source: entry.state != .fresh ? .stale : found.isFromMemory ? .memory : .disk,
      age: max(.zero, written.duration(to: found.now)))
  }

  private func notStored(_ key: [UInt8]) -> LarderError {
    LarderError(
      .notStored, "namespace \(name) has nothing under \(Key(key))",
      hint: "ask with another policy than cacheOnly to load it")
  }
}

/// What is done about a request, given what is stored.
enum LoadChoice: Equatable {
  case use
  case useAndRefresh
  /// - Parameter isFallback: whether what is stored will do if loading fails.
  case load(isFallback: Bool)
  case fail

  init<Value>(_ found: Found<Value>, _ options: LoadOptions) {
    guard let entry = found.entry else {
      self = options.policy == .cacheOnly ? .fail : .load(isFallback: false)
      return
    }
    let isFallback =
      entry.state == .fresh || entry.isWithin(options.stale?.onError, at: found.now)
    switch options.policy {
    case .cacheElseLoad, .cacheOnly:
      self = .use
    case .reload, .revalidate:
      self = .load(isFallback: isFallback)
    case .standard:
      let isEnough: Bool
      if entry.state == .fresh {
        if !entry.isNearItsEnd(options.refreshAhead, at: found.now) {
          self = .use
          return
        }
        isEnough = true
      } else {
        isEnough = entry.isWithin(options.stale?.whileRevalidating, at: found.now)
      }
      self =
        isEnough && !options.waitsForFresh ? .useAndRefresh : .load(isFallback: isFallback)
    }
  }
}

extension CachedEntry {
  fileprivate func isNearItsEnd(_ ahead: Duration?, at now: Timestamp) -> Bool {
    guard let ahead, header.expires != EntryHeader.never else { return false }
    return now.advanced(by: ahead).milliseconds >= header.expires
  }
}
