import LMDB
import LarderSystem

extension WriteBatch {
  /// How many records of invalidated tags a write looks at beside what it is made for, and how many one that is made for
  /// it does.
  static let invalidatedPerWrite = 32
  static let invalidatedPerBatch = 500

  /// Removes entries that carry a tag, in one namespace or in all. What is left after `limit` records is hidden from now
  /// on; the key of the tombstone that says so is returned.
  mutating func invalidate(
    _ tag: [UInt8], in namespace: String?, limit: Int
  ) throws(LarderError) -> (removal: RemovalResult, tombstone: [UInt8]?) {
    var tombstone = Tombstone(tag: tag, horizon: try horizon(of: namespace))
    if tombstone.horizon.isEmpty { return (RemovalResult(), nil) }
    let (removal, isDone) = try removeInvalidated(&tombstone, limit: limit)
    stamp()
    if isDone { return (removal, nil) }
    var key = MetadataKey.tombstones
    state.generation &+= 1
    state.tombstones &+= 1
    // No two generations are the same, and each is that of one invalidation.
    key.append(bigEndian: state.generation)
    try put(tombstone.encoded.span, for: key, in: .main)
    return (removal, key)
  }

  /// Goes on with what an invalidation has left; false once nothing is.
  mutating func bury(_ key: [UInt8], limit: Int) throws(LarderError) -> (
    RemovalResult, shouldContinue: Bool
  ) {
    let stored = try read { transaction throws(LMDBError) -> Tombstone? in
      guard let record = try transaction.value(for: key, in: .main) else { return nil }
      return Tombstone(record)
    }
    // Another process may have come to its end, and a damaged one leads nowhere.
    guard var tombstone = stored else { return (RemovalResult(), try dropDamaged(key)) }
    let (removal, isDone) = try removeInvalidated(&tombstone, limit: limit)
    if isDone {
      try drop(key)
    } else {
      try put(tombstone.encoded.span, for: key, in: .main)
    }
    return (removal, !isDone)
  }

  /// Removes some of what invalidations of killed processes have left.
  mutating func buryFirst(limit: Int) throws(LarderError) {
    guard state.tombstones > 0 else { return }
    let prefix = MetadataKey.tombstones
    let first = try read { transaction throws(LMDBError) -> [UInt8]? in
      var cursor = try transaction.cursor(in: .main)
      guard let record = try cursor.seek(prefix.span), record.key.starts(with: prefix.span) else {
        return nil
      }
      return record.key.copied
    }
    guard let first else {
      state.tombstones = 0
      return
    }
    _ = try bury(first, limit: limit)
  }

  /// Whether an entry carries a tag that was invalidated since.
  mutating func isHidden(_ entry: StoredEntry) throws(LarderError) -> Bool {
    guard state.tombstones > 0, entry.header.flags.contains(.tagged) else { return false }
    let tags = entry.fields.tags
    return try read { transaction throws(LMDBError) in
      let prefix = MetadataKey.tombstones
      var cursor = try transaction.cursor(in: .main)
      var record = try cursor.seek(prefix.span)
      while let found = record, found.key.starts(with: prefix.span) {
        if let tombstone = Tombstone(found.value),
          tombstone.hides(entry.id, version: entry.header.version, tags: tags)
        {
          return true
        }
        record = try cursor.next()
      }
      return false
    }
  }

  private mutating func horizon(of namespace: String?) throws(LarderError) -> [NamespaceID: UInt64]
  {
    var horizon: [NamespaceID: UInt64] = [:]
    let affected = if let namespace { [namespace] } else { try names() }
    for name in affected {
      guard let record = try record(named: name) else { continue }
      horizon[record.id] = try loadCounters(record.id).next
    }
    return horizon
  }

  private mutating func removeInvalidated(
    _ tombstone: inout Tombstone, limit: Int
  ) throws(LarderError) -> (RemovalResult, isDone: Bool) {
    let prefix = tombstone.tag + [0]
    // Cleared since: what is left there has gone from the counts already, and is reclaimed.
    for id in tombstone.horizon.keys where try !isLive(id) { tombstone.horizon[id] = nil }
    let keys = try keys(with: prefix, behind: tombstone.reached, limit: limit)
    var removal = RemovalResult()
    for key in keys {
      let slot = Array(key.dropFirst(prefix.count))
      // Damaged ones are repaired in their own way.
      guard case .entry(let entry) = try occupant(of: slot),
        tombstone.hides(entry.id, version: entry.header.version, tags: entry.fields.tags)
      else { continue }
      try remove(entry, reason: .invalidated)
      removal += RemovalResult(entries: 1, bytes: entry.valueCount)
    }
    tombstone.reached = keys.last ?? tombstone.reached
    return (removal, keys.count < limit)
  }

  private mutating func keys(
    with prefix: [UInt8], behind position: [UInt8], limit: Int
  ) throws(LarderError) -> [[UInt8]] {
    let tags = engine.indexes.tags
    return try read { transaction throws(LMDBError) in
      var keys: [[UInt8]] = []
      var cursor = try transaction.cursor(in: tags)
      var record = try cursor.seek((position.isEmpty ? prefix : position).span)
      while let found = record, found.key.starts(with: prefix.span), keys.count < limit {
        let key = found.key.copied
        if key != position { keys.append(key) }
        record = try cursor.next()
      }
      return keys
    }
  }

  private mutating func drop(_ key: [UInt8]) throws(LarderError) {
    try change { transaction throws(LMDBError) in _ = try transaction.remove(key, from: .main) }
    state.tombstones &-= 1
    state.generation &+= 1
  }

  /// Drops a tombstone that is there and cannot be read; nothing is to go on with.
  private mutating func dropDamaged(_ key: [UInt8]) throws(LarderError) -> Bool {
    let isThere = try read { transaction throws(LMDBError) in
      try transaction.value(for: key, in: .main) != nil
    }
    if isThere { try drop(key) }
    return false
  }
}
