public import Larder

extension SharedCache {
  /// Stores `value` under `key` in the tier, and then in this store, unless a newer change came.
  ///
  /// - Parameters:
  ///   - expires: how long the value stays fresh, on other machines at most 30 days; nil takes the namespace's rule.
  ///   - stale: how long after its expiry the value may be served stale; nil takes the namespace's rule.
  /// - Throws: `LarderError/Code/unreachable` if neither the tier nor this store has changed; `LarderError/Code/unanswered` if
  ///   the tier may have changed (this store has then dropped its copy); or the errors of a write.
  public func set(
    _ value: Value, for key: some StoreKey, expires: Expiration? = nil, stale: Duration? = nil,
    tags: [String] = []
  ) async throws {
    let key = sharedKey(key)
    try checkName()
    try store.checkWritable()
    // The tier takes a key of any length, but this store does not. So the call throws for a key that is empty or too long.
    guard key.isPossible else {
      throw LarderError(
        .invalidArgument, "a key of \(key.bytes.count) bytes cannot be stored in namespace \(name)",
        hint: "use 1 to \(Key.longest) bytes")
    }
    let bytes = try local.encode(value)
    var attributes = EntryAttributes(codec: codec.id, expires: expires)
    attributes.stale = stale
    attributes.tags = tags
    let frame = try frame(bytes, attributes)
    let ticket = try copies.ticket()
    let position: Position
    do throws(LarderError) {
      position = try await ask { () throws(LarderError) in
        try await shared.tier.change(.set(key, tierValue(frame, key)))
      }
    } catch {
      if error.code == .unanswered {
        // The tier may have changed although the caller's task is cancelled, so this store drops its copy in any case.
        try await Task { [copies] in try await copies.drop(key) }.value
        local.leaveLoad(of: key.bytes)
      }
      throw error
    }
    let stamp = ValueStamp(version: position, written: 0)
    attributes.metadata = stamp.bytes
    copies.recent.note(.key(key), at: position)
    try await Task { [self, attributes] in
      try await store.commit(size: bytes.count) { batch in
        if try copies.mayStore(stamp, current: position, ticket, for: key, tags: tags, in: &batch) {
          try batch.set(value, for: key.bytes, in: local, attributes)
        } else {
          try copies.removeCopy(of: key, olderThan: position, in: &batch)
        }
      }
    }.value
    local.leaveLoad(of: key.bytes)
  }

  /// Removes the value under `key` from this store and from the tier, and abandons the loads of the key on all machines. A value
  /// whose load began before the removal is stored nowhere.
  ///
  /// - Throws: `LarderError/Code/pending` if the tier gives no answer: the key is removed here, and the removal waits in the
  ///   store until a process of this machine can send it. `LarderError/Code/unreachable` if too many removals wait already.
  public func remove(_ key: some StoreKey) async throws {
    let key = sharedKey(key)
    // No store has an empty or too long key. The tier would send the key to every machine by the log, so nothing is done.
    guard key.isPossible else { return }
    defer { local.leaveLoad(of: key.bytes) }
    try await change(.remove(key))
  }

  /// Removes every value of the namespace from this store and from the tier.
  ///
  /// - Throws: as ``remove(_:)``.
  public func clear() async throws {
    defer { store.leaveLoads(in: name) }
    try await change(.clear(namespace: name))
  }

  /// Removes every value with the tag from this store and from the tier, in every namespace of the application.
  ///
  /// - Throws: as ``remove(_:)``.
  public func invalidate(tag: String) async throws {
    _ = try EntryAttributes.validated(tag)
    try await change(.invalidate(tag: tag))
  }

  /// Makes a removal in this store and in the tier. If the tier gives no answer, the removal waits in the outbox of the store.
  private func change(_ change: TierChange) async throws {
    try checkName()
    try store.checkWritable()
    var position: Position?
    var failure: LarderError?
    do throws(LarderError) {
      position = try await ask { () throws(LarderError) in try await shared.tier.change(change) }
    } catch {
      try copies.outbox.checkRoom()
      failure = error
    }
    // The tier may have made the change although the caller's task is cancelled. So this store must make the change in any case.
    try await Task { [copies, position] in
      try await copies.remove(change.subject, at: position)
    }.value
    guard let failure else { return }
    throw LarderError(
      .pending,
      "a removal in namespace \(name) acts on this machine alone so far: \(failure.message)",
      hint: "nothing: it is sent when the server can be reached again")
  }

  /// Throws if the namespace has records of the tier itself: these records must not be removed like copies.
  func checkName() throws(LarderError) {
    guard name == LocalState.namespace || name == Outbox.namespace else { return }
    throw LarderError(
      .invalidArgument, "the namespace \(name) has the records of the shared tier",
      hint: "give the cache another name")
  }

  func sharedKey(_ key: some StoreKey) -> SharedKey {
    SharedKey(namespace: name, bytes: Key(key).bytes)
  }

  /// Sends a request to the tier, unless the tier has just failed repeatedly.
  func ask<Result: Sendable>(
    _ request: () async throws(LarderError) -> Result
  ) async throws(LarderError) -> Result {
    try await shared.breaker.run(
      store.clock, isConnected: copies.standing(limit: .zero) == .confirmed, request)
  }

  // MARK: Values on their way into the tier

  /// The frame, the form of a value in the tier; the namespace's rules give missing lifetimes. Nil bytes mean that the key has no
  /// value: without a lifetime, such a frame only replaces an older value.
  func frame(_ bytes: [UInt8]?, _ attributes: EntryAttributes) throws(LarderError) -> Frame {
    let tags = attributes.tags
    try Frame.checkCount(of: tags)
    for tag in tags { _ = try EntryAttributes.validated(tag) }
    guard let bytes else {
      let soft = try (attributes.expires ?? .after(.zero)).lifetime(from: store.now)
      return Frame(codec: .bytes, soft: soft, stale: .zero, tags: tags, value: nil, isAbsent: true)
    }
    let rules = try local.rulesOfNextWrite()
    guard bytes.count <= rules.largestValue else {
      throw LarderError.tooLarge(bytes.count, for: name, rules)
    }
    return Frame(
      codec: codec.id, soft: try (attributes.expires ?? rules.expires).lifetime(from: store.now),
      stale: attributes.stale ?? rules.stale, tags: tags,
      validators: Validators(
        entityTag: attributes.entityTag, lastModified: attributes.lastModified),
      value: bytes.count <= shared.options.maxValueSize ? bytes : nil)
  }

  func tierValue(_ frame: Frame, _ key: SharedKey) -> TierValue {
    TierValue(
      frame: frame.encoded(for: key, of: shared.tier.application), lifetime: frame.hard,
      tags: frame.tags)
  }
}

extension SharedKey {
  /// Whether a store takes the key.
  var isPossible: Bool { (1...Key.longest).contains(bytes.count) }
}
