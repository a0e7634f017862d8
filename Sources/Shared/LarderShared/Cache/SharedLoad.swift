import Larder
import LarderSystem

/// How one request that this store cannot answer gets its value: from the tier, or from the origin with the right to load.
struct SharedLoad<Value: Sendable>: Sendable {
  let cache: SharedCache<Value>
  let key: SharedKey
  let options: LoadOptions
  /// The policy towards the tier. That towards the store is in the options.
  let policy: RequestPolicy
  let load: @Sendable () async throws -> Value
  /// Called before a wait for another machine, or for one of the few loads that run without the tier.
  var waits: @Sendable () -> Void = {}

  var shared: Shared { cache.shared }
  var copies: LocalCopies { cache.copies }
  private var clock: any LarderClock { cache.store.clock }

  /// How often a key may change between a look and the request for its lease before the caller goes on without the tier.
  private static var mostChanges: Int { 8 }
  /// How many durations of a lease a caller waits for another machine's load: one that never ends must not stop all others.
  private static var mostLeases: Int { 10 }

  func outcome() async throws -> Loaded<Value> {
    let ticket = try copies.ticket()
    guard try copies.outbox.count() == 0 else {
      return try await loadAlone(ticket, because: removalsWait)
    }
    var rejected: ValueStamp??
    var changes = 0
    let end = clock.monotonic + shared.options.leaseDuration * Self.mostLeases
    while true {
      try Task.checkCancellation()
      let attempt: Attempt
      do throws(LarderError) {
        attempt = try await self.attempt(&rejected)
      } catch {
        return try await loadAlone(ticket, because: error)
      }
      switch attempt {
      case .use(let value, let copy):
        shared.count { $0.hits += 1 }
        return stored(value, copy, ticket, .shared)
      case .changed, .answer(.changed, _):
        changes += 1
        guard changes < Self.mostChanges else {
          return try await loadAlone(ticket, because: gaveUp("it changes with each look"))
        }
      case .loadAlone(let version):
        return try await loadAlone(ticket, version: version, because: nil)
      case .answer(.granted(let lease), let copy):
        shared.count {
          $0.misses += 1
          $0.leases += 1
        }
        if let outcome = try await load(holding: lease, ticket, fallback: copy) { return outcome }
        // The value was changed or removed during the load. A caller that came after that must not get it.
        shared.count { $0.overtaken += 1 }
        changes += 1
        guard changes < Self.mostChanges else {
          return try await loadAlone(ticket, because: gaveUp("it changes during each load"))
        }
      case .answer(.held(let left), let copy):
        if let copy, policy == .standard, let value = copy.value,
          copy.isWithin(options.stale?.whileRevalidating)
        {
          return stored(value, copy, ticket, copy.isFresh ? .shared : .stale)
        }
        shared.count { $0.waits += 1 }
        waits()
        guard clock.monotonic < end else {
          return try await loadAlone(ticket, because: gaveUp("another machine loads it for long"))
        }
        let pause = min(Duration.milliseconds(Int.random(in: 10...100)), left)
        try await clock.sleep(until: clock.monotonic + pause)
      }
    }
  }

  /// The outcome of one look into the tier.
  private enum Attempt {
    case use(Value, TierCopy<Value>)
    /// The value that was found is outdated already.
    case changed
    /// The tier does not want a value of this key.
    case loadAlone(Position)
    case answer(LeaseAnswer, TierCopy<Value>?)
  }

  /// - Parameter rejected: the value that a revalidation does not want, the first that is found; nil before.
  private func attempt(_ rejected: inout ValueStamp??) async throws(LarderError) -> Attempt {
    let found = try await cache.ask { () throws(LarderError) in
      try await cache.find(key, tags: options.tags)
    }
    if case .newer = found { return .loadAlone(.zero) }
    if rejected == nil { rejected = .some(found.stamp) }
    if let copy = found.copy, accepts(copy, rejecting: rejected ?? nil) {
      guard copies.isCurrent(key, tags: copy.frame.tags, at: copy.head) else { return .changed }
      // A replica that lags behind must not answer with an older value afterwards.
      copies.recent.note(RecentChanges.name(of: key), at: copy.stamp.version)
      guard let value = copy.value else { return .loadAlone(copy.stamp.version) }
      return .use(value, copy)
    }
    let answer = try await cache.ask { () throws(LarderError) in
      try await shared.tier.acquire(
        key, rejecting: found.stamp, as: LeaseToken(), for: shared.options.leaseDuration)
    }
    return .answer(answer, found.copy)
  }

