import Larder

/// The tier's values in one store, with their stamps as metadata. No process stores a value that is older than a known change.
struct LocalCopies: Sendable {
  /// The tag of copies that the tier does not have: values that were loaded while the tier could not be used.
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

  /// The state of the store when a request begins. If the history or `queued` has changed since, the value is not stored.
  struct Ticket: Sendable {
    /// The number of the log's history; nil before the first contact with the log.
    var epoch: UInt64?
    /// A number that rises with each queued removal, and with each key that this machine drops.
    var queued: UInt64
    /// All changes up to this position were applied. The position is the version of a value that is loaded without the tier.
    var applied: Position
  }

  func ticket() throws(LarderError) -> Ticket {
    // Another process may have made the file since this process opened a store that it only reads.
    if store.isReadOnly { recent.open(makesFile: false) }
    // The history is read first. If another history begins after that, the ticket has the old number, and nothing is stored.
    let epoch = try state.progress()?.epoch
    return Ticket(epoch: epoch, queued: try state.queued(), applied: recent.applied)
  }

  /// Whether a value that was current at a position is still current according to the applied records.
  func isCurrent(_ key: SharedKey, tags: [String], at position: Position) -> Bool {
    let subjects = [LogRecord.Subject.key(key), .namespace(key.namespace)]
    return recent.isCurrent(subjects + tags.map(LogRecord.Subject.tag), at: position)
  }

  /// Whether a value may be stored: the ticket is valid, no newer change is known, and the store has no newer fresh value.
  ///
  /// - Parameter current: a position at which the value was current; at least the version of the value.
  func mayStore(
    _ stamp: ValueStamp, current: Position, _ ticket: Ticket, for key: SharedKey, tags: [String],
    in batch: inout WriteBatch
  ) throws -> Bool {
    // Writers exclude each other, and the reader of the log notes a change before it removes copies. So either this writer sees
    // the change, or the reader finds this copy.
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

  // MARK: Values that the tier does not have

  /// Whether a value that was loaded without the tier may be stored. The tier may later have an older value of another machine.
  /// So the value is stored only while no copy is confirmed, and is removed before copies are confirmed.
  func mayStoreUnshared(
    _ stamp: ValueStamp, _ ticket: Ticket, for key: SharedKey, tags: [String],
    in batch: inout WriteBatch
  ) throws -> Bool {
    if recent.isRegainingTrust || standing(limit: .zero) == .confirmed { return false }
    // This value was loaded just now, so it is newer than a copy of the tier with an equal version.
    return try mayStore(
      ValueStamp(version: stamp.version, written: .max), current: stamp.version, ticket, for: key,
      tags: tags, in: &batch)
  }

  /// Confirms the copies: all changes before this time were applied.
  func confirm(monotonic: Duration, wall: Timestamp) async throws {
    // A write that stores an unshared value either sees this mark, or ends before the removal of unshared values begins.
    recent.setRegainingTrust(true)
    defer { recent.setRegainingTrust(false) }
    if standing(limit: .zero) != .confirmed {
      try await store.invalidateInSteps(tag: Self.unsharedTag)
    }
    recent.confirm(monotonic: monotonic, wall: wall)
  }

  func standing(limit: Duration) -> RecentChanges.Standing {
    recent.standing(at: store.roundedUpTimes, limit: limit)
  }

  // MARK: Changes of this machine

  /// Removes copies from this store. The position is the removal's place in the log; if it is nil, the outbox gets the removal.
  func remove(_ subject: LogRecord.Subject, at position: Position?) async throws {
    if let position { recent.note(subject, at: position) }
    try await store.commit { [self] batch in
      if position == nil { try outbox.add(subject, in: &batch) }
      _ = try removeCopies(of: subject, olderThan: position, in: &batch)
    }
    if case .tag(let tag) = subject { try await store.invalidateInSteps(tag: tag) }
  }

  /// Removes a key from this store, because the state of the key in the tier is unknown.
  func drop(_ key: SharedKey) async throws {
    try await store.commit { [self] batch in
      // A request under way may have fetched the old value. The new number invalidates its ticket, so the value is not stored.
      try state.setQueued(state.queued(in: &batch) &+ 1, in: &batch)
      try removeCopy(of: key, olderThan: nil, in: &batch)
    }
  }

  /// Removes and counts the copies of a key or a namespace. Does nothing for a tag, whose copies may be too many for one batch.
  func removeCopies(
    of subject: LogRecord.Subject, olderThan position: Position?, in batch: inout WriteBatch
  ) throws -> Int {
    switch subject {
    case .key(let key): try removeCopy(of: key, olderThan: position, in: &batch) ? 1 : 0
    case .namespace(let name): try batch.clear(store.namespace(name)).entries
    case .tag, .nothing: 0
    }
  }

  /// Removes a copy, but keeps a copy whose version is the position or later. Returns whether a copy was removed.
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
    // An expired entry is removed, too, because it could otherwise be served stale.
    try batch.remove(key.bytes, from: namespace)
    return true
  }
}
