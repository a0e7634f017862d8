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
  /// The hashes of the tags and owners of the value: their removal takes it along.
  var links: [UInt64] = []

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

  typealias InFlight = InFlightLoad<LoadedValue<Value>>

  var engine: StoreEngine { cache.namespace.engine }
  var name: LoadName { cache.loadName(key) }

  /// Waits for the load of the key, and starts it unless one may be shared.
  ///
  /// - Parameters:
  ///   - lookup: the caller's own; nil for one that wants a load of its own.
  ///   - softTimeout: how long the caller waits at most before it has the stored value instead; nil without one. The load goes on.
  func join(
    after lookup: CacheLookup<Value>?, softTimeout: Duration? = nil
  ) async throws -> CacheResult<Value>? {
    do {
      let isSoft = softTimeout.map { $0 < options.timeout ?? .seconds(Int64.max) } ?? false
      let loaded = try await engine.clock.run(
        within: isSoft ? softTimeout : options.timeout,
        {
          try await outcome(after: lookup)
        },
        else: {
          if isSoft { keep() }
          throw timedOut
        })
      if options.waitsForCommit { return try await committed(loaded) }
      return loaded.current
    } catch is LoadCycle {
      throw LarderError(
        .loadCycle,
        "the load of \(Key(key)) in namespace \(cache.name) would wait for itself",
        hint: "load another key inside the closure, or pass the value on")
    }
  }

  /// Joins a load or starts one. A load gives tags and owners at its end, so only then does a caller that has joined it see
  /// whether they were removed since the load began.
  private func outcome(after lookup: CacheLookup<Value>?) async throws -> LoadedValue<Value> {
    while true {
      var joined: InFlight?
      let loaded = try await engine.loads.outcome(
        of: name,
        joins: { load in
          guard let lookup, mayShare(load, after: lookup) else { return false }
          joined = load
          return true
        },
        start: {
          joined = nil
          start($0, priority: nil)
        })
      guard let joined, let began = joined.began,
        !engine.removalTable.isNewest(began, of: loaded.links)
      else { return loaded }
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

  /// Whether a caller with this lookup may share a load: one that runs, or one whose value is not committed in the
  /// lookup's snapshot; but none from before a removal.
  private func mayShare(_ load: InFlight, after lookup: CacheLookup<Value>) -> Bool {
    guard
      cache.isNewest(
        load, key.span, in: lookup.found.base.id, links: RemovalTable.hashes(ofTags: options.tags))
    else { return false }
    guard let loaded = load.value else { return true }
    return loaded.mayAnswer(
      than: lookup.found.base, snapshot: lookup.found.snapshot, now: lookup.found.now)
  }

  // MARK: In the background

  /// Loads in the background, unless a load that may be shared is in the table.
  func refresh(after lookup: CacheLookup<Value>) {
    if let load: InFlight = engine.loads.load(named: name), mayShare(load, after: lookup) { return }
    follow(
      engine.loads.enter(
        name, joins: { mayShare($0, after: lookup) }, start: { start($0, priority: .utility) }))
  }

  /// Lets the load that runs go on in the background after its callers have left.
  private func keep() {
    if let load: InFlight = engine.loads.load(named: name), load.join() { follow(load) }
  }

  /// Waits for a load in the place of a caller.
  private func follow(_ load: InFlight) {
    Task(priority: .utility) {
      do {
        _ = try await engine.clock.run(
          within: options.refreshTimeout, { try await engine.loads.wait(load, name) },
          else: { throw timedOut })
      } catch {
        options.onBackgroundError?(error)
      }
    }
  }

  // MARK: The load

  private func start(_ running: InFlight, priority: TaskPriority?) {
    let (loads, name) = (engine.loads, name)
    let isNested = LoadDependencies.running != nil
    running.start(priority: priority) {
      do {
        let loaded = try await LoadDependencies.$running.withValue(running) {
          try await run(running, waits: !isNested)
        }
        running.complete(.success(loaded))
        // Until the commit a caller whose lookup finds nothing shares the outcome; afterwards it finds the entry.
        do {
          try await loaded.write?.value()
        } catch {
          options.onBackgroundError?(error)
        }
      } catch {
        // A caller that comes after the error loads again, and does not get it too.
        loads.remove(running, name)
        running.complete(.failure(error))
      }
      loads.remove(running, name)
    }
  }

  private var timedOut: LarderError {
    LarderError(
      .timedOut, "loading \(Key(key)) for namespace \(cache.name) took too long",
      hint: "allow more time, or windows in which a stale value is served")
  }

  private func run(_ running: InFlight, waits: Bool) async throws -> LoadedValue<Value> {
    let turn = try await awaitTurn(running, waits: waits)
    if turn.isAnswered { return LoadedValue(result: cache.result(turn.lookup)) }
    let loaded: LoadedValue<Value>
    do {
      loaded = try await self.loaded(in: turn)
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

  private func loaded(in turn: Turn) async throws -> LoadedValue<Value> {
    let known = turn.lookup.cachedValue
    let outcome = try await load(known)
    // A load that was cancelled or has timed out is not stored, even if its closure returned.
    try Task.checkCancellation()
    switch outcome {
    case .value(let value):
      return store(value, options.attributes(codec: cache.codecID), turn)
    case .stored(let value, let attributes):
      return store(value, merged(attributes), turn)
    case .unchanged:
      guard let known else {
        throw LarderError(
          .failed,
          "the load of \(Key(key)) says that the value is unchanged, but none was stored",
          hint: "return a value where the load is told of none")
      }
      return renew(known, turn)
    case .absent:
      return try storeAbsence(turn)
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
}
