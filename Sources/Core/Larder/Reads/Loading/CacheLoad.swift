import LarderSystem

/// The name of a load among those of its store.
struct LoadName: Hashable, Sendable {
  var namespace: ExactString
  var key: [UInt8]
  /// Caches of different types load different values.
  var type: ObjectIdentifier
}

/// The outcome of a load.
struct LoadedValue<Value: Sendable>: Sendable {
  /// Nil if there is no value.
  var result: CacheResult<Value>?
  /// The write of the outcome; nil if nothing is to be written, or it could not be queued.
  var write: LoadWrite?
  /// When the value is no longer fresh, if it has an end of its own.
  var end: Timestamp?

  /// Whether a reader may be given the value at `now`, though its own lookup, made in `snapshot`, did not find it.
  func mayAnswer(than lookup: BaseVersion, snapshot: UInt64, now: Timestamp) -> Bool {
    // The commit can take longer than the value lives.
    if let end, now >= end { return false }
    return write?.mayAnswer(than: lookup, snapshot: snapshot) ?? false
  }

  /// The result for a caller; it says that the value is committed once that is so.
  var current: CacheResult<Value>? {
    var result = result
    if let write, write.isCommitted { result?.isCommitted = true }
    return result
  }
}

/// How one request loads its key: joins the load that runs, or starts one and writes its outcome.
struct CacheLoad<Value: Sendable>: Sendable {
  let cache: Cache<Value>
  let key: [UInt8]
  let options: LoadOptions
  let load: @Sendable (CachedValue<Value>?) async throws -> LoadOutcome<Value>

  private typealias InFlight = InFlightLoad<LoadedValue<Value>>

  private var engine: StoreEngine { cache.namespace.engine }
  var name: LoadName { cache.loadName(key) }

  /// Waits for the load of the key, and starts it unless it runs or has ended without being visible to `lookup` yet.
  ///
  /// - Parameter lookup: the caller's own; nil for one that wants a load of its own.
  func join(after lookup: CacheLookup<Value>?) async throws -> CacheResult<Value>? {
    do {
      let loaded = try await engine.loads.outcome(
        of: name,
        joins: { (running: InFlight) in lookup.map { $0.mayUse(running) } ?? false },
        start: { start($0, priority: nil, timeout: options.timeout) })
      if options.waitsForCommit { return try await committed(loaded) }
      return loaded.current
    } catch is LoadCycle {
      throw LarderError(
        .loadCycle,
        "the load of \(Key(key)) in namespace \(cache.name) would wait for itself",
        hint: "load another key inside the closure, or pass the value on")
    }
  }

  private func committed(_ loaded: LoadedValue<Value>) async throws -> CacheResult<Value>? {
    guard let write = loaded.write else { return loaded.result }
    do {
      try await write.value()
      return loaded.current
    } catch {
      guard var result = loaded.result else { throw error }
      result.error = error
      return result
    }
  }

  /// Starts the load in the background, unless it runs or has ended without being visible to `lookup` yet.
  func refresh(after lookup: CacheLookup<Value>) {
    engine.loads.startDetached(
      name, unless: { (running: InFlight) in lookup.mayUse(running) },
      start: { running in
        start(
          running, priority: .utility, timeout: options.refreshTimeout,
          onError: options.onBackgroundError)
      })
  }

  /// A task that fails the load at a time of the monotonic clock, unless it is cancelled before.
  private func fail(
    _ running: InFlight, at end: Duration, priority: TaskPriority?
  ) -> Task<Void, any Error> {
    Task(priority: priority) { [engine] in
      try await engine.clock.sleep(until: end)
      engine.loads.remove(running, name)
      running.fail(timedOut)
    }
  }

  private func start(
    _ running: InFlight, priority: TaskPriority?, timeout: Duration?,
    onError: (@Sendable (any Error) -> Void)? = nil
  ) {
    let (loads, name) = (engine.loads, name)
    let end = timeout.map { engine.clock.monotonic + $0.bounded }
    let isNested = LoadDependencies.running != nil
    running.start(priority: priority) {
      let timer = end.map { fail(running, at: $0, priority: priority) }
      let outcome: Result<LoadedValue<Value>, any Error>
      do {
        outcome = .success(
          try await LoadDependencies.$running.withValue(running) {
            try await run(waits: !isNested)
          })
      } catch {
        outcome = .failure(error)
        // A caller that comes after the error loads again, and does not get it too.
        loads.remove(running, name)
      }
      timer?.cancel()
      switch running.complete(outcome) {
      case .success(let loaded):
        // Until the commit a caller whose lookup finds nothing shares the outcome; afterwards it finds the entry.
        do {
          try await loaded.write?.value()
        } catch {
          options.onBackgroundError?(error)
        }
      case .failure(let error):
        onError?(error)
      }
      loads.remove(running, name)
    }
  }

  private var timedOut: LarderError {
    LarderError(
      .timedOut, "loading \(Key(key)) for namespace \(cache.name) took too long",
      hint: "allow more time, or windows in which a stale value is served")
  }

  private func run(waits: Bool) async throws -> LoadedValue<Value> {
    let turn = try await awaitTurn(waits: waits)
    if turn.isAnswered { return LoadedValue(result: cache.result(turn.lookup)) }
    let loaded: LoadedValue<Value>
    do {
      loaded = try await self.loaded(after: turn.lookup)
    } catch {
      turn.lease?.end()
      throw error
    }
    guard let write = loaded.write else {
      turn.lease?.end()
      return loaded
    }
    if let lease = turn.lease { write.endWhenComplete(lease) }
    if !write.isWithinBounds { await write.finish() }
    return loaded
  }

  private func loaded(after lookup: CacheLookup<Value>) async throws -> LoadedValue<Value> {
    let known = lookup.cachedValue
    let outcome = try await load(known)
    // A load that was cancelled or has timed out is not stored, even if its closure returned.
    try Task.checkCancellation()
    switch outcome {
    case .value(let value):
      return store(value, options.attributes(codec: cache.codecID), lookup.found.base)
    case .stored(let value, let attributes):
      return store(value, merged(attributes), lookup.found.base)
    case .unchanged:
      guard let known else {
        throw LarderError(
          .failed,
          "the load of \(Key(key)) says that the value is unchanged, but none was stored",
          hint: "return a value where the load is told of none")
      }
      return renew(known, lookup.found.base)
    case .absent:
      return try storeAbsence(lookup.found.base)
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
  /// The stored value for the load's closure.
  fileprivate var cachedValue: CachedValue<Value>? {
    guard let entry = found.entry, let value else { return nil }
    return CachedValue(
      value: value, written: Timestamp(milliseconds: entry.header.written),
      entityTag: entry.fields?[.entityTag], lastModified: entry.fields?[.lastModified],
      metadata: entry.fields?[.metadata])
  }

  /// Whether a caller with this lookup may share a load: one that runs, or one whose value is not committed in the
  /// lookup's snapshot.
  func mayUse(_ load: InFlightLoad<LoadedValue<Value>>) -> Bool {
    guard let loaded = load.value else { return true }
    return loaded.mayAnswer(than: found.base, snapshot: found.snapshot, now: found.now)
  }
}
