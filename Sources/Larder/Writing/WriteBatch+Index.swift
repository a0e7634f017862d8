import LMDB

extension WriteBatch {
  /// Brings the deadline index up to an entry that is due at `due` and indexed at `indexed`; returns where it is indexed
  /// now.
  ///
  /// A deadline that moves later leaves the index alone: the purge meets the old record, sees that the entry lives on and
  /// indexes it anew. A refresh then writes the entry and nothing else.
  mutating func index(_ slot: [UInt8], due: Int64, indexed: Int64) throws(LarderError) -> Int64 {
    if indexed != EntryHeader.never, due >= indexed { return indexed }
    try unindex(slot, deadline: indexed)
    guard due != EntryHeader.never else { return EntryHeader.never }
    // Times before 1970 come first of all.
    let deadline = max(due, 0)
    let key = IndexKey.deadline(deadline, entry: slot)
    let deadlines = engine.indexes.deadlines
    try change { transaction throws(LMDBError) in try transaction.put([], for: key, in: deadlines) }
    state.nextDue = min(state.nextDue, UInt64(deadline))
    return deadline
  }

  mutating func unindex(_ slot: [UInt8], deadline: Int64) throws(LarderError) {
    guard deadline != EntryHeader.never else { return }
    let key = IndexKey.deadline(deadline, entry: slot)
    let deadlines = engine.indexes.deadlines
    try change { transaction throws(LMDBError) in _ = try transaction.remove(key, from: deadlines) }
  }

  mutating func indexTags(_ tags: [[UInt8]], before: [[UInt8]], slot: [UInt8]) throws(LarderError) {
    let index = engine.indexes.tags
    for tag in before where !tags.contains(tag) {
      try change { transaction throws(LMDBError) in
        _ = try transaction.remove(IndexKey.tag(tag, entry: slot), from: index)
      }
    }
    for tag in tags where !before.contains(tag) {
      try change { transaction throws(LMDBError) in
        try transaction.put([], for: IndexKey.tag(tag, entry: slot), in: index)
      }
    }
  }

  mutating func writeChunks(_ value: Span<UInt8>, version: UInt64, id: NamespaceID)
    throws(LarderError)
  {
    let chunks = engine.indexes.chunks
    let size = engine.chunkSize
    var offset = 0
    var index: UInt32 = 0
    while offset < value.count {
      let key = IndexKey.chunk(index, of: version, in: id)
      let piece = value.extracting(offset..<min(offset + size, value.count))
      try put(piece, for: key, in: chunks)
      offset += size
      index += 1
    }
  }

  mutating func removeChunks(of entry: StoredEntry) throws(LarderError) {
    let chunks = engine.indexes.chunks
    var index: UInt32 = 0
    while true {
      let key = IndexKey.chunk(index, of: entry.header.version, in: entry.id)
      let wasThere = try change { transaction throws(LMDBError) in
        try transaction.remove(key, from: chunks)
      }
      if !wasThere { return }
      index += 1
    }
  }
}
