/// How one request loads its key: what its flight does if it has to start one.
struct LoadFlight<Value: Sendable>: Sendable {
  let cache: Cache<Value>
  let key: [UInt8]
  let options: LoadOptions
  let load: @Sendable (CachedValue<Value>?) async throws -> LoadOutcome<Value>

  private typealias Outcome = CacheResult<Value>?

  private var engine: StoreEngine { cache.namespace.engine }
  private var name: SingleFlight.Name {
    SingleFlight.Name(namespace: cache.name, key: key, type: ObjectIdentifier(Value.self))
  }

  /// Waits for the load of the key, and starts it if nobody has.
  func join() async throws -> CacheResult<Value>? {
    let (board, name) = (engine.flights, name)
    let (flight, place): (Flight<Outcome>, UInt64) = board.enter(
      name, joins: options.policy != .reload
    ) { flight in
      begin(flight, priority: nil, timeout: options.timeout)
    }
    return try await flight.wait(place) { board.remove(flight, name) }
  }

  /// Starts the load in the background unless it is under way.
  func refresh() {
    engine.flights.hold(name) { (flight: Flight<Outcome>) in
      begin(
        flight, priority: .utility, timeout: options.refreshTimeout, onError: options.onRefreshError
      )
    }
  }

  private func begin(
    _ flight: Flight<Outcome>, priority: TaskPriority?, timeout: Duration?,
    onError: (@Sendable (any Error) -> Void)? = nil
  ) {
    let (board, name) = (engine.flights, name)
    let end = timeout.map { engine.clock.monotonic + $0 }
    flight.begin(priority: priority) { [engine] in
      let timer = end.map { end in
        Task(priority: priority) {
          try await engine.clock.sleep(until: end)
          board.remove(flight, name)
          flight.fail(timedOut)
        }
      }
      let outcome: Result<Outcome, any Error>
      do {
        outcome = .success(try await run())
      } catch {
        outcome = .failure(error)
      }
      timer?.cancel()
      // Nobody joins a load that is over: whoever comes later finds what it has stored.
      board.remove(flight, name)
      if case .failure(let error) = flight.finish(outcome) { onError?(error) }
    }
  }

  private var timedOut: LarderError {
    LarderError(
      .timedOut, "loading \(Key(key)) for namespace \(cache.name) took too long",
      hint: "allow more time, or windows in which a stale value is served")
  }

  private func run() async throws -> CacheResult<Value>? {
    var found = try cache.find(key, counts: false)
    switch options.policy {
    case .reload:
      found.value = nil
    case .revalidate:
      break
    case .standard, .cacheElseLoad, .cacheOnly:
      // Another flight may have ended just before this one began.
      if LoadChoice(found, options) == .use { return cache.result(found) }
    }
    let known = found.known
    switch try await load(known) {
    case .value(let value):
      return await keep(value, options.attributes(codec: cache.codecID), found)
    case .stored(let value, var attributes):
      let usual = options.attributes(codec: cache.codecID)
      attributes.codec = usual.codec
      attributes.expires = attributes.expires ?? usual.expires
      attributes.stale = attributes.stale ?? usual.stale
      if attributes.tags.isEmpty { attributes.tags = usual.tags }
      if attributes.owners.isEmpty { attributes.owners = usual.owners }
      return await keep(value, attributes, found)
    case .unchanged:
      guard let known else {
        throw LarderError(
          .failed,
          "the origin of \(Key(key)) says that it is unchanged, but nothing was known of it",
          hint: "answer with a value where the load is told of none")
      }
      return await renew(known, found)
    case .absent:
      try await keepAbsence(found)
      return nil
    }
  }
}

extension Found {
  /// What a load is told of it.
  fileprivate var known: CachedValue<Value>? {
    guard let entry, let value else { return nil }
    return CachedValue(
      value: value, written: Timestamp(milliseconds: entry.header.written),
      entityTag: entry.fields[.entityTag], lastModified: entry.fields[.lastModified],
      metadata: entry.fields[.metadata])
  }
}