  private func accepts(_ copy: TierCopy<Value>, rejecting stamp: ValueStamp?) -> Bool {
    switch policy {
    case .reload: false
    case .revalidate: copy.stamp != stamp
    case .cacheElseLoad, .cacheOnly: true
    case .standard: copy.remaining > max(options.refreshAhead ?? .zero, .zero)
    }
  }

  /// Loads without the tier.
  ///
  /// - Parameters:
  ///   - version: that of the tier's note that it does not want the value.
  ///   - error: why the tier cannot be used; nil if it does not want the value.
  private func loadAlone(
    _ ticket: LocalCopies.Ticket, version: Position = .zero, because error: LarderError?
  ) async throws -> Loaded<Value> {
    try Task.checkCancellation()
    // The origin is asked after all the changes up to there were made.
    let stamp = ValueStamp(version: max(ticket.applied, version), written: 0)
    guard let error else { return loaded(try await load(), stamp, ticket) }
    shared.count { $0.withoutTier += 1 }
    // A change that is known already, such as one beyond the clock of this machine's log, would be one after each load.
    let mayStore = copies.isCurrent(key, tags: options.tags, at: stamp.version)
    waits()
    let value = try await shared.limiter.run { try await load() }
    return mayStore ? unshared(value, stamp, ticket, error) : unstored(value, stamp, error)
  }

  /// Loads with the right to store the value in the tier; nil if the value was changed or removed meanwhile.
  private func load(
    holding lease: Lease, _ ticket: LocalCopies.Ticket, fallback: TierCopy<Value>?
  ) async throws -> Loaded<Value>? {
    let value: Value
    do {
      value = try await renewing(lease) { try await load() }
      // The value of a load that was cancelled or has timed out is not stored.
      try Task.checkCancellation()
    } catch {
      await release(lease)
      try Task.checkCancellation()
      if let fallback, let stale = fallback.value, fallback.isWithin(options.stale?.onError) {
        return stored(stale, fallback, ticket, .stale, error)
      }
      throw error
    }
    let frame: Frame
    do {
      frame = try cache.frame(
        cache.local.encode(value), expires: options.expires,
        stale: options.stale.map { max($0.whileRevalidating, $0.onError) }, tags: options.tags)
    } catch {
      // The store cannot take the value either, and says why.
      await release(lease)
      return loaded(value, ValueStamp(version: lease.head, written: 0), ticket)
    }
    do throws(LarderError) {
      let stamp = try await cache.ask { () throws(LarderError) in
        try await shared.tier.fill(key, cache.tierValue(frame, key), lease)
      }
      guard let stamp else { return nil }
      copies.recent.note(RecentChanges.name(of: key), at: stamp.version)
      return loaded(value, stamp, ticket)
    } catch {
      return unshared(value, ValueStamp(version: lease.head, written: 0), ticket, error)
    }
  }

  private func renewing(
    _ lease: Lease, _ body: () async throws -> Value
  ) async throws -> Value {
    let renewal = Task { [tier = shared.tier, clock, key, length = shared.options.leaseDuration] in
      while true {
        try await clock.sleep(until: clock.monotonic + length / 3)
        do {
          guard try await tier.renew(key, lease.token, for: length) else { return }
        } catch {
          // The next attempt may come through before the lease ends.
        }
      }
    }
    defer { renewal.cancel() }
    return try await body()
  }

  /// Also for a task that is cancelled.
  private func release(_ lease: Lease) async {
    await Task { [tier = shared.tier, key] in
      do { try await tier.release(key, lease.token) } catch {
        // It ends by itself.
      }
    }.value
  }
}
