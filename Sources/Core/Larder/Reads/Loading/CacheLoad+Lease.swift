import LarderSystem

/// One load at a time among the processes of a machine.
extension CacheLoad {
  /// How a load begins.
  struct Turn {
    var lookup: CacheLookup<Value>
    /// The moment before the lookup.
    var moment: RemovalTable.Mark
    /// Nil if the load runs without a lease.
    var lease: LoadLease?
    /// Whether the lookup found the outcome of another process's load, so that there is nothing to load.
    var isAnswered = false
    /// The hash of the key if another process is loading it, and the load waits for that.
    var awaited: UInt64?
  }

  /// Bounds of the pause between two looks at another process's load, in milliseconds.
  private static var shortestPause: Int { 10 }
  private static var longestPause: Int { 100 }

  /// Takes the key's lease, unless another process has it, and looks the key up.
  ///
  /// - Parameter waits: false inside another load: two processes whose loads wait for each other would never end.
  func takeTurn(_ running: InFlight, waits: Bool) throws -> Turn {
    if cache.namespace.store.isReadOnly { return try lookUpAgain(running, nil, since: nil) }
    engine.removalTable.open()
    guard let leases = engine.loads.leases, options.takesLease else {
      return try lookUpAgain(running, nil, since: nil)
    }
    let hash = try cache.leaseHash(key)
    // The lease is taken before the lookup, which then finds the value of the last holder.
    let attempt = leases.take(hash)
    var turn = try lookUpAgain(running, attempt.lease, since: nil)
    if attempt.isHeld, waits, !turn.isAnswered, options.policy != .reload { turn.awaited = hash }
    return turn
  }

  /// If another process is loading the key, waits until the outcome is stored, the lease ends, or ``LoadLeases/longest``
  /// has passed.
  func awaitTurn(_ running: InFlight, after first: Turn) async throws -> Turn {
    guard let hash = first.awaited, let leases = engine.loads.leases else { return first }
    let limit = leases.now + LoadLeases.longest
    var pause = Self.shortestPause
    while true {
      try await Task.sleep(for: .milliseconds(Int.random(in: pause / 2...pause)))
      pause = min(2 * pause, Self.longestPause)
      let attempt = leases.takeAfterWait(hash)
      let turn = try lookUpAgain(running, attempt.lease, since: first.lookup)
      if !attempt.isHeld || turn.isAnswered || leases.now >= limit { return turn }
    }
  }

  /// Looks the key up with the lease that was taken, if any, and ends the lease if there is nothing to load.
  private func lookUpAgain(
    _ running: InFlight, _ lease: LoadLease?, since first: CacheLookup<Value>?
  ) throws -> Turn {
    do {
      let moment = running.begin { engine.removalTable.now }
      var turn = Turn(lookup: try cache.lookUpForLoad(key.span), moment: moment, lease: lease)
      switch options.policy {
      case .reload: turn.lookup.value = nil
      case .revalidate:
        // Another process has asked the origin since this load began.
        turn.isAnswered = first.map { turn.lookup.found.isChanged(since: $0.found) } ?? false
      case .standard, .cacheElseLoad, .cacheOnly:
        // Another load of the key may have ended just before this one began.
        turn.isAnswered = LoadDecision(turn.lookup.found, options) == .use
      }
      if turn.isAnswered { lease?.end() }
      return turn
    } catch {
      lease?.end()
      throw error
    }
  }
}

extension Cache {
  /// The hash of a key that chooses its lease. A removal changes it, so that a load from before holds up no later one.
  func leaseHash(_ key: [UInt8]) throws -> UInt64 {
    let engine = namespace.engine
    let id = try engine.reader.identify(namespace.handle, in: engine.reader.beginRead())
    let removal = engine.removalTable.last(of: removalHashes(key.span, in: id))
    return Checksum.of(key.span, seed: Checksum.of(Array(name.utf8).span, seed: removal))
  }

  /// The hashes whose removal takes the entry under `key` along, whatever its tags and owners are.
  func removalHashes(_ key: Span<UInt8>, in id: NamespaceID) -> [UInt64] {
    let namespace = [RemovalTable.hashOfStore, RemovalTable.hash(ofNamespace: name)]
    return id == .store ? namespace : namespace + [Checksum.keyHash(of: key, in: id)]
  }

  /// Whether a load began after the last removal of its key, and of those tags and owners or its own.
  func isNewest(
    _ load: InFlightLoad<LoadedValue<Value>>, _ key: Span<UInt8>, in id: NamespaceID,
    links: [UInt64] = []
  ) -> Bool {
    guard let began = load.began else { return true }
    let hashes = removalHashes(key, in: id) + links + (load.value?.links ?? [])
    return namespace.engine.removalTable.isNewest(began, of: hashes)
  }
}

extension EntryLookup {
  /// Whether the entry was written, or its lifetime began again, after `other` was looked up.
  fileprivate func isChanged(since other: EntryLookup) -> Bool {
    guard let header = entry?.header, entry?.state == .fresh else { return false }
    guard let before = other.entry?.header else { return true }
    return header.version != before.version || header.expires != before.expires
      || header.written != before.written
  }
}
