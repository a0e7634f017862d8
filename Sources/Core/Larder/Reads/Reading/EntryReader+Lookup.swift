import LMDB

/// The result of a key's lookup in a snapshot. The record is valid as long as the snapshot. A lookup has no side effects. For a
/// read of the application, the caller then calls `recordMiss` or `recordAccess` of ``EntryReader``.
struct Lookup: ~Escapable {
  enum Outcome {
    case fresh
    /// A value that is no longer fresh, but within its stale window.
    case stale
    /// A negative entry that has not expired, which says that the key has no value.
    case negative
    case expired
    /// The key has no entry, or an invalidated tag hides the entry.
    case absent
    /// The record cannot be read, has a wrong checksum, or lacks a required transform.
    case damaged

    @inline(__always)
    fileprivate init(_ state: Store.Entry.State) {
      switch state {
      case .fresh: self = .fresh
      case .stale: self = .stale
      case .expired: self = .expired
      }
    }
  }

  let outcome: Outcome
  let id: NamespaceID
  let keyHash: UInt64
  /// The header, with accesses that are not written to disk yet. Has no meaning for `absent`, and may be wrong for `damaged`.
  let header: EntryHeader
  /// The whole record; empty if the key has no record.
  let record: Span<UInt8>

  @inline(__always)
  @_lifetime(copy record)
  init(
    _ outcome: Outcome, id: NamespaceID, keyHash: UInt64, header: EntryHeader, record: Span<UInt8>
  ) {
    self.outcome = outcome
    self.id = id
    self.keyHash = keyHash
    self.header = header
    self.record = record
  }

  /// The value. For a value in chunks, the length and checksum of the value.
  @inline(__always)
  var payload: Span<UInt8> {
    @_lifetime(copy self)
    get { record.extracting(header.payloadStart..<record.count) }
  }

  /// The fields of the entry; nil if the fields are damaged.
  var fields: EntryFields? { EntryFields(record.extracting(header.fieldsRange)) }

  /// The time to idle; nil if accesses do not postpone the expiry of the entry.
  var idle: IdleInterval? { header.flags.contains(.idle) ? header.idle(in: record) : nil }
}

extension EntryHeader {
  /// The header in the result of a lookup whose record is absent or has no readable header.
  @inline(__always)
  static var none: EntryHeader {
    EntryHeader(
      flags: [], codec: 0, written: 0, expires: 0, staleUntil: 0, deadline: never, sequence: 0,
      version: 0)
  }
}

extension EntryReader {
  /// Finds the entry of a key in a snapshot: one descent of the tree, one parse, one checksum. For an entry whose header has no
  /// flag except `pinned`, the lookup copies, allocates, locks and counts nothing. The first lookup after a commit also looks
  /// up the root of the tree. `keyHash` is ``Checksum/keyHash(of:in:)``, and `now` is ``StoreClock/coarseNow``.
  @inline(__always)
  @_lifetime(borrow transaction)
  func lookUp(
    _ key: Span<UInt8>, in id: NamespaceID, keyHash: UInt64, at now: Int64,
    _ transaction: borrowing ReadTransaction
  ) throws(LarderError) -> Lookup {
    guard id != .store, let region = try find(key, keyHash, id: id, in: transaction) else {
      return Lookup(.absent, id: id, keyHash: keyHash, header: .none, record: Span())
    }
    let record = transaction.bytes(of: region)
    guard let header = EntryHeader(record), header.flags.isSubset(of: .pinned),
      !transforms.hasRequired
    else {
      return try lookUpUncommon(region, key: key, in: id, keyHash: keyHash, at: now, transaction)
    }
    let state = clock.state(of: header, at: now)
    // The value of an expired entry is not returned, so the value is not checked: the check of a large value reads the disk.
    guard state == .expired || isIntact(header, record: record, keyHash: keyHash) else {
      return Lookup(.damaged, id: id, keyHash: keyHash, header: header, record: record)
    }
    return Lookup(Lookup.Outcome(state), id: id, keyHash: keyHash, header: header, record: record)
  }

