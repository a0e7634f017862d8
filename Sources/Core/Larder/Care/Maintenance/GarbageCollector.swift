import LMDB
import LarderSystem

/// Removes the entries of cleared namespaces in small steps. A clear itself only gives the namespace another id.
enum GarbageCollector {
  /// The number of entries that a write removes in addition to its own work.
  static let perWrite = 32

  @discardableResult
  static func reclaim(limit: Int, _ session: inout WriteSession) throws(LarderError) -> Int {
    var reclaimed = 0
    while reclaimed < limit, session.state.garbage > 0 {
      guard let id = try first(&session) else {
        session.ledger.updateStore { $0.garbage = 0 }
        break
      }
      let entryKeys = try session.transaction.keys(
        in: .entries, from: id.prefix, limit: limit - reclaimed)
      var damaged: Set<[UInt8]> = []
      for entryKey in entryKeys {
        if case .entry(let entry) = try session.contents(of: entryKey) {
          try session.remove(entry, reason: nil)
        } else {
          damaged.insert(entryKey)
          try session.transaction.remove(entryKey, from: .entries)
          session.orphanDependents(of: entryKey)
        }
      }
      try dropTags(of: damaged, &session)
      reclaimed += entryKeys.count
      if reclaimed < limit { try drop(id, &session) }
    }
    return reclaimed
  }

  private static func first(_ session: inout WriteSession) throws(LarderError) -> NamespaceID? {
    // Reads one key at a time, because thousands of namespaces may be cleared.
    let prefix = MetadataKey.garbage
    while let key = try session.transaction.keys(in: .main, from: prefix, limit: 1).first {
      // Checks the record, because a damaged record could name an id in use, whose entries would be removed.
      if let record = try session.transaction.copy(of: key, in: .main),
        session.engine.seal.open(record.span, for: key) != nil,
        let id = MetadataKey.id(of: key.span)
      {
        return id
      }
      guard try session.transaction.remove(key, from: .main) else { break }
    }
    return nil
  }

  /// Removes the tag records of damaged entries, whose tags cannot be read.
  private static func dropTags(
    of entryKeys: Set<[UInt8]>, _ session: inout WriteSession
  ) throws(LarderError) {
    if entryKeys.isEmpty { return }
    let tags = session.engine.indexes.tags
    var dangling: [[UInt8]] = []
    try session.transaction.read { lmdb throws(LMDBError) in
      try lmdb.forEach(in: tags) { key, _ throws(LMDBError) in
        let key = key.copied
        if let entry = IndexKey.tagged(key), entryKeys.contains(entry) { dangling.append(key) }
      }
    }
    try session.transaction.remove(dangling, from: tags)
  }

  /// Removes the index records that damaged entries of a cleared namespace have left, so that another namespace can get the id.
  private static func drop(_ id: NamespaceID, _ session: inout WriteSession) throws(LarderError) {
    let indexes = session.engine.indexes
    session.ledger.drop(id)
    session.damaged.remove(id)
    try session.flushDeadlines()
    for database in [indexes.deadlines, indexes.queue, indexes.chunks] {
      try session.transaction.remove(
        try session.transaction.keys(in: database, from: id.prefix), from: database)
    }
    try session.transaction.remove(MetadataKey.garbage(id), from: .main)
    try session.transaction.remove(MetadataKey.counters(id), from: .main)
    session.ledger.updateStore { $0.garbage -= min($0.garbage, 1) }
  }
}
