import LarderSystem

struct LoadName: Hashable, Sendable {
  var namespace: ExactString
  var key: [UInt8]
  /// The type of the cache's values. Caches of different types share no load, because their values have different types.
  var type: ObjectIdentifier
}

struct LoadedValue<Value: Sendable>: Sendable {
  /// The result; nil if the key has no value.
  var result: CacheResult<Value>?
  var write: LoadWrite?
}

/// The load of one request. Joins a running load, or starts a load and writes its outcome.
struct CacheLoad<Value: Sendable>: Sendable {
  enum Source: Sendable {
    /// A closure that loads only this key and gets the stored value.
    case key(@Sendable (CachedValue<Value>?) async throws -> Loaded<Value>)
    case bulk(BulkLoad<Value>)
  }

  let cache: Cache<Value>
  let key: [UInt8]
  var options: LoadOptions
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
        do {
          let loaded = try await LoadDependencies.$running.withValue(running) {
            // Only a refresh in the background has a priority of its own, so a load with a priority is a refresh.
            try await run(running, waits: !isNested, isRefresh: priority != nil, load)
          }
          complete(running, .success(loaded))
        } catch { complete(running, .failure(error)) }
      }
    }
  }

  /// Ends a load. Until the commit of its value, callers that find no entry share the load; later callers find the entry.
  func complete(_ running: InFlight, _ result: Result<LoadedValue<Value>, any Error>) {
    let remove: @Sendable () -> Void = { engine.loads.running.remove(running, name) }
    switch result {
    case .success(let loaded): if let error = loaded.result?.error { pauseRefreshes(after: error) }
    case .failure(let error):
      // Removes the failed load first, so that a later caller starts a new load instead of getting the error.
      pauseRefreshes(after: error)
      remove()
    }
    running.complete(result)
    guard case .success(let loaded) = result else { return }
    guard let write = loaded.write else { return remove() }
    // Uses a task, because the thread that commits must run no code of the user: no handler of errors, and no deinitializer.
    Task {
      do { try await write.value() } catch {
        if error is LarderError { pauseRefreshes(after: error) }
        options.onBackgroundError?(error)
      }
      remove()
    }
  }

  private func pauseRefreshes(after error: any Error) {
    if error is CancellationError { return }
    engine.loads.running.pause(name, at: engine.clock.monotonic)
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
        let answer = try await load(turn.lookup.cachedValue)
        if case .failed(let error) = answer.outcome { throw error }
        return answer
      }
      // A closure may return although its load was cancelled or has timed out. The value of such a load is not stored.
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

  /// Ends the lease after the commit, or immediately if no value will be stored. If too many writes wait, waits for `write`.
  func hand(_ lease: LoadLease?, to write: LoadWrite?) async {
    guard let write else {
      lease?.end()
      return
    }
    if let lease { write.whenFinished { lease.end() } }
    // Ignores the error, which `complete` and the callers that wait for the commit get from the write.
    if !write.isWithinBounds { try? await write.value() }
  }

  /// The value of an outcome. The caller must queue the write of the result.
  func loaded(_ outcome: Loaded<Value>, _ turn: Turn) throws -> LoadedValue<Value> {
    switch outcome.outcome {
    case .value(let value, let attributes): return store(value, merged(attributes), turn)
    case .unchanged:
      guard let known = turn.lookup.cachedValue else { throw LarderError.unchanged(Key(key)) }
      return renew(known, turn)
    case .absent(let attributes): return try storeAbsence(attributes, turn)
    case .failed(let error): throw error
    }
  }

  /// The attributes of a load's outcome; the options give the missing attributes.
  func merged(_ attributes: EntryAttributes) -> EntryAttributes {
    var merged = attributes
    merged.codec = cache.codecID
    merged.expires = merged.expires ?? options.expires
    merged.stale = merged.stale ?? options.stale?.longest
    if merged.tags.isEmpty { merged.tags = options.tags }
    if merged.owners.isEmpty { merged.owners = options.owners }
    return merged
  }
}
