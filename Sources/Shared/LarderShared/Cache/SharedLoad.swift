import Larder
import LarderSystem

/// Gets the value for one request that this store cannot answer: from the tier, or from the origin, with or without a lease.
struct SharedLoad<Value: Sendable>: Sendable {
  let cache: SharedCache<Value>
  let key: SharedKey
  let options: LoadOptions
  /// The policy for the tier. The policy in ``options`` is for the store.
  let policy: RequestPolicy
  let load: SharedCache<Value>.Load
  /// Called before a wait for another machine, or for a free place among the loads without the tier.
  var waits: @Sendable () -> Void = {}
  /// The places for the requests of a call for many keys; nil for a call for one key.
  var places: Places?

  var shared: Shared { cache.shared }
  var copies: LocalCopies { cache.copies }
  var clock: any LarderClock { cache.store.clock }

  /// How often a key may change before and during its load. After more changes the caller loads without the tier. The same
  /// number of changes between load and commit gives the caller an unconfirmed value, or an error.
  static var mostChanges: Int { 8 }
  /// The longest wait for another machine's load, in durations of a lease. Without a limit, renewals could make the wait endless.
  private static var mostLeases: Int { 10 }

  func outcome(_ held: CachedValue<Value>?) async throws -> Loaded<Value> {
    let ticket = try copies.ticket()
    guard try copies.outbox.count() == 0 else {
      return try await loadAlone(held, ticket, because: removalsWait)
    }
    let present = try held.flatMap { _ in try cache.local.entry(for: Key(key.bytes)) }
    let isRefresh = present?.state == .fresh
    let windowEnd = options.stale.flatMap { present?.expires?.advanced(by: $0.whileRevalidating) }
    var (rejected, awaited): (ValueStamp??, ValueStamp??) = (nil, nil)
    var changes = 0
    let end = clock.monotonic + shared.options.leaseDuration * Self.mostLeases
    while true {
      try Task.checkCancellation()
      let change: String
      let attempt: Attempt
      do throws(LarderError) {
        attempt = try await self.attempt(&rejected, &awaited, isRefresh: isRefresh)
      } catch { return try await loadAlone(held, ticket, because: error) }
      switch attempt {
      case .use(let copy):
        shared.count { $0.hits += 1 }
        return stored(copy, ticket)
      case .answer(.changed, _): change = "it changes with each look"
      case .loadAlone(let version):
        return try await loadAlone(held, ticket, version: version, because: nil)
      case .answer(.granted(let lease), let copy):
        shared.count {
          $0.misses += 1
          $0.leases += 1
        }
        if let outcome = try await load(holding: lease, ticket, fallback: copy) { return outcome }
        // The key was changed during the load, or the lease has ended. A caller after the change must not get the value.
        shared.count { $0.overtaken += 1 }
        change = "it changes during each load"
      case .answer(.held(let left), let copy):
        // A refresh of a known value waits: otherwise each read would begin a further refresh. A call for many keys must not,
        // nor a caller whose window has ended here, because a copy expires earlier than the value of the tier.
        let isKnown =
          options.policy != .revalidate && places == nil
          && (isRefresh || windowEnd.map { clock.now < $0 } ?? true)
        if let copy, copy.isAnswer, !isKnown || held?.metadata != copy.stamp.bytes,
          policy == .cacheElseLoad
            || policy == .standard && copy.isWithin(options.stale?.whileRevalidating)
        {
          return stored(copy, ticket)
        }
        shared.count { $0.waits += 1 }
        waits()
        guard clock.monotonic < end else {
          return try await loadAlone(
            held, ticket, because: gaveUp("another machine loads it for long"))
        }
        let pause = min(Duration.milliseconds(Int.random(in: 10...100)), left)
        try await clock.sleep(until: clock.monotonic + pause)
        continue
      }
      changes += 1
      guard changes < Self.mostChanges else {
        return try await loadAlone(held, ticket, because: gaveUp(change))
      }
    }
  }

  private enum Attempt {
    case use(TierCopy<Value>)
    /// The tier takes no value of this key. The position is the head at the lookup.
    case loadAlone(Position)
    case answer(LeaseAnswer, TierCopy<Value>?)
  }

