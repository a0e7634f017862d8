import LMDB
import LarderSystem

/// Collects the changes of a batch for subscribers, while there are any.
struct ChangeRecorder {
  private(set) var pending: PendingChanges?
  /// Whether something changed while nothing was recorded.
  private(set) var hasUnrecorded = false
  private let transaction: UInt64
  private let time: Timestamp
  /// The names of the namespaces so far.
  private var names: [NamespaceID: [UInt8]] = [:]

  init(_ pending: PendingChanges?, transaction: UInt64, at time: Timestamp) {
    self.pending = pending
    self.transaction = transaction
    self.time = time
  }

  @inline(__always)
  mutating func recordSet(
    _ key: Span<UInt8>, in id: NamespaceID, before: Int?, after: Int, expires: Int64,
    _ directory: NamespaceDirectory
  ) throws(LarderError) {
    guard wantsNext() else { return }
    add(
      .set, id: id, name: try name(of: id, directory), key: key.copied, before: before,
      after: after, expires: expires)
  }

  mutating func recordTouch(
    of entry: StoredEntry, expires: Int64, _ directory: NamespaceDirectory
  ) throws(LarderError) {
    guard wantsNext() else { return }
    add(
      .touched, id: entry.id, name: try name(of: entry.id, directory),
      key: Self.key(of: entry), before: entry.valueCount, after: entry.valueCount, expires: expires)
  }

  mutating func recordRemoval(
    of entry: StoredEntry, _ reason: RemovalReason, _ directory: NamespaceDirectory
  ) throws(LarderError) {
    guard wantsNext() else { return }
    add(
      .removed, reason: reason, id: entry.id, name: try name(of: entry.id, directory),
      key: Self.key(of: entry), before: entry.valueCount)
  }

  /// Of a damaged record of a long key, only the beginning of the key is known.
  mutating func recordDamagedRemoval(
    _ entryKey: [UInt8], _ directory: NamespaceDirectory
  ) throws(LarderError) {
    guard wantsNext() else { return }
    let stored = StoredKey(bytes: Array(entryKey.dropFirst(4)))
    let id = entryKey.span.namespaceID
    add(
      .removed, reason: .damaged, id: id, name: try name(of: id, directory),
      key: stored.short ?? stored.bytes)
  }

  mutating func recordClear(of id: NamespaceID, _ name: String, bytes: UInt64) {
    guard wantsNext() else { return }
    add(.cleared, id: id, name: Array(name.utf8), before: Int(clamping: bytes))
  }

  mutating func recordRename(of id: NamespaceID, _ old: String, to new: String) {
    guard wantsNext() else { return }
    names[id] = Array(new.utf8)
    add(.renamed, id: id, name: Array(old.utf8), key: Array(new.utf8))
  }

  /// The batch is about to be committed.
  func prepare() { pending?.prepare() }

  /// Whether the next change must be described; if not, this notes that there was one.
  @inline(__always)
  private mutating func wantsNext() -> Bool {
    if pending != nil { return true }
    hasUnrecorded = true
    return false
  }

  private mutating func add(
    _ kind: ChangeRecord.Kind, reason: RemovalReason? = nil, id: NamespaceID, name: [UInt8],
    key: [UInt8] = [], before: Int? = nil, after: Int? = nil, expires: Int64 = EntryHeader.never
  ) {
    let isCut = kind != .renamed && key.count > Change.longestKey
    let record = ChangeRecord(
      kind, reason: reason, id: id, name: name,
      key: isCut ? Array(key.prefix(Change.longestKey)) : key, isKeyCut: isCut, before: before,
      after: after,
      expires: expires == EntryHeader.never ? nil : Timestamp(milliseconds: expires), time: time,
      transaction: transaction, process: pending?.feed.process ?? 0)
    pending?.add(record)
  }

  private static func key(of entry: StoredEntry) -> [UInt8] { entry.key ?? entry.storedKey.bytes }

  private mutating func name(
    of id: NamespaceID, _ directory: NamespaceDirectory
  ) throws(LarderError) -> [UInt8] {
    if let name = names[id] { return name }
    let name = Array((try directory.name(of: id) ?? "").utf8)
    names[id] = name
    return name
  }
}

/// The changes of one batch, written into the ring as they are made and published when the batch is committed.
struct PendingChanges {
  let feed: ChangeFeed
  let transaction: UInt64
  private let first: UInt64
  private var count: UInt64 = 0

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
  func discard() {
    if count > 0 { feed.ring.discard(first + count) }
  }
}
