import LMDB
import LarderSystem

/// Removes the entries of cleared namespaces in bounded steps: clearing only gives a namespace another id.
enum GarbageCollector {
  /// How many entries a write removes beside its own work.
  static let perWrite = 32

  /// Removes up to `limit` entries; returns how many it was.
  @discardableResult
  static func reclaim(limit: Int, _ writer: inout EntryWriter) throws(LarderError) -> Int {
    var reclaimed = 0
    while reclaimed < limit, writer.state.garbage > 0 {
      guard let id = try writer.firstGarbage() else {
        writer.updateStore { $0.garbage = 0 }
        break
      }
      let entryKeys = try writer.entryKeys(of: id, limit: limit - reclaimed)
      var damaged: Set<[UInt8]> = []
      for entryKey in entryKeys {
        if case .entry(let entry) = try writer.contents(of: entryKey) {
          try writer.erase(entry)
        } else {
          damaged.insert(entryKey)
          try writer.withTransaction { transaction throws(LarderError) in
            _ = try transaction.remove(entryKey, from: .main)
          }
        }
      }
      try writer.dropTags(of: damaged)
      reclaimed += entryKeys.count
      if reclaimed < limit { try writer.dropGarbage(id) }
    }
    return reclaimed
  }
}

extension EntryWriter {
  fileprivate mutating func firstGarbage() throws(LarderError) -> NamespaceID? {
    let seal = engine.seal
    return try withTransaction { transaction throws(LarderError) in
      for key in try transaction.keys(in: .main, from: MetadataKey.garbage) {
        // A damaged record must not have the entries of another namespace removed.
        if let record = try transaction.copy(of: key, in: .main),
          seal.open(record.span, for: key) != nil, let id = MetadataKey.id(of: key.span)
        {
          return id
        }
        try transaction.remove(key, from: .main)
      }
      return nil
    }
  }

  fileprivate mutating func entryKeys(
    of id: NamespaceID, limit: Int
  ) throws(LarderError) -> [[UInt8]] {
    try withTransaction { transaction throws(LarderError) in
      try transaction.keys(in: .main, from: id.prefix, limit: limit)
    }
  }

  /// Removes what damaged entries of a cleared namespace have left in the indexes, and the id itself: another namespace may
  /// get it.
  fileprivate mutating func dropGarbage(_ id: NamespaceID) throws(LarderError) {
    let prefix = id.prefix
    let indexes = engine.indexes
    dropCounters(of: id)
    try flushIndexes()
    try withTransaction { transaction throws(LarderError) in
      for database in [indexes.deadlines, indexes.queue, indexes.chunks] {
        try transaction.remove(try transaction.keys(in: database, from: prefix), from: database)
      }
      try transaction.remove(MetadataKey.garbage(id), from: .main)
      try transaction.remove(MetadataKey.counters(id), from: .main)
    }
    updateStore { $0.garbage -= min($0.garbage, 1) }
  }
}
