import LMDB
import LarderSystem

extension StoreEngine {
  /// Finds the entry under `key` in a snapshot and lends its value to `body` if it is fresh.
  ///
  /// The whole read path: one lookup, the header, the clock, the checksum, a mark in the access table; nothing is copied,
  /// allocated or locked.
  ///
  /// - Parameters:
  ///   - recordsAccess: whether it is noted that the entry was used, or that it should be removed.
  ///   - isKnown: told which version of the value would be lent; if it answers true, none is, and it is no use.
  @inline(__always)
  func lend(
    _ key: Span<UInt8>, of handle: NamespaceHandle, in transaction: borrowing ReadTransaction,
    recordsAccess: Bool,
    unless isKnown: (NamespaceID, EntryHeader) -> Bool = { _, _ in false },
    _ body: (Span<UInt8>) throws -> Void
  ) throws {
    let id = try identify(handle, in: transaction)
    let place = Checksum.place(of: key, in: id)
    let words = access.words
    let uses = words.view
    let bucket = recordsAccess ? uses.fetchedBucket(of: place) : nil
    guard id != .store, let region = try find(key, id: id, in: transaction) else {
      handle.count(.misses, stripe: transaction.stripe)
      return
    }
    let record = transaction.bytes(of: region)
    let now = coarseNow
    guard let header = EntryHeader(record), header.flags.isSubset(of: .pinned)
    else {
      try lendUncommon(
        record, key: key, id: id, place: place, of: handle, in: transaction, at: now,
        recordsAccess: recordsAccess, unless: isKnown, body)
      return
    }
    guard
      admits(
        header, as: state(of: header, at: now), record: record, key: key, id: id, place: place,
        of: handle, in: transaction, recordsAccess: recordsAccess)
    else { return }
    handle.count(.hits, stripe: transaction.stripe)
    if isKnown(id, header) { return }
    if let bucket { uses.touch(place, bucket: bucket, in: now / 60_000) }
    try body(record.extracting(header.payloadStart..<record.count))
  }

  /// Whether an entry may be lent, being fresh and intact; counts why not.
  @inline(__always)
  private func admits(
    _ header: EntryHeader, as state: Store.Entry.State, record: Span<UInt8>, key: Span<UInt8>,
    id: NamespaceID, place: UInt64, of handle: NamespaceHandle,
    in transaction: borrowing ReadTransaction, recordsAccess: Bool
  ) -> Bool {
    guard state == .fresh else {
      missed(state, key: key, id: id, of: handle, in: transaction, recordsAccess: recordsAccess)
      return false
    }
    guard isIntact(header, record: record, place: place) else {
      handle.count(.damaged, stripe: transaction.stripe)
      return false
    }
    return true
  }