  /// - Parameters:
  ///   - rejected: the first found value, which a revalidation does not accept; nil before the first lookup.
  ///   - awaited: the value that the tier has while another machine loads; nil before the first wait.
  ///   - isRefresh: whether this machine has a fresh value. A load beside a fresh value is a refresh.
  private func attempt(
    _ rejected: inout ValueStamp??, _ awaited: inout ValueStamp??, isRefresh: Bool
  ) async throws(LarderError) -> Attempt {
    if let stamp = awaited {
      // The stamp shows whether the value has changed, so a wait does not fetch the whole value again and again.
      let answer = try await acquire(rejecting: stamp)
      if case .held = answer { return .answer(answer, nil) }
      if case .granted(let lease) = answer {
        let found = try? await renewing(lease) { () async throws(LarderError) in try await find() }
        return .answer(answer, found?.copy)
      }
    }
    let found = try await find()
    if let head = found.headOfNewer { return .loadAlone(head) }
    if rejected == nil { rejected = .some(found.stamp) }
    if let copy = found.copy, accepts(copy, rejecting: rejected ?? nil, isRefresh) {
      // This machine knows a newer change than the value, so the value counts as changed.
      guard copies.isCurrent(key, tags: copy.frame.tags, at: copy.head) else {
        return .answer(.changed, nil)
      }
      // The version is noted, so that an older value from a replica that lags behind is refused later.
      copies.recent.note(.key(key), at: copy.stamp.version)
      return copy.isAnswer ? .use(copy) : .loadAlone(copy.head)
    }
    let answer = try await acquire(rejecting: found.stamp)
    if case .held = answer { awaited = .some(found.stamp) }
    return .answer(answer, found.copy)
  }

  private func accepts(
    _ copy: TierCopy<Value>, rejecting stamp: ValueStamp?, _ isRefresh: Bool
  ) -> Bool {
    switch policy {
    case .reload: false
    case .revalidate: copy.stamp != stamp
    case .cacheOnly: true
    case .cacheElseLoad: !isRefresh || !copy.isFresh || !copy.isNearExpiry(options.refreshAhead)
    // A machine without a value takes the fresh value. Later reads load a newer value in the background.
    case .standard:
      copy.isFresh && (!isRefresh && copy.value != nil || !copy.isNearExpiry(options.refreshAhead))
    }
  }

  // MARK: Loading

  struct Answer: Sendable {
    var value: Value?
    /// The attributes that the load has set, completed from the options.
    var attributes: EntryAttributes
  }

  /// Calls the load of the origin with `known`, the value that this machine already has.
  ///
  /// - Parameter former: the tags and lifetimes of `known`, read before the load, because the entry may be evicted during the
  ///   load. An unchanged value keeps the tags. It keeps a lifetime only if neither the options nor the rules have one.
  private func answer(
    _ known: CachedValue<Value>?, _ former: EntryAttributes
  ) async throws -> Answer {
    let known = policy == .reload ? nil : known
    var answer: Answer
    switch try await load(known).outcome {
    case .value(let value, let attributes): answer = Answer(value: value, attributes: attributes)
    case .unchanged:
      guard let known else { throw LarderError.unchanged(Key(key.bytes)) }
      answer = Answer(value: known.value, attributes: former)
      answer.attributes.entityTag = known.validators.entityTag
      answer.attributes.lastModified = known.validators.lastModified
      if try options.expires != nil || cache.local.rulesOfNextWrite().expires != .never {
        answer.attributes.expires = options.expires
      }
      answer.attributes.stale = options.stale?.longest ?? former.stale
    case .absent(let attributes):
      answer = Answer(value: nil, attributes: attributes)
      answer.attributes.expires = attributes.expires ?? options.absent
    case .failed(let error): throw error
    }
    if answer.attributes.metadata != nil {
      throw LarderError(
        .invalidArgument, "a shared value cannot have metadata",
        hint: "put the bytes into the value")
    }
    if answer.attributes.tags.isEmpty { answer.attributes.tags = options.tags }
    try Frame.checkCount(of: answer.attributes.tags)
    if answer.value == nil { return answer }
    answer.attributes.expires = answer.attributes.expires ?? options.expires
    answer.attributes.stale = answer.attributes.stale ?? options.stale?.longest
    return answer
  }

