/// The name of a load among those of its store.
struct LoadName: Hashable, Sendable {
  var namespace: String
  var key: [UInt8]
  /// Caches of different types load different values.
  var type: ObjectIdentifier
}

/// How one request loads its key: joins the load that runs, or starts one and stores its outcome.
struct CacheLoad<Value: Sendable>: Sendable {
  let cache: Cache<Value>
  let key: [UInt8]
  let options: LoadOptions
  let load: @Sendable (CachedValue<Value>?) async throws -> LoadOutcome<Value>

  private typealias Outcome = CacheResult<Value>?

  private var engine: StoreEngine { cache.namespace.engine }
  private var name: LoadName {
    LoadName(namespace: cache.name, key: key, type: ObjectIdentifier(Value.self))
  }

  /// Waits for the load of the key, and starts it unless it runs.
  func join() async throws -> CacheResult<Value>? {
    do {
      return try await engine.loads.outcome(of: name, joins: options.policy != .reload) {
        (load: InFlightLoad<Outcome>) in
        start(load, priority: nil, timeout: options.timeout)
      }
    } catch is LoadCycle {
      throw LarderError(
        .loadCycle,
        "the load of \(Key(key)) in namespace \(cache.name) would wait for itself",
        hint: "load another key inside the closure, or pass the value on")
    }
  }

  /// Starts the load in the background unless it runs.
  func refresh() {
    engine.loads.startDetached(name) { (load: InFlightLoad<Outcome>) in
      start(
        load, priority: .utility, timeout: options.refreshTimeout,
        onError: options.onBackgroundError)
    }
  }

  private func start(
    _ running: InFlightLoad<Outcome>, priority: TaskPriority?, timeout: Duration?,
    onError: (@Sendable (any Error) -> Void)? = nil
  ) {
    let (loads, name) = (engine.loads, name)
    let end = timeout.map { engine.clock.monotonic + $0 }
    running.start(priority: priority) { [engine] in
      let timer = end.map { end in
        Task(priority: priority) {
          try await engine.clock.sleep(until: end)
          loads.remove(running, name)
          running.fail(timedOut)
        }
      }
      let outcome: Result<Outcome, any Error>
      do {
        outcome = .success(
          try await LoadDependencies.$running.withValue(running) { try await run() })
      } catch {
        outcome = .failure(error)
      }
      timer?.cancel()
      // A caller that comes later finds what was stored.
      loads.remove(running, name)
      if case .failure(let error) = running.complete(outcome) { onError?(error) }
    }
  }

  private var timedOut: LarderError {
    LarderError(
      .timedOut, "loading \(Key(key)) for namespace \(cache.name) took too long",
      hint: "allow more time, or windows in which a stale value is served")
  }

  private func run() async throws -> CacheResult<Value>? {
    var lookup = try cache.lookUp(key, counts: false)
    switch options.policy {
    case .reload:
      lookup.value = nil
    case .revalidate:
      break
    case .standard, .cacheElseLoad, .cacheOnly:
      // Another load of the key may have ended just before this one started.
      if LoadDecision(lookup, options) == .use { return cache.result(lookup) }
    }
    let known = lookup.cachedValue
    switch try await load(known) {
    case .value(let value):
      return await store(value, options.attributes(codec: cache.codecID), lookup.base)
    case .stored(let value, let attributes):
      return await store(value, merged(attributes), lookup.base)
    case .unchanged:
      guard let known else {
        throw LarderError(
          .failed,
          "the load of \(Key(key)) says that the value is unchanged, but none was stored",
          hint: "return a value where the load is told of none")
      }
      return await renew(known, lookup.base)
    case .absent:
      try await storeAbsence(lookup.base)
      return nil
    }
  }

  /// The attributes a load gave, completed by the options.
  private func merged(_ attributes: EntryAttributes) -> EntryAttributes {
    var merged = attributes
    let usual = options.attributes(codec: cache.codecID)
    merged.codec = usual.codec
    merged.expires = merged.expires ?? usual.expires
    merged.stale = merged.stale ?? usual.stale
    if merged.tags.isEmpty { merged.tags = usual.tags }
    if merged.owners.isEmpty { merged.owners = usual.owners }
    return merged
  }
}

extension CacheLookup {
  /// What a load is told.
  fileprivate var cachedValue: CachedValue<Value>? {
    guard let entry, let value else { return nil }
    return CachedValue(
      value: value, written: Timestamp(milliseconds: entry.header.written),
      entityTag: entry.fields[.entityTag], lastModified: entry.fields[.lastModified],
      metadata: entry.fields[.metadata])
  }
}
