import LMDB
import LarderSystem

extension EntryReader {
  @inline(__always)
  func identify(
    _ handle: NamespaceHandle, in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> NamespaceID {
    do throws(LMDBError) { return try handle.id(in: transaction, seal) } catch {
      throw environment.larderError(error)
    }
  }

  /// A read of the application: finds the entry under `key`, and passes a fresh value to `body`. If `recordsAccess` is true,
  /// records the access in the access table, and queues an expired entry for removal. If `isKnown` returns true, the caller has
  /// the value in memory. Such a read is an access, too, because the store must not evict the values that are read most.
  @inline(__always)
  func lend(
    _ key: Span<UInt8>, of handle: NamespaceHandle, id: NamespaceID,
    in transaction: borrowing ReadTransaction, recordsAccess: Bool,
    unless isKnown: (EntryHeader) -> Bool = { _ in false }, _ body: (Span<UInt8>) throws -> Void
  ) throws {
    let keyHash = Checksum.keyHash(of: key, in: id)
    let words = access.words
    let accesses = words.view
    let bucket = recordsAccess ? accesses.fetchedBucket(of: keyHash) : nil
    let now = clock.coarseNow
    let found = try lookUp(key, in: id, keyHash: keyHash, at: now, transaction)
    guard found.outcome == .fresh else {
      recordMiss(found, key: key, of: handle, in: transaction, recordsAccess: recordsAccess)
      return
    }
    // Without another flag, the value is in one piece, and the entry has no field that a read needs.
    guard found.header.flags.isSubset(of: .pinned) else {
      try lendUncommon(
        found, key: key, of: handle, in: transaction, at: now, recordsAccess: recordsAccess,
        unless: isKnown, body)
      return
    }
    handle.count(.hits, stripe: transaction.stripe)
    if let bucket {
      accesses.touch(
        keyHash, bucket: bucket, in: now / 60_000,
        isRecent: accesses.isRecent(found.header.sequence, of: id))
    }
    if isKnown(found.header) { return }
    try body(found.payload)
  }

  /// Passes the fresh value of an entry with a flag other than `pinned` to `body`.
  @inline(never)
  private func lendUncommon(
    _ found: borrowing Lookup, key: Span<UInt8>, of handle: NamespaceHandle,
    in transaction: borrowing ReadTransaction, at now: Int64, recordsAccess: Bool,
    unless isKnown: (EntryHeader) -> Bool, _ body: (Span<UInt8>) throws -> Void
  ) throws {
    if isKnown(found.header.remembered(found.idle)) {
      handle.count(.hits, stripe: transaction.stripe)
      if recordsAccess { recordAccess(found, key: key, at: now) }
      return
    }
    let done: Void? = try withValue(of: found, key: key, in: transaction) { value in
      handle.count(.hits, stripe: transaction.stripe)
      if recordsAccess { recordAccess(found, key: key, at: now) }
      try body(value)
    }
    if done == nil { handle.count(.damaged, stripe: transaction.stripe) }
  }

  /// Passes the value of a lookup to `body`, after assembling chunks and undoing transforms. Returns nil for a damaged value.
  func withValue<Result>(
    of found: borrowing Lookup, key: Span<UInt8>, in transaction: borrowing ReadTransaction,
    _ body: (Span<UInt8>) throws -> Result
  ) throws -> Result? {
    if found.header.flags.isDisjoint(with: [.chunked, .transformed]) {
      return try body(found.payload)
    }
    let value = try wholeValue(
      found.payload, found.header, found.fields, key: key.copied, in: found.id, transaction)
    return try value.map { try body($0.span) }
  }

  /// The original bytes of a value that is in chunks or has transforms; nil if the value or `fields` are damaged.
  func wholeValue(
    _ payload: Span<UInt8>, _ header: EntryHeader, _ fields: EntryFields?, key: [UInt8],
    in id: NamespaceID, _ transaction: borrowing ReadTransaction
  ) throws(LarderError) -> [UInt8]? {
    guard let fields else { return nil }
    let stored: [UInt8]?
    do throws(LMDBError) {
      stored =
        try header.flags.contains(.chunked)
        ? transaction.assemble(payload, version: header.version, in: id, indexes.chunks)
        : payload.copied
    } catch { throw environment.larderError(error) }
    guard header.flags.contains(.transformed), let stored else { return stored }
    let context = TransformContext(key, in: id, version: header.version, reader: self)
    return try transforms.revert(fields.transforms, stored, context)
  }

  /// Records a read of the application in the access table and, for an entry with a time to idle, in the pending accesses.
  func recordAccess(_ found: borrowing Lookup, key: Span<UInt8>, at now: Int64) {
    access.touch(found.keyHash, sequence: found.header.sequence, of: found.id, in: now / 60_000)
    if found.outcome != .stale, let idle = found.idle {
      leftovers.accesses.note(found.header, idle, key: key, id: found.id, at: now)
    }
  }

  /// Counts a read of the application that found no fresh value. Queues an expired entry for removal.
  @inline(never)
  func recordMiss(
    _ found: borrowing Lookup, key: Span<UInt8>, of handle: NamespaceHandle,
    in transaction: borrowing ReadTransaction, recordsAccess: Bool
  ) {
    let kind: ReadCounters.Kind
    switch found.outcome {
    case .absent, .negative: kind = .misses
    case .damaged: kind = .damaged
    case .stale: kind = .stale
    case .expired:
      kind = .expired
      if recordsAccess { leftovers.expirations.enqueue(key, in: found.id, found.header.version) }
    case .fresh: return
    }
    handle.count(kind, stripe: transaction.stripe)
  }
}
