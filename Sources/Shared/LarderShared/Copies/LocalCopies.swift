import Larder

/// The copies of one store, and the rule by which they are kept: a value that was fetched before a change is not stored
/// after it, by any process.
///
/// A copy has its stamp as the entry's metadata.
struct LocalCopies: Sendable {
  /// The tag of copies that the tier has not got: values that were loaded while it could not be used.
  static let unsharedTag = "shared-tier:unshared"

  let store: Store
  let recent: RecentChanges
  let state: LocalState
  let outbox: Outbox

  init(_ store: Store, of application: String) {
    self.store = store
    recent = RecentChanges(store, of: application)
    state = LocalState(store)
    outbox = Outbox(store, state)
  }

  /// The state of the store when a request begins. The request's value may be stored only in the same history, and if no
  /// removal was queued meanwhile.
  struct Ticket: Sendable {
    /// The history of the log; nil before the first contact with it.
    var epoch: UInt64?
    /// How many removals were ever queued here.
    var queued: UInt64
    /// Every change up to there was applied. It is the version of a value that is loaded without the tier.
    var applied: Position
  }

  func ticket() throws(LarderError) -> Ticket {
    // Read in this order: the position of a history is published before its number.
    let epoch = try state.progress()?.epoch
    return Ticket(epoch: epoch, queued: try state.queued(), applied: recent.applied)
  }

  /// Whether a value that was current at a position is still current, by the applied records.
  func isCurrent(_ key: SharedKey, tags: [String], at position: Position) -> Bool {
    recent.isCurrent(Self.names(of: key, tags: tags), at: position)
  }

  /// Whether a value may be stored: no change of it is known, and no newer value is fresh there.
  ///
  /// - Parameters:
  ///   - stamp: the value's own.
  ///   - current: the position at which it was current, at least its version.
  func mayStore(
    _ stamp: ValueStamp, current: Position, _ ticket: Ticket, for key: SharedKey, tags: [String],
    in batch: inout WriteBatch
  ) throws -> Bool {
    // Writers exclude each other, and the reader of the log notes a change before it removes the copies: either it is
    // seen here, or the reader finds this copy.
    guard isCurrent(key, tags: tags, at: current),
      try state.progress(in: &batch)?.epoch == ticket.epoch,
      try state.queued(in: &batch) == ticket.queued
    else { return false }
    let present = try batch.entry(for: key.bytes, in: store.namespace(key.namespace))
    if let present, present.state == .fresh,
      let itsStamp = present.metadata.flatMap({ ValueStamp(bytes: $0) }), stamp < itsStamp
    {
      return false
    }
    try state.note(key.namespace, in: &batch)
    return true
  }

  // MARK: Values that the tier has not got

  /// Whether a value may be stored that was loaded without the tier. It may be newer than the value of the tier, so that
  /// another machine's older value could follow it. That is never so for a confirmed copy: such values are stored only while no
  /// copy is confirmed, and removed before one is.
  func mayStoreUnshared(
    _ stamp: ValueStamp, _ ticket: Ticket, for key: SharedKey, tags: [String],
    in batch: inout WriteBatch
  ) throws -> Bool {
    if recent.isRegainingTrust || standing(limit: .zero) == .confirmed { return false }
    // A copy of the tier with the same version is older: this value was loaded just now.
    return try mayStore(
      ValueStamp(version: stamp.version, written: .max), current: stamp.version, ticket, for: key,
      tags: tags, in: &batch)
  }

  /// Confirms the copies: every change that was made before that moment was applied.
  func confirm(monotonic: Duration, wall: Timestamp) async throws {
    // A write that stores an unshared value either sees this mark or ends before the removal begins.
    recent.beginRegainingTrust()
    defer { recent.endRegainingTrust() }
    if standing(limit: .zero) != .confirmed {
      try await store.invalidateInSteps(tag: Self.unsharedTag)
    }
    recent.confirm(monotonic: monotonic, wall: wall)
  }

  /// How current the copies are now.
  func standing(limit: Duration) -> RecentChanges.Standing {
    recent.standing(at: store.roundedUpTimes, limit: limit)
  }

  // MARK: Changes of this machine

  /// Removes a key here: at the position of the removal, or without one if it waits in the outbox.
  func remove(_ key: SharedKey, at position: Position?) async throws {
    if let position { recent.note(RecentChanges.name(of: key), at: position) }
    try await store.commit { [self] batch in
      if position == nil { try outbox.add(.key(key), in: &batch) }
      try removeCopy(of: key, olderThan: position, in: &batch)
    }
  }

  /// Removes a key here whose value in the tier is not known.
  func drop(_ key: SharedKey) async throws {
    try await store.commit { [self] batch in
      // A fetch that is under way may have the old value.
      try state.setQueued(state.queued(in: &batch) &+ 1, in: &batch)
      try removeCopy(of: key, olderThan: nil, in: &batch)
    }
  }

  /// Removes every copy of a namespace.
  func clear(_ namespace: String, at position: Position?) async throws {
    if let position { recent.note(RecentChanges.name(ofNamespace: namespace), at: position) }
    try await store.commit { [self] batch in
      if position == nil { try outbox.add(.namespace(namespace), in: &batch) }
      _ = try batch.clear(store.namespace(namespace))
    }
  }

  /// Removes every entry with a tag.
  func invalidate(_ tag: String, at position: Position?) async throws {
    if let position { recent.note(RecentChanges.name(ofTag: tag), at: position) }
    if position == nil {
      try await store.commit { [self] batch in try outbox.add(.tag(tag), in: &batch) }
    }
    try await store.invalidateInSteps(tag: tag)
  }

  /// Removes a copy unless it is as new as that position.
  @discardableResult
  func removeCopy(
    of key: SharedKey, olderThan position: Position?, in batch: inout WriteBatch
  ) throws -> Bool {
    let namespace = store.namespace(key.namespace)
    guard let entry = try batch.entry(for: key.bytes, in: namespace) else { return false }
    if let position, let stamp = entry.metadata.flatMap({ ValueStamp(bytes: $0) }),
      stamp.version >= position
    {
      return false
    }
    // An expired entry is removed as well, so that no window serves it.
    try batch.remove(key.bytes, from: namespace)
    return true
  }

  private static func names(of key: SharedKey, tags: [String]) -> [[UInt8]] {
    [RecentChanges.name(of: key), RecentChanges.name(ofNamespace: key.namespace)]
      + tags.map(RecentChanges.name(ofTag:))
  }
}
