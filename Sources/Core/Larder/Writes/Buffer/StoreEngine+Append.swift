import LMDB
import LarderSystem
import Synchronization

enum WriteCondition {
  case always
  case unlessFresh
  /// The entry must have this version; nil means that there must be no entry.
  case over(UInt64?)

  func admits(_ former: EntryHeader?, _ state: Store.Entry.State) -> Bool {
    switch self {
    case .always: true
    case .unlessFresh: former == nil || state != .fresh
    case .over(let version): (state == .expired ? nil : former?.version) == version
    }
  }
}

/// Writes of single entries through the write buffer, without a commit.
extension StoreEngine {
  /// The buffer, the generation of the metadata in the buffer's base, and the namespace in that generation.
  private typealias Target = (buffer: WriteBuffer, generation: UInt64, namespace: KnownNamespace)

  /// Stores a value in the write buffer. Nil if only a transaction can store the value, `.some(nil)` if the condition is false.
  func append(
    _ value: Span<UInt8>, for key: Span<UInt8>, in handle: NamespaceHandle,
    _ attributes: EntryAttributes, if condition: WriteCondition = .always
  ) throws(LarderError) -> Stored?? {
    guard value.count <= WriteBuffer.largestValue, attributes.isPlain,
      let target = buffered(key, of: handle),
      let limits = writes.settings.withLock({
        $0?.generation == target.generation ? $0?.settings.limits : nil
      })
    else { return nil }
    let (now, namespace) = (clock.now, target.namespace)
    try limits.checkSize(value.count, under: namespace.rules, named: handle.name)
    let lifetime = try Lifetime(attributes.expires, stale: attributes.stale, in: namespace, at: now)
    if lifetime.idle != nil { return nil }
    let terms = PutTerms(attributes: attributes, owners: [], lifetime: lifetime)
    let isConditional = if case .always = condition { false } else { true }
    return try change(key, of: handle, target, readsLarge: isConditional) {
      former -> WriteBuffer.Answer<Stored?> in
      let before = former.entry?.header
      guard
        condition.admits(
          before, before.map { clock.state(of: $0, at: now.milliseconds) } ?? .expired)
      else { return .done(nil) }
      switch target.buffer.append(
        value, for: key, in: namespace, over: former, { changes.isWatched },
        { terms.header(key, version: $0, replacing: before, in: namespace, at: now) })
      {
      case .done(let header):
        access.written(
          former.keyHash, isNew: before == nil, sequence: header.sequence, of: namespace.id,
          in: now.milliseconds / 60_000)
        return .done(
          Stored(id: namespace.id, header: header, moment: former.snapshot &+ former.state.stamp))
      case .outdated: return .outdated
      case .refused: return .refused
      }
    }
  }

  /// Calls `change` with the fresh value and its header, or with nil, and stores the resulting value. Calls `change` again if
  /// another write happens meanwhile. Returns nil if only a transaction can make the change.
  func appendReplacement<Result>(
    for key: Span<UInt8>, in handle: NamespaceHandle,
    _ change: ([UInt8]?, EntryHeader?) throws(LarderError) -> ([UInt8], EntryAttributes, Result)
  ) throws(LarderError) -> Result? {
    for _ in 0..<8 where buffered(key, of: handle) != nil {
      let transaction = try reader.beginLookup(key, of: handle)
      let id = try reader.identify(handle, in: transaction)
      let found = try reader.lookUp(
        key, in: id, keyHash: Checksum.keyHash(of: key, in: id), at: clock.now.milliseconds,
        transaction)
      guard
        found.record.isEmpty
          || found.header.size > 0 && found.header.flags.isEmpty && found.header.fieldsCount == 0
      else { return nil }
      let isFresh = found.outcome == .fresh
      let version = isFresh || found.outcome == .stale ? found.header.version : nil
      let (value, attributes, result) = try change(
        isFresh ? found.payload.copied : nil, isFresh ? found.header : nil)
      guard
        let stored = try append(value.span, for: key, in: handle, attributes, if: .over(version))
      else { return nil }
      if stored != nil { return result }
    }
    return nil
  }

