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
    while reclaimed < limit, writer.context.state.garbage > 0 {
      guard let id = try first(&writer.context) else {
        writer.context.counters.updateStore { $0.garbage = 0 }
        break
      }
      let entryKeys = try writer.context.transaction.keys(
        in: .entries, from: id.prefix, limit: limit - reclaimed)
      var damaged: Set<[UInt8]> = []
      for entryKey in entryKeys {
        if case .entry(let entry) = try writer.contents(of: entryKey) {
          try writer.erase(entry)
        } else {
          damaged.insert(entryKey)
          try writer.context.transaction.remove(entryKey, from: .entries)
        }
      }
      try dropTags(of: damaged, &writer.context)
      reclaimed += entryKeys.count
      if reclaimed < limit { try drop(id, &writer) }
    }
    return reclaimed
  }

  private static func first(_ context: inout WriteContext) throws(LarderError) -> NamespaceID? {
    for key in try context.transaction.keys(in: .main, from: MetadataKey.garbage) {
      // A damaged record must not have the entries of another namespace removed.
      if let record = try context.transaction.copy(of: key, in: .main),
        context.engine.seal.open(record.span, for: key) != nil,
        let id = MetadataKey.id(of: key.span)
      {
        return id
      }
      try context.transaction.remove(key, from: .main)
    }
    return nil
  }

  /// Drops the tags of entries that were too damaged to say which they carried.
  private static func dropTags(
    of entryKeys: Set<[UInt8]>, _ context: inout WriteContext
  ) throws(LarderError) {
    if entryKeys.isEmpty { return }
    let tags = context.engine.indexes.tags
    var dangling: [[UInt8]] = []
    try context.transaction.forEach(in: tags, from: []) { key, _ in
      if let entryKey = IndexKey.tagged(key), entryKeys.contains(entryKey) {
        dangling.append(key)
      }
    }
    try context.transaction.remove(dangling, from: tags)
  }

  /// Removes the index records that damaged entries of a cleared namespace have left, and the id: another namespace may get it.
  private static func drop(
    _ id: NamespaceID, _ writer: inout EntryWriter
  ) throws(LarderError) {
    let indexes = writer.context.engine.indexes
    writer.context.counters.drop(id)
    writer.damaged.remove(id)
    try writer.indexes.flush(to: &writer.context.transaction)
    for database in [indexes.deadlines, indexes.queue, indexes.chunks] {
      try writer.context.transaction.remove(
        try writer.context.transaction.keys(in: database, from: id.prefix), from: database)
    }
    try writer.context.transaction.remove(MetadataKey.garbage(id), from: .main)
    try writer.context.transaction.remove(MetadataKey.counters(id), from: .main)
    writer.context.counters.updateStore { $0.garbage -= min($0.garbage, 1) }
  }
}