  /// Finds the entry of a key at the present time, under the namespace id that the handle has in the snapshot.
  @inline(__always)
  @_lifetime(borrow transaction)
  func lookUp(
    _ key: Span<UInt8>, of handle: NamespaceHandle, in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> Lookup {
    let id = try identify(handle, in: transaction)
    let keyHash = Checksum.keyHash(of: key, in: id)
    return try lookUp(key, in: id, keyHash: keyHash, at: clock.coarseNow, transaction)
  }

  /// The lookup for all other cases: a flag other than `pinned`, a damaged record, or a store that requires a transform.
  @inline(never)
  @_lifetime(borrow transaction)
  private func lookUpUncommon(
    _ region: Region, key: Span<UInt8>, in id: NamespaceID, keyHash: UInt64, at now: Int64,
    _ transaction: borrowing ReadTransaction
  ) throws(LarderError) -> Lookup {
    let record = transaction.bytes(of: region)
    guard let header = EntryHeader(record), header.flags.isSubset(of: .readable) else {
      return Lookup(.damaged, id: id, keyHash: keyHash, header: .none, record: record)
    }
    guard header.belongs(to: key, in: record),
      try !isHidden(header, id: id, record: record, in: transaction)
    else { return Lookup(.absent, id: id, keyHash: keyHash, header: .none, record: record) }
    var current = header
    if header.flags.contains(.idle), let idle = header.idle(in: record) {
      current = leftovers.accesses.current(
        header, idle: idle, entryKey: StoredKey.entry(key, in: id))
    }
    var outcome = Lookup.Outcome(clock.state(of: current, at: now))
    if outcome != .expired {
      if header.flags.contains(.negative) { outcome = .negative }
      if !isIntact(header, record: record, keyHash: keyHash) { outcome = .damaged }
    }
    // Some reads return the value of an expired entry, so the store must accept an expired entry, too.
    if !transforms.accepts(header, record) { outcome = .damaged }
    return Lookup(outcome, id: id, keyHash: keyHash, header: current, record: record)
  }

  /// The record in the write buffer, or else the record in the snapshot. In the buffer, a record without bytes is a removal.
  /// Long keys with equal first bytes may share a record key, so the caller compares the whole key.
  @inline(__always)
  func find(
    _ key: Span<UInt8>, _ keyHash: UInt64, id: NamespaceID,
    in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> Region? {
    if let region = transaction.overlay(of: keyHash) { return region.count == 0 ? nil : region }
    do throws(LMDBError) {
      if key.count <= StoredKey.longestShort {
        return key.isEmpty
          ? nil : try transaction.find(prefix: id.rawValue, key: key, suffix: 0, in: .entries)
      }
      return key.count > Key.longest
        ? nil : try transaction.find(StoredKey.entry(key, in: id), in: .entries)
    } catch { throw environment.larderError(error) }
  }

  /// Whether the checksum matches. Does not check a large value at each read; see ``VerifiedValues``.
  @inline(__always)
  func isIntact(_ header: EntryHeader, record: Span<UInt8>, keyHash: UInt64) -> Bool {
    record.count > VerifiedValues.threshold
      ? isIntactLarge(header, record: record, keyHash: keyHash)
      : EntryHeader.isIntact(record, keyHash: keyHash)
  }

  @inline(never)
  private func isIntactLarge(_ header: EntryHeader, record: Span<UInt8>, keyHash: UInt64) -> Bool {
    let mark = VerifiedValues.limited(
      VerifiedValues.mark(of: record, header, keyHash: keyHash), ofSize: record.count,
      at: clock.coarseNow)
    if verified.contains(mark) { return true }
    guard EntryHeader.isIntact(record, keyHash: keyHash) else { return false }
    verified.insert(mark)
    return true
  }
}
