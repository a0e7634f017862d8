import LMDB

extension WriteSession {
  mutating func measureDisk() throws(LarderError) {
    guard let limit = budget.limits.disk else { return }
    let (pageSize, databases) = (engine.pageSize, engine.indexes.all)
    budget.disk = try transaction.read { lmdb throws(LMDBError) -> BatchPages? in
      // If the file is far from the limit, the batch need not count its pages.
      if lmdb.pagesBehindLast(limit: limit) > BatchPages.ample / pageSize { return nil }
      return BatchPages(
        limit: limit, pageSize: pageSize,
        available: try lmdb.availablePages(upTo: BatchPages.enough, limit: limit),
        used: try lmdb.usedPages(of: databases))
    }
  }

  var wantsCheckpoint: Bool {
    guard let disk = budget.disk, disk.available < disk.reserve / 2 else { return false }
    return engine.environment.hasOutdatedPin
  }

  /// The number of pages for records of the write buffer after this batch. Pages that the batch replaces do not count yet.
  var pagesForRecords: Int {
    guard let disk = budget.disk else { return BatchPages.ample / engine.pageSize / 2 }
    return max(0, disk.available - spentPages - disk.reserve / 2)
  }

  private var spentPages: Int { budget.disk?.spent(changing: transaction.changedPages) ?? 0 }

  /// Whether, after the changes of the batch until now, `pages` more pages can be taken and `kept` pages still remain.
  func hasPages(for pages: Int = 0, keeping kept: Int = BatchPages.kept) -> Bool {
    guard let disk = budget.disk else { return true }
    return spentPages + pages + kept <= disk.available
  }

  /// The number of entries that a cleanup may remove. The last free pages stay reserved for the caller's changes and the commit.
  var removalsWithPages: Int {
    guard let disk = budget.disk else { return .max }
    let free = disk.available - spentPages - BatchPages.forCleanup - BatchPages.kept
    return max(0, free / BatchPages.perRemoval)
  }

  /// The number of entries that a batch of removals may remove. If few pages are free, later batches continue: if the batch
  /// failed, other entries would be evicted for the batch.
  var removalsInOwnBatch: Int { max(BatchPages.leastRemoved, removalsWithPages) }

  var pagesTaken: Int { budget.missingPages + min(spentPages, budget.disk?.available ?? 0) }

  /// Whether a value must be cut into chunks. LMDB needs consecutive pages for a large value, and may not find enough.
  mutating func needsChunks(value: Int, recordCount: Int) throws(LarderError) -> Bool {
    guard let disk = budget.disk, value > engine.pageSize else { return false }
    let (run, spent) = (disk.pages(ofRecord: recordCount), spentPages)
    return try transaction.read { lmdb throws(LMDBError) in
      // If the batch has already changed something, only the unused pages at the end of the file are certainly consecutive.
      spent == 0
        ? try !lmdb.hasRun(of: run, afterTaking: BatchPages.branches, limit: disk.limit)
        : lmdb.pagesBehindLast(limit: disk.limit) < run + spent
    }
  }

  /// Whether the batch has the pages for a copy of a record, and also for the entry that is about to be stored.
  func hasPages(forCopyOf entry: StoredEntry) -> Bool {
    let count = entry.recordCount + (ledger.expected?.weight.size ?? 0)
    return hasPages(for: (budget.disk?.chunkPages(ofValue: count) ?? 0) + BatchPages.branches)
  }

  /// Takes the pages for a copy of a large record with other attributes. Returns whether the value must be cut into chunks.
  mutating func takePages(
    forCopyOf entry: StoredEntry, recordCount: Int
  ) throws(LarderError) -> Bool {
    guard let room = budget.disk else { return false }
    guard !entry.isCut, entry.valueCount > engine.pageSize else {
      budget.disk?.spend(pages: room.pages(ofLargeRecord: recordCount), stored: 0)
      return false
    }
    let isCut = try needsChunks(value: entry.valueCount, recordCount: recordCount)
    let own = isCut ? room.chunkPages(ofValue: entry.valueCount) : room.pages(ofRecord: recordCount)
    guard hasPages(for: own) else {
      // `PageReclaimer` frees twice this number. If both copies never fit, no eviction helps.
      if 2 * own + BatchPages.kept <= room.usable { budget.missingPages += own / 2 }
      throw overdraw()
    }
    budget.disk?.spend(pages: own, stored: recordCount)
    return isCut
  }

  private mutating func overdraw() -> LarderError {
    budget.isOverdrawn = true
    return transaction.fail(LarderError(.full, "no room is left on disk"))
  }

  /// The pages that an entry needs for a value in chunks or a large record. Throws if the data file can never have the room.
  func pages(for weight: EntryWeight, isChunked: Bool) throws(LarderError) -> Int {
    guard let room = budget.disk else { return 0 }
    let own =
      isChunked ? room.chunkPages(ofValue: weight.size) : room.pages(ofLargeRecord: weight.stored)
    guard max(own, 1) + BatchPages.kept <= room.usable else {
      throw LarderError(
        .overLimit,
        "a value of \(weight.size) bytes does not fit into \(engine.environment.path), "
          + "which may have \(room.limit) bytes on disk",
        hint: "raise the store's disk limit, or store less")
    }
    return own
  }

  mutating func makeRoomOnDisk(for weight: EntryWeight, taking own: Int) throws(LarderError) {
    guard let room = budget.disk else { return }
    let needed = max(own, 1)
    budget.missingPages = needed
    // Evictions also copy pages. So the evictions must leave as many free pages as the entry itself needs.
    try lowerUse(
      to: room.usable - needed, forBytes: weight.size,
      keeping: needed + BatchPages.branches + BatchPages.kept)
    budget.disk?.spend(pages: own, stored: weight.stored)
    guard hasPages() else { throw overdraw() }
    budget.missingPages = 0
  }

  /// Evicts until at most `pages` pages are in use, or until only `kept` pages are left for the batch. One write evicts at most
  /// twice the bytes of its entry plus 64 KB (1 MB if half of the reserve is in use), and one more entry with its group.
  mutating func lowerUse(to pages: Int, forBytes size: Int, keeping kept: Int) throws(LarderError) {
    let shouldContinue = { (session: borrowing WriteSession) in
      session.usesMore(than: pages) && session.hasPages(keeping: kept)
    }
    guard shouldContinue(self) else { return }
    for _ in 0..<64 where state.garbage > 0 && shouldContinue(self) {
      _ = try GarbageCollector.reclaim(limit: 16, &self)
    }
    try removeExpired(in: nil, while: shouldContinue)
    guard state.garbage == 0, shouldContinue(self) else { return }
    let before = state.bytes
    // If entries are small, only many evictions free a page. So few entries are evicted until half of the reserve is in use.
    let isDeep = usesMore(than: pages + (budget.disk?.reserve ?? 0) / 2)
    let most = UInt64(2 * size + (isDeep ? 1_000_000 : 64_000))
    try evictInTurn { session in
      before &- session.state.bytes < most && before >= session.state.bytes
        && shouldContinue(session)
    }
  }
}
