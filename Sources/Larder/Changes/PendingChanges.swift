import LMDB
import LarderSystem

/// The changes of one batch, written into the ring as they are made and published when the batch is committed.
struct PendingChanges {
  let feed: ChangeFeed
  let transaction: UInt64
  private let first: UInt64
  private var count: UInt64 = 0
  /// The namespaces met so far.
  var names: [NamespaceID: [UInt8]] = [:]

  init(feed: ChangeFeed, first: UInt64, transaction: UInt64) {
    self.feed = feed
    self.first = first
    self.transaction = transaction
  }

  mutating func add(_ record: ChangeRecord) {
    feed.ring.write(record, at: first + count)
    count += 1
  }

  /// The batch is about to be committed.
  func prepare() {
    if count > 0 { feed.ring.prepare(first + count, transaction: transaction) }
  }

  func publish() {
    if count > 0 { feed.publish(first + count) }
  }

  /// The batch was not committed after all.
  func takeBack() {
    if count > 0 { feed.ring.takeBack(first + count) }
  }
}

extension WriteBatch {
  /// Whether somebody watches; else that there was something is all that is kept.
  @inline(__always)
  private mutating func collects() -> Bool {
    if notes != nil { return true }
    hasUnnoted = true
    return false
  }

  /// Notes a change of the entry `key`, for those who watch.
  @inline(__always)
  mutating func note(
    _ kind: ChangeRecord.Kind, _ key: Span<UInt8>, in id: NamespaceID, before: Int?, after: Int?
  ) throws(LarderError) {
    if collects() {
      try add(kind, key: key.copied, id: id, before: before, after: after)
    }
  }

  /// Notes that an entry got another end.
  @inline(__always)
  mutating func noteTouched(_ entry: StoredEntry) throws(LarderError) {
    if collects() {
      try add(
        .touched, key: key(of: entry), id: entry.id, before: entry.valueCount,
        after: entry.valueCount)
    }
  }

  /// Notes that an entry goes.
  @inline(__always)
  mutating func note(_ reason: RemovalReason, _ entry: StoredEntry) throws(LarderError) {
    if collects() {
      try add(
        .removed, reason: reason, key: key(of: entry), id: entry.id, before: entry.valueCount)
    }
  }

  /// Notes that a damaged record goes. Its key is what the slot says: of a long one, the beginning.
  @inline(__always)
  mutating func noteDamaged(_ slot: [UInt8]) throws(LarderError) {
    if collects() {
      let stored = StoredKey(bytes: Array(slot.dropFirst(4)))
      try add(
        .removed, reason: .damaged, key: stored.short ?? stored.bytes, id: slot.span.namespaceID)
    }
  }

  mutating func noteCleared(_ id: NamespaceID, _ name: String, bytes: UInt64) throws(LarderError) {
    if collects() {
      try add(.cleared, name: Array(name.utf8), id: id, before: Int(clamping: bytes))
    }
  }

  mutating func noteRenamed(_ id: NamespaceID, _ old: String, _ new: String) throws(LarderError) {
    if collects() {
      notes?.names[id] = Array(new.utf8)
      try add(.renamed, name: Array(old.utf8), key: Array(new.utf8), id: id)
    }
  }

  private func key(of entry: StoredEntry) -> [UInt8] { entry.key ?? entry.storedKey.bytes }

  @inline(never)
  private mutating func add(
    _ kind: ChangeRecord.Kind, reason: RemovalReason? = nil, name: [UInt8]? = nil,
    key: [UInt8] = [], id: NamespaceID, before: Int? = nil, after: Int? = nil
  ) throws(LarderError) {
    let isCut = kind != .renamed && key.count > Change.longestKey
    var known = name ?? []
    if name == nil { known = try knownName(of: id) }
    let record = ChangeRecord(
      kind, reason: reason, id: id, name: known,
      key: isCut ? Array(key.prefix(Change.longestKey)) : key, isKeyCut: isCut, before: before,
      after: after, time: now, transaction: transaction.id,
      process: notes?.feed.process ?? 0)
    notes?.add(record)
  }

  private mutating func knownName(of id: NamespaceID) throws(LarderError) -> [UInt8] {
    if let name = notes?.names[id] { return name }
    let name = Array((try name(of: id) ?? "").utf8)
    notes?.names[id] = name
    return name
  }
}
