/// One request of a caller. The request has its result immediately, or joins or starts a load before the caller waits.
extension CacheLoad {
  typealias Place = (load: InFlight, isJoined: Bool)
  private struct SoftTimeout: Error {}

  enum Request {
    case known(LoadedValue<Value>)
    /// `after` is nil for a caller that wants its own load.
    case entered(Result<Place, any Error>, after: CacheLookup<Value>?)
  }

  func begin(after lookup: CacheLookup<Value>?) throws -> Request {
    guard let lookup else { return .entered(Result { try enter(after: nil) }, after: nil) }
    let decision = LoadDecision(lookup.found, options)
    // A loaded value that waits for its commit is newer than the stored value.
    if decision != .load, lookup.value == nil || lookup.found.entry?.state != .fresh,
      let load: InFlight = engine.loads.running.load(named: name), let loaded = load.value,
      mayShare(load, after: lookup)
    {
      return .known(loaded)
    }
    switch decision {
    case .use, .useAndRefresh:
      if decision == .useAndRefresh { refresh(after: lookup) }
      return .known(LoadedValue(result: cache.result(lookup)))
    case .fail: throw cache.notStored(key)
    case .load: return .entered(Result { try enter(after: lookup) }, after: lookup)
    }
  }

  /// The loaded value, or the stored value if the load fails; nil if the load finds no value.
  func result(of request: Request) async throws -> CacheResult<Value>? {
    switch request {
    case .known(let loaded): return try await committed(loaded)
    case .entered(let place, let lookup):
      // After the soft timeout the caller gets the stored value, and the load continues.
      let isSoft =
        options.softTimeout.map {
          $0 < options.timeout ?? .seconds(Int64.max)
            && isFallback(lookup, at: engine.clock.now.advanced(by: $0))
        } ?? false
      let loaded: LoadedValue<Value>
      do {
        let place = try place.get()
        loaded = try await engine.clock.run(
          within: isSoft ? options.softTimeout : options.timeout,
          { try await outcome(place, after: lookup) },
          else: {
            if isSoft, let load: InFlight = engine.loads.running.load(named: name), load.join() {
              follow(load)
            }
            throw isSoft ? SoftTimeout() : timedOut
          })
      } catch let failure {
        try Task.checkCancellation()
        let isSlow = failure is SoftTimeout
        let error: any Error = isSlow ? timedOut : failure is LoadCycle ? loadCycle : failure
        // The system may have been suspended during the wait, so the window of the stale value may have ended.
        guard isFallback(lookup, at: engine.clock.now), let stored = lookup,
          var served = cache.result(stored)
        else {
          guard isSlow else { throw error }
          // Without a value to return, the caller continues to wait.
          var rest = self
          rest.options.timeout = options.timeout.map { $0 - (options.softTimeout ?? .zero) }
          return try await rest.result(of: rest.begin(after: lookup))
        }
        served.source = .stale
        served.error = error
        return served
      }
      return try await committed(loaded)
    }
  }

  /// The result for the caller, with the state of the commit. Waits for the commit if the caller wants this.
  private func committed(_ loaded: LoadedValue<Value>) async throws -> CacheResult<Value>? {
    var result = loaded.result
    if options.waitsForCommit, let write = loaded.write {
      do { try await write.value() } catch {
        try Task.checkCancellation()
        if result == nil { throw error }
        result?.error = error
        return result
      }
    }
    if let write = loaded.write, write.isCommitted { result?.isCommitted = true }
    return result
  }

  /// Whether the stored value may replace a load that fails at `now`.
  private func isFallback(_ lookup: CacheLookup<Value>?, at now: Timestamp) -> Bool {
    guard let lookup, lookup.value != nil, var entry = lookup.found.entry else { return false }
    // The request was a use, so the time to idle of a fresh entry has begun again.
    if entry.state == .fresh, let idle = entry.idle,
      lookup.found.now.duration(to: now) < .milliseconds(idle.milliseconds)
    {
      return true
    }
    entry.state = entry.header.state(at: now.milliseconds)
    return entry.state == .fresh || entry.isWithin(options.stale?.onError, at: now)
  }

  private func enter(after lookup: CacheLookup<Value>?) throws -> Place {
    try engine.loads.running.checkCycle(name)
    var isJoined = true
    let load = engine.loads.running.enter(
      name, joins: { load in lookup.map { mayShare(load, after: $0) } ?? false },
      start: { load in
        isJoined = false
        start(load, priority: nil)
      })
    return (load, isJoined)
  }

  /// Waits for the outcome. The tags and owners of a load are known only at its end. If a tag or an owner was removed after the
  /// load began, a caller that joined the load waits for one more load, which begins after the caller's request.
  private func outcome(
    _ place: Place, after lookup: CacheLookup<Value>?
  ) async throws -> LoadedValue<Value> {
    let loaded = try await engine.loads.running.outcome(of: place.load, name)
    guard place.isJoined, let began = place.load.began?.mark,
      !engine.removalTable.isNewest(began, of: loaded.write?.links ?? [])
    else { return loaded }
    return try await engine.loads.running.outcome(of: enter(after: lookup).load, name)
  }

  /// Whether `load` began after each removal, and still runs or has a value that is not committed in the caller's snapshot. A
  /// load that hangs would always have callers, so a caller with a time limit joins no load older than the limits and a minute.
  private func mayShare(_ load: InFlight, after lookup: CacheLookup<Value>) -> Bool {
    let links = RemovalTable.hashes(ofTags: options.tags.map { Array($0.utf8) }, in: cache.name)
    guard cache.isNewest(load, key.span, in: lookup.found.base.id, links: links)
    else { return false }
    guard let loaded = load.value else {
      guard let limit = options.timeout ?? options.softTimeout else { return true }
      let age = load.began.map { engine.clock.monotonic - $0.time } ?? .zero
      return age < max(limit, options.refreshTimeout, .milliseconds(LoadLeases.longest))
    }
    if options.needsValue, loaded.result == nil { return false }
    return loaded.write?.mayAnswer(
      than: lookup.found.base, snapshot: lookup.found.snapshot, now: lookup.found.now) ?? false
  }

  private func refresh(after lookup: CacheLookup<Value>) {
    // A read-only handle could not store the value, so each later read would start a further load.
    if cache.namespace.store.isReadOnly { return }
    if engine.loads.running.isPaused(name, at: engine.clock.monotonic) { return }
    if let load: InFlight = engine.loads.running.load(named: name), mayShare(load, after: lookup) {
      return
    }
    follow(
      engine.loads.running.enter(
        name, joins: { mayShare($0, after: lookup) }, start: { start($0, priority: .utility) }))
  }

  /// Waits for a load as a caller would, so that the load is not cancelled.
  private func follow(_ load: InFlight) {
    Task(priority: .utility) {
      do {
        _ = try await engine.clock.run(
          within: options.refreshTimeout, { try await engine.loads.running.wait(load, name) },
          else: { throw timedOut })
      } catch { options.onBackgroundError?(error) }
    }
  }

  private var loadCycle: LarderError {
    LarderError(
      .loadCycle, "the load of \(Key(key)) in namespace \(cache.name) would wait for itself",
      hint: "load another key inside the closure, or pass the value on")
  }

  private var timedOut: LarderError {
    LarderError(
      .timedOut, "loading \(Key(key)) for namespace \(cache.name) took too long",
      hint: "allow more time, or windows in which a stale value is served")
  }
}
