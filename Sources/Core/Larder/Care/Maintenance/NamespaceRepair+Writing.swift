import LMDB

extension NamespaceRepair {
  /// Repairs a small namespace now, and only marks a large namespace. O(entries of the namespace + records of the tag index).
  func runOrMark(_ session: inout WriteSession) throws(LarderError) {
    let tagRecords = try session.transaction.read { lmdb throws(LMDBError) in
      try lmdb.statistics(of: indexes.tags).records
    }
    let entries = try session.counters(of: id).entries
    let isSmall = entries <= UInt64(Self.largestAtOnce) && tagRecords <= 10 * Self.largestAtOnce
    let isMarked = try session.transaction.contains(MetadataKey.repair(id), in: .main)
    if isSmall { try run(&session) }
    if !isSmall || isMarked { try RepairMark.note(id, &session.transaction) }
  }

  private func run(_ session: inout WriteSession) throws(LarderError) {
    for part in Part.allCases {
      let chunks = part == .chunks ? try survey(&session).chunks : ChunkOwners()
      let (keys, _) = try session.transaction.read { lmdb throws(LMDBError) in
        try dangling(part, chunks, in: lmdb)
      }
      try drop(keys, part, chunks, &session)
    }
    try correct(by: survey(&session), &session)
  }

  private func survey(_ session: inout WriteSession) throws(LarderError) -> Survey {
    let recorded = try session.counters(of: id)
    return try session.transaction.read { lmdb throws(LMDBError) in try survey(recorded, in: lmdb) }
  }

  /// Removes the records that still lead to no entry. Checks each record again, because other writes may have changed entries.
  func drop(
    _ keys: [[UInt8]], _ part: Part, _ chunks: ChunkOwners, _ session: inout WriteSession
  ) throws(LarderError) {
    if keys.isEmpty { return }
    let database = database(of: part)
    try session.flushDeadlines()
    var keys = keys
    if part == .tags {
      keys = try session.transaction.read { lmdb throws(LMDBError) in
        try unexplained(keys, in: lmdb)
      }
    }
    for key in keys {
      let found = try session.transaction.read { lmdb throws(LMDBError) -> [IndexedEntry]? in
        guard let value = try lmdb.value(for: key, in: database),
          try mayDangle(part, key, value, chunks, in: lmdb)
        else { return nil }
        var unsound: [IndexedEntry] = []
        if part == .deadlines, let record = ExpiryRecord(key.span, value) {
          for indexed in record where try !isSound(indexed, in: lmdb) { unsound.append(indexed) }
        }
        return unsound
      }
      guard let unsound = found else { continue }
      for indexed in unsound { try session.removeDeadline(of: indexed) }
      if !unsound.isEmpty { continue }
      if part == .entries {
        try session.update(id) { $0.removals.count(.damaged, bytes: 0) }
        try session.recordDamagedRemoval(key)
      }
      try session.transaction.remove(key, from: database)
    }
    try session.flushDeadlines()
  }

  /// Corrects the counters and removes the mark. Returns false if more damage was found after the survey.
  func finish(_ survey: Survey, _ session: inout WriteSession) throws(LarderError) -> Bool {
    let key = MetadataKey.repair(id)
    guard let record = try session.transaction.copy(of: key, in: .main) else { return true }
    if try session.transaction.contains(MetadataKey.counters(id), in: .main), try session.isLive(id)
    {
      guard RepairMark.events(record.span) == survey.events else { return false }
      try correct(by: survey, &session)
    }
    try session.transaction.remove(key, from: .main)
    return true
  }

  private func correct(by survey: Survey, _ session: inout WriteSession) throws(LarderError) {
    let (recorded, counted) = (survey.recorded, survey.counted)
    try session.update(id) { counters in
      for count in [
        \NamespaceCounters.entries, \.bytes, \.stored, \.pinned, \.queue.windowEntries,
        \.queue.windowBytes,
      ] { counters[keyPath: count] &+= counted[keyPath: count] &- recorded[keyPath: count] }
    }
    session.ledger.updateStore { state in
      state.entries &+= counted.entries &- recorded.entries
      state.bytes &+= counted.bytes &- recorded.bytes
      state.stored &+= counted.stored &- recorded.stored
    }
  }

  /// Adds the missing index records of an entry. Removes the entry if it is damaged or contradicts itself.
  func mendEntry(_ entryKey: [UInt8], _ session: inout WriteSession) throws(LarderError) {
    let found = try session.transaction.read { lmdb throws(LMDBError) -> (StoredEntry?, Bool)? in
      guard let record = try lmdb.value(for: entryKey, in: .entries) else { return nil }
      guard let entry = StoredEntry(entryKey: entryKey, record: record), entry.key != nil,
        entry.storedKey.isWellFormed, entry.isIntact(record)
      else { return (nil, false) }
      return (entry, try isWhole(entry, record, in: lmdb))
    }
    guard let (entry, isWhole) = found else { return }
    guard let entry else { return try session.removeDamaged(entryKey) }
    guard isWhole else { return try session.remove(entry, reason: .damaged) }
    try session.moveDeadline(of: entryKey, from: nil, to: entry.header)
    try session.moveInQueue(entryKey, from: 0, to: entry.header.sequence)
    for key in entry.tagKeys { try session.transaction.put([], for: key, in: indexes.tags) }
  }

  private func isWhole(
    _ entry: StoredEntry, _ record: Span<UInt8>, in view: borrowing WriteTransaction
  ) throws(LMDBError) -> Bool {
    let header = entry.header
    guard header.flags.contains(.tagged) != entry.fields.tags.isEmpty,
      header.deadline == EntryHeader.never || header.deadline <= max(header.staleUntil, 0)
    else { return false }
    guard entry.isCut else { return true }
    let payload = record.extracting(header.payloadStart..<record.count)
    return try view.assemble(payload, version: header.version, in: id, indexes.chunks) != nil
  }
}
