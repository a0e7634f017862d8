import LMDB
import LarderSystem

/// The disk limit. When a batch begins, it has a number of available pages, and each change may take some of them.
extension SpaceBudget {
  mutating func measureDisk(_ session: inout WriteSession) throws(LarderError) {
    guard let limit = limits.disk else { return }
    // If the file is far from the limit, the batch need not count its pages.
    let ample = BatchPages.ample / session.engine.pageSize
    if try session.transaction.read({ lmdb throws(LMDBError) in
      try lmdb.pagesBehindLast(limit: limit) > ample
    }) {
      return
    }
    let databases = session.engine.indexes.all
    let (available, used) = try session.transaction.read { lmdb throws(LMDBError) in
      (
        try lmdb.availablePages(upTo: BatchPages.enough, limit: limit),
        try lmdb.usedPages(of: databases)
      )
    }
    disk = BatchPages(
      limit: limit, pageSize: session.engine.pageSize, available: available, used: used)
  }

  func wantsCheckpoint(_ engine: StoreEngine) -> Bool {
    guard let disk, disk.available < disk.reserve / 2 else { return false }
    return engine.environment.hasOutdatedPin
  }

  /// The number of pages for records of the write buffer after this batch. Pages that the batch replaces do not count yet.
  func pagesForRecords(_ session: borrowing WriteSession) -> Int {
    guard let disk else { return BatchPages.ample / session.engine.pageSize / 2 }
    return max(
      0,
      disk.available - disk.spent(changing: session.transaction.changedPages) - disk.reserve / 2)
  }

  /// Whether, after the changes of the batch until now, `pages` more pages can be taken and `kept` pages still remain.
  func hasPages(
    for pages: Int = 0, keeping kept: Int = BatchPages.kept, _ session: borrowing WriteSession
  ) -> Bool {
    guard let disk else { return true }
    return disk.spent(changing: session.transaction.changedPages) + pages + kept
      <= disk.available
  }

  func pagesTaken(_ session: borrowing WriteSession) -> Int {
    let spent = disk?.spent(changing: session.transaction.changedPages) ?? 0
    return missingPages + min(spent, disk?.available ?? 0)
  }

  /// Whether a value must be cut into chunks. LMDB needs consecutive pages for a large value, and may find too few.
  func needsChunks(
    value: Int, recordCount: Int, _ session: inout WriteSession
  ) throws(LarderError) -> Bool {
    let engine = session.engine
    guard let disk, value > engine.pageSize else { return false }
    let run = disk.pages(ofRecord: recordCount)
    let spent = disk.spent(changing: session.transaction.changedPages)
    return try session.transaction.read { lmdb throws(LMDBError) in
      // If the batch has already changed something, only the unused pages at the end of the file are certainly consecutive.
      spent == 0
        ? try !lmdb.hasRun(of: run, afterTaking: BatchPages.branches, limit: disk.limit)
        : try lmdb.pagesBehindLast(limit: disk.limit) < run + spent
    }
  }

  mutating func spend(_ recordCount: Int, _ session: inout WriteSession) -> Bool {
    guard let room = disk else { return true }
    guard hasPages(for: room.pages(ofRecord: recordCount) + BatchPages.branches, session) else {
      return false
    }
    disk?.spend(pages: room.pages(ofLargeRecord: recordCount), stored: recordCount)
    return true
  }

  /// Makes room in the data file for an entry: reclaims cleared entries, then removes expired entries, then evicts.
  mutating func makeRoomOnDisk(
    for weight: EntryWeight, isChunked: Bool, _ session: inout WriteSession
  ) throws(LarderError) {
    guard let room = disk else { return }
    let own =
      isChunked
      ? room.chunkPages(ofValue: weight.size)
      : room.pages(ofLargeRecord: weight.stored)
    let needed = max(own, 1)
    guard needed + BatchPages.kept <= room.usable else {
      throw LarderError(
        .overLimit,
        "a value of \(weight.size) bytes does not fit into \(session.engine.environment.path), "
          + "which may have \(room.limit) bytes on disk",
        hint: "raise the store's disk limit, or store less")
    }
    missingPages = needed
    // Evictions also copy pages. So they must leave as many free pages as the entry itself needs.
    try lowerUse(
      to: room.usable - needed, forBytes: weight.size,
      keeping: needed + BatchPages.branches + BatchPages.kept, &session)
    disk?.spend(pages: own, stored: weight.stored)
    guard hasPages(session) else {
      isOverdrawn = true
      throw session.transaction.fail(LarderError(.full, "no room is left on disk"))
    }
    missingPages = 0
  }

  /// Evicts until at most `pages` are in use, or until only `kept` pages are left for the batch. One write evicts at most twice
  /// the bytes of its entry plus 64 KB. If half of the reserve is in use, the 64 KB become 1 MB.
  func lowerUse(
    to pages: Int, forBytes size: Int, keeping kept: Int, _ session: inout WriteSession
  ) throws(LarderError) {
    let shouldContinue = { (session: borrowing WriteSession) in
      session.usesMore(than: pages) && hasPages(keeping: kept, session)
    }
    guard shouldContinue(session) else { return }
    for _ in 0..<64 where session.state.garbage > 0 && shouldContinue(session) {
      _ = try GarbageCollector.reclaim(limit: 16, &session)
    }
    var sweep = ExpirySweep(of: nil)
    try sweep.run(&session, while: shouldContinue)
    guard session.state.garbage == 0, shouldContinue(session) else { return }
    let before = session.state.bytes
    // In a store of small entries, only many evictions free a page. So few are made until half of the reserve is in use.
    let isDeep = session.usesMore(than: pages + (disk?.reserve ?? 0) / 2)
    let most = UInt64(2 * size + (isDeep ? 1_000_000 : 64_000))
    try evictInTurn(&session) { session in
      before &- session.state.bytes < most && before >= session.state.bytes
        && shouldContinue(session)
    }
  }
}