  /// Loads without the tier. `held` is the value that this store has.
  ///
  /// - Parameters:
  ///   - version: the newest position of the log at a lookup before this call; zero if it is not known.
  ///   - error: the reason why the tier cannot be used; nil if the tier takes no value of this key.
  private func loadAlone(
    _ held: CachedValue<Value>?, _ ticket: LocalCopies.Ticket, version: Position = .zero,
    because error: LarderError?
  ) async throws -> Loaded<Value> {
    try Task.checkCancellation()
    var known = held
    // The metadata of a copy is the tier's stamp, which the load must not see.
    known?.metadata = nil
    let former = try held.map { _ in try heldAttributes } ?? EntryAttributes()
    // The origin is asked after all changes up to this position, so the position is the version of the value.
    let stamp = ValueStamp(version: max(ticket.applied, version), written: 0)
    guard let error else { return loaded(try await self.answer(known, former), stamp, ticket) }
    shared.count { $0.withoutTier += 1 }
    // A noted change may be newer than the last applied record. The value would then count as older, so it is not stored.
    let mayStore = copies.isCurrent(key, tags: options.tags, at: stamp.version)
    waits()
    let answer = try await shared.limiter.run(key) { [known] in try await self.answer(known, former)
    }
    return mayStore
      ? unshared(answer, stamp, ticket, error) : kept(answer, stamp, .loaded, error) { _ in false }
  }

  /// The tags and lifetimes of the value that this store has.
  private var heldAttributes: EntryAttributes {
    get throws {
      var attributes = EntryAttributes()
      guard let entry = try cache.local.entry(for: Key(key.bytes)) else { return attributes }
      attributes.tags = entry.tags.filter { $0 != LocalCopies.unsharedTag }
      guard let end = entry.expires else { return attributes }
      attributes.expires =
        entry.timeToIdle.map { .afterAccess($0) } ?? .after(entry.written.duration(to: end))
      attributes.stale = end.duration(to: entry.staleUntil ?? end)
      return attributes
    }
  }

  /// Loads with the right to store the value in the tier; nil if the key was changed during the load, or the lease has ended.
  private func load(
    holding lease: Lease, _ ticket: LocalCopies.Ticket, fallback: TierCopy<Value>?
  ) async throws -> Loaded<Value>? {
    let (begun, wall) = (clock.monotonic, clock.now)
    let answer: Answer
    do {
      answer = try await renewing(lease) {
        try await self.answer(
          fallback?.known(at: cache.store.now), fallback?.attributes ?? EntryAttributes())
      }
      // If the load was cancelled or has timed out, its value is not stored.
      try Task.checkCancellation()
    } catch {
      await release(lease)
      try Task.checkCancellation()
      var fallback = fallback
      // While the machine is suspended, only the wall clock runs.
      fallback?.age += max(clock.monotonic - begun, wall.duration(to: clock.now))
      if let fallback, fallback.value != nil, fallback.isWithin(options.stale?.onError) {
        return stored(fallback, ticket, error)
      }
      throw error
    }
    let unstored = ValueStamp(version: lease.head, written: 0)
    let frame: Frame
    do {
      frame = try cache.frame(answer.value.map { try cache.local.encode($0) }, answer.attributes)
    } catch {
      // No frame can hold the answer, or the store could not be read for a moment.
      await release(lease)
      return unshared(answer, unstored, ticket, error)
    }
    do throws(LarderError) {
      // A call for many keys may wait longer for a place than a lease lasts.
      let stamp = try await renewing(lease) { () async throws(LarderError) in
        try await ask { () throws(LarderError) in
          try await shared.tier.fill(key, cache.tierValue(frame, key), lease)
        }
      }
      guard let stamp else { return nil }
      copies.recent.note(.key(key), at: stamp.version)
      return loaded(answer, stamp, ticket)
    } catch {
      if Task.isCancelled { await release(lease) }
      return unshared(answer, unstored, ticket, error)
    }
  }
}
