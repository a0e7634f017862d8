import LMDB
import LarderSystem

/// The limits of the store as a batch keeps to them: entries, bytes, and pages of the data file.
///
/// Its methods make room by eviction before an entry is stored. The limits of namespaces come with their rules.
struct SpaceBudget {
  private(set) var limits: StoreLimits
  /// The pages left in the data file; nil without a disk limit, and far from it.
  private var disk: DiskRoom?
  /// The number of pages that a failed write lacked.
  private(set) var missingPages: Int?

  init(_ limits: StoreLimits) { self.limits = limits }

  /// Measures how many pages are left in the data file, before the first change of the batch.
  mutating func measureDisk(_ writer: inout EntryWriter) throws(LarderError) {
    guard let limit = limits.disk else { return }
    // Far from the limit no batch needs to count its pages.
    let ample = DiskRoom.ample / writer.engine.pageSize
    if try writer.read({ lmdb throws(LMDBError) in try lmdb.pagesBehindLast(limit: limit) > ample })
    {
      return
    }
    let databases = writer.engine.indexes.all
    let (available, used) = try writer.read { lmdb throws(LMDBError) in
      (
        try lmdb.availablePages(upTo: DiskRoom.enough, limit: limit),
        try lmdb.usedPages(of: databases)
      )
    }
    disk = DiskRoom(
      limit: limit, pageSize: writer.engine.pageSize, available: available, used: used)
  }

  /// Replaces the limits of entries and bytes within the batch that changes them.
  mutating func change(to limits: StoreLimits) { self.limits = limits }

  /// Whether the limit on disk is so near that this batch counts pages.
  var hasDiskLimit: Bool { disk != nil }

  /// The number of pages that entries may use; nil without a disk limit, and far from it.
  var usablePages: Int? { disk?.usable }

  /// Whether a checkpoint now would free pages that this batch may need.
  func wantsCheckpoint(_ engine: StoreEngine) -> Bool {
    guard let disk, disk.available < disk.reserve / 2 else { return false }
    return engine.environment.hasOutdatedPin
  }

  /// The limit that the totals exceed, if any.
  func exceededLimit(_ state: StoreState) -> RemovalReason? {
    if let most = limits.entries, state.entries > UInt64(clamping: most) {
      return .evictedForStoreEntries
    }
    if let most = limits.bytes, state.bytes > UInt64(clamping: most) {
      return .evictedForStoreBytes
    }
    return nil
  }

  /// Whether a namespace without a limit of its own counts bytes, and not entries.
  var countsBytes: Bool { limits.bytes != nil || limits.entries == nil }

  /// Whether a limit of the store is reached but for a thirty-second.
  func isNearlyFull(_ writer: borrowing EntryWriter) -> Bool {
    if Limits(entries: limits.entries, bytes: limits.bytes)
      .isNearlyReached(by: writer.state.entries, writer.state.bytes)
    {
      return true
    }
    return disk.map { writer.usesMore(than: $0.usable - $0.usable / 32) } ?? false
  }

  // MARK: Pages

  /// Whether a value is to be cut into chunks: LMDB stores a large value in consecutive pages and may find none.
  func needsChunks(
    value: Int, recordCount: Int, _ writer: inout EntryWriter
  ) throws(LarderError) -> Bool {
    let engine = writer.engine
    if let least = engine.chunksAbove, value > least { return true }
    guard let disk, value > engine.pageSize else { return false }
    let run = disk.pages(ofRecord: recordCount)
    let spent = disk.spent
    return try writer.read { lmdb throws(LMDBError) in
      // After other changes of this batch only the pages behind the last one are sure to be consecutive.
      spent == 0
        ? try !lmdb.hasRun(of: run, afterTaking: DiskRoom.perEntry * 4, limit: disk.limit)
        : try lmdb.pagesBehindLast(limit: disk.limit) < run + spent
    }
  }

  /// Takes pages for a record that is rewritten; false if too few are left in this batch.
  mutating func spend(_ recordCount: Int) -> Bool {
    guard var room = disk else { return true }
    room.spend(record: recordCount)
    guard !room.isOverdrawn else { return false }
    disk = room
    return true
  }

  /// Makes room in the data file for an entry: cleared entries are reclaimed first, then expired ones are removed, then
  /// namespaces evict at most twice the bytes of the entry and a little more.
  mutating func makeRoomOnDisk(
    for weight: EntryWeight, isChunked: Bool, _ protected: ProtectedEntries,
    _ writer: inout EntryWriter
  ) throws(LarderError) {
    guard let room = disk else { return }
    let own =
      isChunked
      ? room.chunkPages(ofValue: weight.size)
      : room.pages(ofLargeRecord: weight.stored)
    let needed = max(own, 1)
    guard needed + DiskRoom.kept <= room.usable else {
      throw LarderError(
        .overLimit,
        "a value of \(weight.size) bytes does not fit into \(writer.engine.environment.path), "
          + "which may have \(room.limit) bytes on disk",
        hint: "raise the store's disk limit, or store less")
    }
    try lowerUse(to: room.usable - needed, forBytes: weight.size, protected, &writer)
    disk?.spend(pages: own, stored: weight.stored)
    if let room = disk, room.isOverdrawn {
      missingPages = needed
      throw writer.fail(LarderError(.full, "no room is left on disk"))
    }
  }

  /// Evicts until no more than `pages` are used, or until as much was evicted as a write of so many bytes may cost.
  func lowerUse(
    to pages: Int, forBytes size: Int, _ protected: ProtectedEntries,
    _ writer: inout EntryWriter
  ) throws(LarderError) {
    guard writer.usesMore(than: pages) else { return }
    for _ in 0..<16 where writer.state.garbage > 0 && writer.usesMore(than: pages) {
      _ = try GarbageCollector.reclaim(limit: 64, &writer)
    }
    var sweep = ExpirySweep(of: nil, sparing: protected)
    try sweep.run(&writer) { writer in writer.usesMore(than: pages) }
    guard writer.state.garbage == 0, writer.usesMore(than: pages) else { return }
    let before = writer.state.bytes
    // In a store of small entries a page becomes free only after many evictions. The reserve bridges that.
    let isDeep = writer.usesMore(than: pages + (disk?.reserve ?? 0) / 2)
    let most = UInt64(2 * size + (isDeep ? 1_000_000 : 64_000))
    try evictInTurn(for: .evictedForDisk, protected, &writer) { writer in
      before &- writer.state.bytes < most && before >= writer.state.bytes
        && writer.usesMore(than: pages)
    }
  }
}

extension EntryWriter {
  /// Whether the databases use more than so many pages.
  func usesMore(than pages: Int) -> Bool {
    do {
      return try transaction.usedPages(of: engine.indexes.all) > pages
    } catch {
      // The next change fails with the same error, and reports it.
      return false
    }
  }
}

/// Entries that an eviction must not remove: the one being written, and its owners.
struct ProtectedEntries {
  static let none = ProtectedEntries(written: nil, owners: [])

  /// The entry key of the entry being written.
  let written: [UInt8]?
  /// The entry keys of its owners.
  let owners: [[UInt8]]

  func contains(_ entryKey: [UInt8]) -> Bool {
    written == entryKey || owners.contains(entryKey)
  }

  var all: [[UInt8]] { (written.map { [$0] } ?? []) + owners }
}