  /// Whether an unexpired entry was removed; nil if only a transaction can remove the entry.
  func appendRemoval(of key: Span<UInt8>, in handle: NamespaceHandle) throws(LarderError) -> Bool? {
    guard let target = buffered(key, of: handle) else { return nil }
    let now = clock.now.milliseconds
    return try change(key, of: handle, target) { former in
      // Only a transaction can count the removal of an expired entry as an expiry, so the append is refused.
      if let entry = former.entry, clock.state(of: entry.header, at: now) == .expired {
        return .refused
      }
      let answer = target.buffer.remove(
        key, in: target.namespace, over: former, { changes.isWatched }, removalTable)
      if case .done(true) = answer { access.forget(former.keyHash) }
      return answer
    }
  }

  private func buffered(_ key: Span<UInt8>, of handle: NamespaceHandle) -> Target? {
    guard let buffer = reader.buffer, buffer.appends,
      (1...BufferRecord.longestKey).contains(key.count),
      // In a forked child the handle's mutex may stay locked for ever, so `isOpen` (false in the child) is checked first.
      !environment.isWriting, environment.isOpen, let known = handle.known.withLock({ $0 }),
      buffer.isOpen(at: known.generation),
      // A loaded value that waits for its commit must be stored first, so this write needs a transaction.
      loads.writes.isEmpty, !buffer.isWatched || !changes.isWatched
    else { return nil }
    return (buffer, known.generation, known.namespace)
  }

  /// Makes a change based on the newest entry of the key. Nil if only a transaction can make the change.
  private func change<Result>(
    _ key: Span<UInt8>, of handle: NamespaceHandle, _ target: Target, readsLarge: Bool = false,
    _ body: (WriteBuffer.Former) -> WriteBuffer.Answer<Result>
  ) throws(LarderError) -> Result? {
    tries: for _ in 0..<8 {
      guard let former = try former(key, of: handle, target, readsLarge) else { break }
      switch body(former) {
      case .done(let result):
        if target.buffer.shouldCommit() { settleEarly() }
        if scheduleSettling() { settleInTime() }
        return result
      case .outdated: continue
      case .refused: break tries
      }
    }
    target.buffer.countBypass(in: target.namespace.id)
    return nil
  }

  /// The newest entry of a key. Nil if only a transaction can change that entry, or can replace a large value without reading it.
  private func former(
    _ key: Span<UInt8>, of handle: NamespaceHandle, _ target: Target, _ readsLarge: Bool
  ) throws(LarderError) -> WriteBuffer.Former? {
    let (buffer, id) = (target.buffer, target.namespace.id)
    let state = buffer.state
    if state.isFrozen || buffer.isForeign(state) { return nil }
    let keyHash = Checksum.keyHash(of: key, in: id)
    // This search comes before the lookup. So if the append later finds the same record, the lookup has seen that record, too.
    let record = buffer.find(key, in: id, keyHash: keyHash, of: state.generation)
    var former = WriteBuffer.Former(
      state: state, metadata: target.generation, snapshot: buffer.base(of: state),
      keyHash: keyHash, found: record)
    if let record {
      // The buffer has the newest entry, so no lookup in the data file is necessary. The record may be newer than `state`.
      let log = BufferLog(generation: state.generation, end: buffer.layout.logSize)
      return buffer.withEntry(at: record.offset, in: log) { record, _, _, header in
        former.entry = header.map { ($0, record.entryCount - $0.payloadStart) }
        return former
      }
    }
    let transaction = try reader.beginLookup(key, of: handle)
    guard try reader.identify(handle, in: transaction) == id else { return nil }
    former.snapshot = transaction.id
    do throws(LarderError) {
      if !buffer.knows(id) { former.counters = try metadata.counters(of: id, in: transaction) }
    } catch  where error.code == .damaged {
      // The counters are damaged. Only a transaction can count the entries again, so the append is refused.
      return nil
    }
    guard let found = try reader.find(key, keyHash, id: id, in: transaction) else { return former }
    let bytes = transaction.bytes(of: found)
    guard let header = EntryHeader(bytes), header.flags.isEmpty,
      // Nobody reads the value of an expired entry again, so this value is not verified.
      clock.state(of: header, at: clock.coarseNow) == .expired
        || (readsLarge || bytes.count <= WriteBuffer.largestFormer)
          && reader.isIntact(header, record: bytes, keyHash: keyHash)
    else { return nil }
    former.entry = (header, bytes.count - header.payloadStart)
    return former
  }
}
