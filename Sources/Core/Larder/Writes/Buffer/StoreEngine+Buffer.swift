import LMDB
import LarderSystem
import Synchronization

extension StoreEngine {
  /// Commits the entries of the write buffer. Inside a write of this thread they are part of that write.
  func settle(lockTimeout: Duration? = nil) throws(LarderError) {
    guard let buffer = reader.buffer, buffer.hasRecords, !environment.isWriting else { return }
    guard isWritable.load(ordering: .relaxed) else { return try awaitSettled(buffer) }
    var mode = CommitMode.withoutCleanup
    mode.lockTimeout = lockTimeout
    try commit(mode) { _ in }
  }

  /// A process that may not write waits for those that do.
  private func awaitSettled(_ buffer: WriteBuffer) throws(LarderError) {
    let deadline = ContinuousClock.now + environment.lockTimeout
    let state = buffer.state
    while buffer.isStill(state), buffer.hasRecords {
      if try buffer.isContained(state, in: reader.beginRead().id) { return }
      if ContinuousClock.now > deadline {
        throw LarderError(
          .busy, "\(environment.path) has written entries that no process commits",
          hint: "open the store once for writing")
      }
      backOff(microseconds: 1000)
    }
  }

  /// Stores a value in the write buffer; nil if a transaction has to do that.
  func append(
    _ value: Span<UInt8>, for key: Span<UInt8>, in handle: NamespaceHandle,
    _ attributes: EntryAttributes
  ) throws(LarderError) -> Stored? {
    guard let buffer = reader.buffer, buffer.appends, value.count <= WriteBuffer.largestValue,
      (1...BufferRecord.longestKey).contains(key.count), attributes.isPlain,
      !environment.isWriting,
      let known = handle.known.withLock({ $0 }), buffer.isOpen(at: known.generation),
      let limits = settings.withLock({
        $0?.generation == known.generation ? $0?.settings.limits : nil
      }),
      !buffer.isWatched || !changes.isWatched
    else { return nil }
    let (namespace, now) = (known.namespace, clock.now)
    try SpaceBudget(limits).checkSize(value.count, in: namespace, named: handle.name)
    let lifetime = try Lifetime(
      attributes.expires, stale: attributes.stale, in: namespace, at: now)
    if lifetime.idle != nil { return nil }
    let terms = PutTerms(attributes: attributes, owners: [], lifetime: lifetime)
    for _ in 0..<8 {
      guard let (former, header, counters) = try former(key, of: handle, namespace, buffer) else {
        return nil
      }
      let write = BufferedWrite(value, for: key, in: namespace, replacing: former, counters)
      let answer = buffer.append(write) { version in
        terms.header(key, version: version, replacing: header, in: namespace, at: now)
      }
      switch answer {
      case .appended(let header):
        access.written(
          former.keyHash, isNew: former.size == nil, sequence: header.sequence, of: namespace.id,
          in: now.milliseconds / 60_000)
        scheduleSettling()
        return Stored(
          id: namespace.id, header: header, moment: former.snapshot &+ former.state.stamp)
      case .outdated: continue
      case .refused: return nil
      }
    }
    return nil
  }

  /// The entry that a write replaces; nil for an entry that only a transaction can replace.
  private func former(
    _ key: Span<UInt8>, of handle: NamespaceHandle, _ namespace: KnownNamespace,
    _ buffer: WriteBuffer
  ) throws(LarderError) -> (WriteBuffer.Former, EntryHeader?, NamespaceCounters?)? {
    let (state, id) = (buffer.state, namespace.id)
    if state.isFrozen { return nil }
    let keyHash = Checksum.keyHash(of: key, in: id)
    // Before the lookup: if the append finds the same record, the lookup has seen it, too.
    let record = buffer.find(key, in: id, keyHash: keyHash, state)
    let transaction = try reader.beginLookup(key, of: handle)
    guard try reader.identify(handle, in: transaction) == id else { return nil }
    let found = try reader.lookUp(key, in: id, keyHash: keyHash, at: clock.coarseNow, transaction)
    var former = WriteBuffer.Former(
      state: state, snapshot: transaction.id, id: id, keyHash: keyHash, found: record)
    let counters: NamespaceCounters?
    do throws(LarderError) {
      counters = buffer.knows(id) ? nil : try metadata.counters(of: id, in: transaction)
    } catch  where error.code == .damaged {
      // A transaction counts the entries again.
      return nil
    }
    if found.record.isEmpty { return (former, nil, counters) }
    guard found.outcome != .damaged, found.header.flags.isEmpty, found.header.size > 0 else {
      return nil
    }
    former.size = found.payload.count
    return (former, found.header, counters)
  }

  /// Commits the records, and makes a checkpoint of them, in time.
  private func scheduleSettling() {
    if isSettling.exchange(true, ordering: .relaxed) { return }
    timer(checkpointInterval) { [weak self] in self?.settleInTime() }
  }

  private func settleInTime() {
    isSettling.store(false, ordering: .relaxed)
    guard let buffer = reader.buffer, environment.isOpen else { return }
    do throws(LarderError) {
      try flush(lockTimeout: checkpointInterval)
      if environment.durability == .checkpointed { try checkpoint() }
    } catch {
      // The records stay, and every process sees them. The next write meets the same error and reports it.
      if environment.isOpen, buffer.hasRecords { scheduleSettling() }
    }
  }

  private func checkpoint() throws(LarderError) {
    do throws(LMDBError) { try environment.sync() } catch { throw self.error(error) }
  }
}
