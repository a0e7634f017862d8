import LarderSystem

/// One load at a time among the processes of a machine.
extension CacheLoad {
  /// How a load begins.
  struct Turn {
    var lookup: CacheLookup<Value>
    /// Nil if the load runs without a lease.
    var lease: LoadLease?
    /// Whether the lookup found the outcome of another process's load, so that there is nothing to load.
    var isAnswered = false
  }

  /// Bounds of the pause between two looks at another process's load, in milliseconds.
  private static var shortestPause: Int { 10 }
  private static var longestPause: Int { 100 }

  /// Takes the key's lease and looks the key up. If another process has the lease, waits until the outcome is stored, the
  /// lease ends, or ``LoadLeases/longest`` has passed.
  ///
  /// - Parameter waits: false inside another load: two processes whose loads wait for each other's would not go on.
  func awaitTurn(waits: Bool) async throws -> Turn {
    let leases = cache.namespace.engine.leases
    guard let leases, options.takesLease, !cache.namespace.store.isReadOnly else {
      return try lookUpAgain(nil, since: nil)
    }
    let hash = cache.leaseHash(key)
    let limit = leases.now + LoadLeases.longest
    var pause = Self.shortestPause
    var first: CacheLookup<Value>?
    // Before the lookup, which then finds what the last holder stored.
    var attempt = leases.take(hash)
    while true {
      var lease: LoadLease?
      if case .granted(let granted) = attempt { lease = granted }
      let turn = try lookUpAgain(lease, since: first)
      guard case .held = attempt, !turn.isAnswered, waits, options.policy != .reload,
        leases.now < limit
      else { return turn }
      first = first ?? turn.lookup
      try await Task.sleep(for: .milliseconds(Int.random(in: pause / 2...pause)))
      pause = min(2 * pause, Self.longestPause)
      attempt = leases.takeAfterWait(hash)
    }
  }

  /// Looks the key up with the lease that was taken, if any, and ends the lease if there is nothing to load.
  private func lookUpAgain(_ lease: LoadLease?, since first: CacheLookup<Value>?) throws -> Turn {
    do {
      var turn = Turn(lookup: try cache.lookUpForLoad(key.span), lease: lease)
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
  /// The hash of a key that chooses its lease.
  func leaseHash(_ key: [UInt8]) -> UInt64 {
    Checksum.of(key.span, seed: Checksum.of(Array(name.utf8).span, seed: 0))
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
