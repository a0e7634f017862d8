import LMDB

extension WriteBatch {
  /// Looks up, before the first change, what the data file's limit leaves.
  ///
  /// - Returns: false if the process keeps to another limit, which must be set right before a transaction can begin.
  mutating func openDisk() throws(LarderError) -> Bool {
    let limit = try limits.disk
    guard limit == engine.environment.fileLimit else { return false }
    guard let limit else { return true }
    let databases = engine.indexes.all
    let (available, used) = try read { transaction throws(LMDBError) in
      (
        try transaction.availablePages(upTo: DiskRoom.enough, limit: limit),
        try transaction.usedPages(of: databases)
      )
    }
    disk = DiskRoom(limit: limit, pageSize: engine.pageSize, available: available, used: used)
    return true
  }

  /// Whether a value of so many bytes with its header goes into pages of its own, one after the other, or into chunks.
  ///
  /// LMDB wants them in a row. Where it may find none the value is cut.
  mutating func needsChunks(value: Int, recordCount: Int) throws(LarderError) -> Bool {
    if let least = engine.chunksAbove, value > least { return true }
    guard let disk, value > engine.pageSize else { return false }
    let run = pages(ofRecord: recordCount)
    let spent = disk.spent
    return try read { transaction throws(LMDBError) in
      // What LMDB finds after other changes cannot be known; then only room behind the last page is sure.
      spent == 0
        ? try !transaction.hasRun(of: run, afterTaking: DiskRoom.perEntry * 4, limit: disk.limit)
        : try transaction.pagesBehindLast(limit: disk.limit) < run + spent
    }
  }

  func pages(ofRecord count: Int) -> Int {
    (count + 16 + engine.pageSize - 1) / engine.pageSize
  }

  /// Makes room in the data file for an entry: what was cleared goes first, then what has expired, then what the
  /// namespaces whose turn it is choose, at most twice the entry's bytes and a little.
  mutating func makeRoomOnDisk(
    for weight: Weight, isChunked: Bool, kept: Set<[UInt8]>
  ) throws(LarderError) {
    guard let room = disk else { return }
    let own =
      isChunked
      ? weight.size / engine.chunkSize + weight.size / (engine.chunkSize * 64) + 2
      : weight.stored > engine.pageSize / 2 ? pages(ofRecord: weight.stored) : 0
    let needed = max(own, 1)
    guard needed + DiskRoom.kept <= room.usable else {
      throw LarderError(
        .overLimit,
        "a value of \(weight.size) bytes does not fit into \(engine.environment.path), which may have \(room.limit) bytes on disk",
        hint: "raise the store's disk limit, or store less")
    }
    try lowerUse(to: room.usable - needed, for: weight.size, kept: kept)
    disk?.spend(pages: own, stored: weight.stored)
    if let room = disk, room.spent + DiskRoom.kept > room.available {
      pagesShort = needed
      throw fail(LarderError(.full, "no room is left on disk"))
    }
  }

  /// Whether more pages are used.
  func isOver(_ pages: Int) -> Bool {
    do {
      return try transaction.usedPages(of: engine.indexes.all) > pages
    } catch {
      // The next change meets the same error and says it.
      return false
    }
  }

  /// Evicts until no more than so many pages are used, or as much has left as may for a write of so many bytes.
  mutating func lowerUse(to pages: Int, for size: Int, kept: Set<[UInt8]>) throws(LarderError) {
    guard isOver(pages) else { return }
    for _ in 0..<16 where state.garbage > 0 && isOver(pages) { _ = try reclaim(limit: 64) }
    try removeExpired(in: nil, keeping: kept) { batch in batch.isOver(pages) }
    guard state.garbage == 0, isOver(pages) else { return }
    let before = state.bytes
    // In a store full of small entries no page becomes free before many have left. The reserve bridges that.
    let isDeep = isOver(pages + (disk?.reserve ?? 0) / 2)
    let most = UInt64(2 * size + (isDeep ? 1_000_000 : 64_000))
    try giveWay(for: .evictedForDisk, kept: kept) { batch in
      before &- batch.state.bytes < most && before >= batch.state.bytes && batch.isOver(pages)
    }
  }
}
