import LMDB

/// What a cache has under a key, for a caller who may load what it lacks.
struct Found<Value: Sendable> {
  /// The entry; nil if there is nothing under the key, or nothing that can be read.
  var entry: CachedEntry?
  /// Nil for an entry that says there is nothing.
  var value: Value?
  var isFromMemory = false
  var seen: Seen
  /// When it was looked at.
  var now: Timestamp
}

/// What a load would replace.
struct Seen {
  /// The namespace as it was; ``NamespaceID/store`` if there was none.
  var id: NamespaceID
  /// The value's; nil if there was none.
  var version: UInt64?
}

extension Cache {
  /// One lookup. A value in memory that is still the entry's is not decoded again.
  ///
  /// - Parameter counts: whether it is a read that statistics and the policy hear of.
  func find(_ key: [UInt8], counts: Bool = true) throws -> Found<Value> {
    let engine = namespace.engine
    let kept = memory?.item(key.span)
    let transaction = try engine.beginRead()
    let id = try engine.identify(namespace.handle, in: transaction)
    var found = Found<Value>(seen: Seen(id: id), now: engine.clock.now)
    var size = 0
    var isUndecodable = false
    func isKnown(_ entry: CachedEntry) -> Bool {
      found.isFromMemory =
        entry.state == .fresh
        && kept?.isValue(of: entry.header, id: entry.id, at: engine.coarseNow) ?? false
      return found.isFromMemory
    }
    let entry = try engine.lendKept(
      key.span, of: namespace.handle, id: id, in: transaction, counts: counts,
      recordsAccess: counts && !namespace.store.isReadOnly, unless: isKnown
    ) { bytes in
      size = bytes.count
      found.value = decodeCounting(bytes)
      isUndecodable = found.value == nil
    }
    guard let entry else { return found }
    found.seen.version = entry.header.version
    if isUndecodable { return found }
    found.entry = entry
    if found.isFromMemory, let kept {
      if counts { memory?.confirm(kept, entry.header, snapshot: transaction.id) }
      found.value = unbox(kept)
    } else if counts, entry.state == .fresh, let value = found.value {
      memory?.countMiss()
      engine.followMemoryLimit(in: transaction)
      keep(
        value, for: key.span, size: size, id: entry.id, header: entry.header,
        snapshot: transaction.id)
    }
    return found
  }
}