  @inline(__always)
  func identify(
    _ handle: NamespaceHandle, in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> NamespaceID {
    do throws(LMDBError) {
      return try handle.id(in: transaction)
    } catch {
      throw self.error(error)
    }
  }

  /// The record in the slot of `key`; for a long key the caller compares the whole.
  @inline(__always)
  func find(
    _ key: Span<UInt8>, id: NamespaceID, in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> Region? {
    do throws(LMDBError) {
      if key.count <= StoredKey.longestShort {
        return key.isEmpty
          ? nil : try transaction.find(prefix: id.rawValue, key: key, suffix: 0, in: .main)
      }
      return key.count > Key.longest
        ? nil : try transaction.find(StoredKey.entry(key, in: id), in: .main)
    } catch {
      throw self.error(error)
    }
  }

  /// Whether the checksum fits; large values are looked at once per version.
  @inline(__always)
  func isIntact(_ header: EntryHeader, record: Span<UInt8>, place: UInt64) -> Bool {
    let body = record.extracting(EntryHeader.size..<record.count)
    if body.count > VerifiedValues.threshold {
      return isIntactLarge(header, body: body, place: place)
    }
    return header.expectedChecksum(place: place, body: body) == header.checksum
  }

  @inline(never)
  private func isIntactLarge(_ header: EntryHeader, body: Span<UInt8>, place: UInt64) -> Bool {
    let mark = header.verifiedMark(place: place, count: body.count)
    if verified.contains(mark) { return true }
    guard header.expectedChecksum(place: place, body: body) == header.checksum else {
      return false
    }
    verified.insert(mark)
    return true
  }

  @inline(never)
  func missed(
    _ state: Store.Entry.State, key: Span<UInt8>, id: NamespaceID, of handle: NamespaceHandle,
    in transaction: borrowing ReadTransaction, recordsAccess: Bool
  ) {
    handle.count(state == .expired ? .expired : .stale, stripe: transaction.stripe)
    if state == .expired, recordsAccess { removals.enqueue(key, in: id) }
  }

  /// Keys of more than 250 bytes, values in chunks, entries that use keeps, that carry tags or that say there is nothing,
  /// and records that are none.
  @inline(never)
  private func lendUncommon(
    _ record: Span<UInt8>, key: Span<UInt8>, id: NamespaceID, place: UInt64,
    of handle: NamespaceHandle, in transaction: borrowing ReadTransaction, at now: Int64,
    recordsAccess: Bool, unless isKnown: (NamespaceID, EntryHeader) -> Bool,
    _ body: (Span<UInt8>) throws -> Void
  ) throws {
    guard let header = EntryHeader(record), header.flags.isSubset(of: .known) else {
      handle.count(.damaged, stripe: transaction.stripe)
      return
    }
    if header.flags.contains(.longKey), !header.hasKey(key, in: record) {
      handle.count(.misses, stripe: transaction.stripe)
      return
    }
    if try isHidden(header, id: id, record: record, in: transaction) {
      handle.count(.misses, stripe: transaction.stripe)
      return
    }
    let idle = header.flags.contains(.idle) ? header.idle(in: record) : nil
    var state = state(of: header, at: now)
    if idle != nil, state != .fresh {
      let slot = StoredKey.entry(key, in: id)
      state = self.state(of: current(header, idle: idle, slot: slot), at: now)
    }
    guard
      admits(
        header, as: state, record: record, key: key, id: id, place: place, of: handle,
        in: transaction, recordsAccess: recordsAccess)
    else { return }
    if header.flags.contains(.negative) {
      handle.count(.misses, stripe: transaction.stripe)
      return
    }
    if let idle, recordsAccess { noteUse(header, idle, key: key, id: id, at: now) }
    let told = header.remembered(idle)
    let payload = record.extracting(header.payloadStart..<record.count)
    guard header.flags.contains(.chunked) else {
      handle.count(.hits, stripe: transaction.stripe)
      if isKnown(id, told) { return }
      if recordsAccess { access.touch(place, in: now / 60_000) }
      try body(payload)
      return
    }
    if isKnown(id, told) {
      handle.count(.hits, stripe: transaction.stripe)
      return
    }
    guard let value = try assemble(payload, id: id, version: header.version, in: transaction) else {
      handle.count(.damaged, stripe: transaction.stripe)
      return
    }
    handle.count(.hits, stripe: transaction.stripe)
    if recordsAccess { access.touch(place, in: now / 60_000) }
    try body(value.span)
  }
}

extension EntryHeader {
  /// The whole key of an entry whose stored form is a hash: always the first field.
  func hasKey(_ key: Span<UInt8>, in record: Span<UInt8>) -> Bool {
    let start = Self.size + 5
    guard fieldsCount >= 5, record[Self.size] == EntryFields.Kind.key.rawValue,
      Int(record.halfWord(at: Self.size + 1)) == key.count, Int(fieldsCount) >= 5 + key.count
    else { return false }
    return record.extracting(start..<start + key.count).elementsEqual(key)
  }
}
