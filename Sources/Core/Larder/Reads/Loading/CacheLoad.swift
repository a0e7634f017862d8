import LarderSystem

struct LoadName: Hashable, Sendable {
  var namespace: ExactString
  var key: [UInt8]
  /// The type of the cache's values: caches of different types load different values.
  var type: ObjectIdentifier
}

struct LoadedValue<Value: Sendable>: Sendable {
  /// The result; nil if the key has no value.
  var result: CacheResult<Value>?
  var write: LoadWrite?
  /// When the value stops being fresh, if the load gave it an end.
  var end: Timestamp?
  /// The hashes of the value's tags and owners: their removal also removes the value.
  var links: [UInt64] = []

  /// Whether the value may answer a reader at `now`, although the reader's own lookup in `snapshot` did not find it.
  func mayAnswer(than lookup: BaseVersion, snapshot: UInt64, now: Timestamp) -> Bool {
    // The commit may take longer than the value lives.
    if let end, now >= end { return false }
    return write?.mayAnswer(than: lookup, snapshot: snapshot) ?? false
  }

  /// The result for a caller; it says whether the value is committed by now.
  var current: CacheResult<Value>? {
    var result = result
    if let write, write.isCommitted { result?.isCommitted = true }
    return result
  }
}

/// The load of one request: it joins a running load, or starts a load and writes its outcome.
struct CacheLoad<Value: Sendable>: Sendable {
  enum Source: Sendable {
    /// A closure that loads only this key and gets the stored value.
    case key(@Sendable (CachedValue<Value>?) async throws -> Loaded<Value>)
    case bulk(BulkLoad<Value>)
  }

  let cache: Cache<Value>
  let key: [UInt8]
  let options: LoadOptions
  let source: Source

  typealias InFlight = InFlightLoad<LoadedValue<Value>>

  var engine: StoreEngine { cache.namespace.engine }
  var name: LoadName { cache.loadName(key) }

  func start(_ running: InFlight, priority: TaskPriority?) {
    switch source {
    case .bulk(let bulk): bulk.start(self, running, priority: priority)
    case .key(let load):
      let isNested = LoadDependencies.running != nil
      running.start(priority: priority) {
        let result: Result<LoadedValue<Value>, any Error>
        do {
          result = .success(
            try await LoadDependencies.$running.withValue(running) {
              // A load with its own priority is a refresh in the background.
              try await run(running, waits: !isNested, isRefresh: priority != nil, load)
            })
        } catch {
          result = .failure(error)
        }
        complete(running, result)
        await awaitCommit(of: running, result)
      }
    }
  }

  func complete(_ running: InFlight, _ result: Result<LoadedValue<Value>, any Error>) {
    // A caller that comes after the error starts a new load, and does not get the error.
    if case .failure = result { engine.loads.running.remove(running, name) }
    running.complete(result)
  }

  /// Waits for the commit. Until then a caller whose lookup finds nothing shares the outcome; afterwards it finds the entry.
  func awaitCommit(
    of running: InFlight, _ result: Result<LoadedValue<Value>, any Error>
  ) async {
    guard case .success(let loaded) = result else { return }
    do {
      try await loaded.write?.value()
    } catch {
      options.onBackgroundError?(error)
    }
    engine.loads.running.remove(running, name)
  }

  private func run(
    _ running: InFlight, waits: Bool, isRefresh: Bool,
    _ load: (CachedValue<Value>?) async throws -> Loaded<Value>
  ) async throws -> LoadedValue<Value> {
    let turn = try await awaitTurn(running, after: takeTurn(running, waits: waits))
    if turn.isAnswered { return LoadedValue(result: cache.result(turn.lookup)) }
    let loaded: LoadedValue<Value>
    do {
      let observed = ObservedLoad(namespace: cache.name, isRefresh: isRefresh)
      let outcome = try await engine.observed(observed) {
        try await load(turn.lookup.cachedValue).checked
      }
      // The value of a load that was cancelled or has timed out is not stored, even if its closure returned.
      try Task.checkCancellation()
      loaded = try self.loaded(outcome, turn)
    } catch {
      turn.lease?.end()
      throw error
    }
    engine.enqueue([loaded.write].compactMap { $0 })
    await hand(turn.lease, to: loaded.write)
    return loaded
  }

  /// Lets the write of the outcome end the lease. Waits for the write if too many writes wait.
  func hand(_ lease: LoadLease?, to write: LoadWrite?) async {
    guard let write else {
      lease?.end()
      return
    }
    if let lease { write.endWhenComplete(lease) }
    // The load's task, and callers that wait for the commit, ask for the error themselves.
    if !write.isWithinBounds { try? await write.value() }
  }

  /// The value of an outcome; the caller must queue its write.
  func loaded(_ outcome: Loaded<Value>, _ turn: Turn) throws -> LoadedValue<Value> {
    switch outcome.outcome {
    case .value(let value, let attributes):
      return store(value, merged(attributes), turn)
    case .unchanged:
      guard let known = turn.lookup.cachedValue else { throw LarderError.unchanged(Key(key)) }
      return renew(known, turn)
    case .absent(let attributes):
      return try storeAbsence(attributes, turn)
    case .failed(let error):
      throw error
    }
  }

  func merged(_ attributes: EntryAttributes) -> EntryAttributes {
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

extension LarderError {
  package static func unchanged(_ key: Key) -> LarderError {
    LarderError(
      .failed, "the load of \(key) says that the value is unchanged, but none was stored",
      hint: "return a value where the load is told of none")
  }
}

extension CacheLookup {
  var cachedValue: CachedValue<Value>? {
    guard let entry = found.entry, let value else { return nil }
    return CachedValue(
      value: value, written: Timestamp(milliseconds: entry.header.written),
      validators: Validators(
        entityTag: entry.fields?[.entityTag], lastModified: entry.fields?[.lastModified]),
      metadata: entry.fields?[.metadata])
  }
}
