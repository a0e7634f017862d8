/// Lets the processes of a machine run only one load of a key at a time.
extension CacheLoad {
  struct Turn {
    var lookup: CacheLookup<Value>
    var moment: RemovalTable.Mark
    var lease: LoadLease?
    /// Whether the lookup found the outcome of another load, so this load is not needed.
    var isAnswered = false
    /// The hash of the key if this load waits for a load of the key in another process; otherwise nil.
    var awaited: UInt64?
  }

  /// Takes the lease (the right to load the key), then looks the key up. `waits`: whether the load may wait for another
  /// process. False inside another load, because otherwise loads of two processes could wait for each other for ever.
  func takeTurn(_ running: InFlight, waits: Bool) throws -> Turn {
    if cache.namespace.store.isReadOnly { return try lookUpAgain(running, nil, since: nil) }
    engine.removalTable.open()
    guard let leases = engine.loads.leases, options.takesLease else {
      return try lookUpAgain(running, nil, since: nil)
    }
    let hash = try cache.leaseHash(key)
    // The lease is taken before the lookup, so the lookup finds the value of the last holder.
    let attempt = leases.take(hash)
    var turn = try lookUpAgain(running, attempt.lease, since: nil)
    if attempt.isHeld, waits, !turn.isAnswered, options.policy != .reload { turn.awaited = hash }
    return turn
  }

  /// Waits until the other process has stored its outcome, the lease has ended, or ``LoadLeases/longest`` has passed.
  func awaitTurn(_ running: InFlight, after first: Turn) async throws -> Turn {
    guard let hash = first.awaited, let leases = engine.loads.leases else { return first }
    let limit = leases.now() + LoadLeases.longest
    // The time in milliseconds between two checks whether the other process has finished.
    var pause = 10
    while true {
      try await Task.sleep(for: .milliseconds(Int.random(in: pause / 2...pause)))
      pause = min(2 * pause, 100)
      let attempt = leases.takeAfterWait(hash)
      // While the other process loads, each look decodes no value: the decoding of a large stale value would take long.
      if attempt.isHeld, leases.now() < limit, try cache.isUnchanged(key.span, since: first.lookup)
      {
        continue
      }
      let turn = try lookUpAgain(running, attempt.lease, since: first.lookup)
      if !attempt.isHeld || turn.isAnswered || leases.now() >= limit { return turn }
    }
  }

  /// Looks the key up. Ends `lease` if no load is needed.
  private func lookUpAgain(
    _ running: InFlight, _ lease: LoadLease?, since first: CacheLookup<Value>?
  ) throws -> Turn {
    var isNeeded = false
    defer { if !isNeeded { lease?.end() } }
    let moment = running.begin(at: engine.clock.monotonic) { engine.removalTable.now }
    var turn = Turn(lookup: try cache.lookUp(key.span, for: .load), moment: moment, lease: lease)
    switch options.policy {
    case .reload: turn.lookup.value = nil
    case .revalidate:
      // If the entry has changed, another process has asked the origin after this load began, and that answer is enough.
      turn.isAnswered = first.map { turn.lookup.found.isChanged(since: $0.found) } ?? false
    case .standard, .cacheElseLoad, .cacheOnly:
      // Another load of the key may have ended just before this load began, so the present value may be enough.
      turn.isAnswered = LoadDecision(turn.lookup.found, options) == .use
    }
    if options.needsValue, turn.lookup.value == nil { turn.isAnswered = false }
    isNeeded = !turn.isAnswered
    return turn
  }
}

extension Cache {
  /// The hash that chooses the lease of a key. A removal changes the hash, so later loads do not wait for earlier loads.
  func leaseHash(_ key: [UInt8]) throws -> UInt64 {
    let engine = namespace.engine
    let id = try engine.reader.identify(namespace.handle, in: engine.reader.beginRead())
    let removal = engine.removalTable.last(of: removalHashes(key.span, in: id))
    return Checksum.of(key.span, seed: Checksum.of(Array(name.utf8).span, seed: removal))
  }

  /// The hashes of store, namespace and key, because a removal of one of the three removes the entry. Omits tags and owners.
  func removalHashes(_ key: Span<UInt8>, in id: NamespaceID) -> [UInt64] {
    let namespace = [RemovalTable.hashOfStore, RemovalTable.hash(ofNamespace: name)]
    return id == .store ? namespace : namespace + [Checksum.keyHash(of: key, in: id)]
  }

  /// Whether the load's last lookup came after each removal of the key, the namespace, the load's tags and owners, and `links`.
  func isNewest(
    _ load: InFlightLoad<LoadedValue<Value>>, _ key: Span<UInt8>, in id: NamespaceID,
    links: [UInt64] = []
  ) -> Bool {
    guard let began = load.began?.mark else { return true }
    let hashes = removalHashes(key, in: id) + links + (load.value?.write?.links ?? [])
    return namespace.engine.removalTable.isNewest(began, of: hashes)
  }
}
