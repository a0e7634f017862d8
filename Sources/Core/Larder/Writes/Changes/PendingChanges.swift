/// The changes of a batch for subscribers. The batch writes each change into the ring, and its commit publishes the changes.
struct PendingChanges {
  let feed: ChangeFeed
  let first: UInt64
  let transaction: UInt64
  private(set) var count: UInt64 = 0
  var names: [NamespaceID: [UInt8]] = [:]

  fileprivate mutating func add(_ record: ChangeRecord) {
    feed.ring.write(record, at: first + count)
    count += 1
  }

  func prepare() { if count > 0 { feed.ring.prepare(first + count, transaction: transaction) } }
  func publish() { if count > 0 { feed.publish(first + count) } }
  func discard() { if count > 0 { feed.ring.discard(first + count) } }
}

extension WriteSession {
  @inline(__always)
  mutating func wantsNextChange() -> Bool {
    if changes != nil { return true }
    effects.hasUnrecordedChanges = true
    return false
  }

  mutating func record(
    _ kind: ChangeRecord.Kind, reason: RemovalReason? = nil, id: NamespaceID, name: [UInt8],
    key: [UInt8] = [], before: Int? = nil, after: Int? = nil, expires: Int64 = EntryHeader.never
  ) {
    guard wantsNextChange(), let pending = changes else { return }
    let record = ChangeRecord(
      kind, reason: reason, id: id, name: name, key: key, before: before, after: after,
      expires: expires == EntryHeader.never ? nil : Timestamp(milliseconds: expires), time: now,
      transaction: pending.transaction, process: pending.feed.process)
    changes?.add(record)
  }

  mutating func nameForSubscribers(of id: NamespaceID) throws(LarderError) -> [UInt8] {
    if let known = changes?.names[id] { return known }
    // A damaged namespace must not stop this change. After any other error, the batch cannot be committed.
    let name = Array(((try? namespace(of: id))?.name ?? "").utf8)
    changes?.names[id] = name
    return name
  }
}
