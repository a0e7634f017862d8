import LMDB
import LarderSystem

extension WriteBatch {
  /// Carries out removals that reads asked for, where the entry is still expired.
  mutating func removeQueued(limit: Int) throws(LarderError) {
    let taken = engine.removals.take(limit)
    removing += taken
    for slot in taken {
      guard case .entry(let entry) = try occupant(of: slot),
        entry.header.state(at: now.milliseconds) == .expired
      else { continue }
      if try isLive(entry.id) { try remove(entry, reason: .expired) }
    }
  }

  /// Whether the id is a namespace's, and not one whose entries were cleared.
  mutating func isLive(_ id: NamespaceID) throws(LarderError) -> Bool {
    try read { transaction throws(LMDBError) in
      try transaction.value(for: MetadataKey.garbage(id), in: .main) == nil
    }
  }

  /// Removes up to `limit` entries of cleared namespaces for good; returns how many it was.
  @discardableResult
  mutating func reclaim(limit: Int) throws(LarderError) -> Int {
    var reclaimed = 0
    while reclaimed < limit, state.garbage > 0, let id = try firstGarbage() {
      let slots = try slots(of: id, limit: limit - reclaimed)
      var unreadable: Set<[UInt8]> = []
      for slot in slots {
        if case .entry(let entry) = try occupant(of: slot) {
          try eraseRecords(entry)
        } else {
          unreadable.insert(slot)
          try change { transaction throws(LMDBError) in
            _ = try transaction.remove(slot, from: .main)
          }
        }
      }
      try dropTags(of: unreadable)
      reclaimed += slots.count
      if reclaimed < limit {
        try removeRest(of: id)
        counters[id] = nil
        damaged.remove(id)
        try change { transaction throws(LMDBError) in
          try transaction.remove(MetadataKey.garbage(id), from: .main)
          try transaction.remove(MetadataKey.counters(id), from: .main)
        }
        state.garbage -= 1
      }
    }
    return reclaimed
  }

  /// What damaged entries of a cleared namespace have left: its id may be given to another one day.
  private mutating func removeRest(of id: NamespaceID) throws(LarderError) {
    let prefix = id.prefix
    for database in [engine.indexes.deadlines, engine.indexes.queue, engine.indexes.chunks] {
      var keys: [[UInt8]] = []
      try forEach(in: database, from: prefix) { key, _ in keys.append(key) }
      for key in keys {
        try change { transaction throws(LMDBError) in
          _ = try transaction.remove(key, from: database)
        }
      }
    }
  }

  private mutating func firstGarbage() throws(LarderError) -> NamespaceID? {
    let prefix = MetadataKey.garbage
    return try read { transaction throws(LMDBError) -> NamespaceID? in
      var cursor = try transaction.cursor(in: .main)
      guard let record = try cursor.seek(prefix.span), record.key.starts(with: prefix.span),
        record.key.count == prefix.count + 4
      else { return nil }
      return NamespaceID(rawValue: record.key.bigEndian(at: prefix.count))
    }
  }

  private mutating func slots(of id: NamespaceID, limit: Int) throws(LarderError) -> [[UInt8]] {
    let prefix = id.prefix
    return try read { transaction throws(LMDBError) in
      var found: [[UInt8]] = []
      var cursor = try transaction.cursor(in: .main)
      var record = try cursor.seek(prefix.span)
      while let entry = record, entry.key.starts(with: prefix.span), found.count < limit {
        found.append(entry.key.copied)
        record = try cursor.next()
      }
      return found
    }
  }

  /// Adds what this process's reads met to the store's own counts.
  mutating func mergeReads() throws(LarderError) {
    for handle in engine.allHandles where handle.unmerged() != ReadCounters() {
      let record: NamespaceRecord?
      do throws(LarderError) {
        record = try self.record(named: handle.name)
      } catch  where failure == nil {
        // A damaged record of one namespace must not keep the others from being written; its counts wait.
        continue
      }
      guard let record else { continue }
      var counters = try loadCounters(record.id)
      if counters.epoch < transaction.id {
        handle.begin(counters.epoch, seenAt: transaction.id - 1)
      } else if storedCounters[record.id] != nil {
        // This very batch has let them begin anew: what is not merged yet was read before.
        continue
      }
      let pending = handle.unmerged()
      for kind in ReadCounters.Kind.allCases { counters.reads[kind] &+= pending[kind] }
      self.counters[record.id] = counters
      handle.note(pending)
      merged.append((handle, pending))
    }
  }
}
