import CLarderSystem
import LarderSystem

extension Environment {
  /// `pages` is the number of pages that were ever used; the file has about this number of pages. If the environment is closed,
  /// all numbers are 0.
  package var info: (mapSize: Int, pageSize: Int, pages: Int) {
    let size = try? handle.withMap { () throws(LMDBError) in unsafe mappedSize(of: handle.pointer) }
    guard let size else { return (0, 0, 0) }
    return (size, handle.data.pageSize, handle.data.pages)
  }

  package var fileSize: Int { Self.fileSize(at: path) }

  package var lockTimeout: Duration { handle.lockTimeout }
  package var writerTimeout: Duration { handle.writerTimeout }

  /// The size of the data file in `directory`, even if the file is not open; 0 if there is no file.
  package static func fileSize(at directory: String) -> Int {
    FileStatus.of(directory + "/data.mdb").map { Int($0.st_size) } ?? 0
  }

  /// Whether a killed process left an unfinished environment. False if the directory is unreadable: opening reports that error.
  package static func isUnfinished(at directory: String) -> Bool {
    (try? StoreFiles(resolving: directory).isUnfinished()) ?? false
  }

  /// The largest size in bytes that the data file may reach by writes of this process; nil if there is no limit.
  ///
  /// The limit is the size of this process's memory map, rounded down to whole pages. LMDB writes nothing after the end of the
  /// map and does not use its last page. A file that is already larger keeps its size. Every writing process must set the limit.
  package var fileLimit: Int? { mapSize.fileLimit }

  /// Sets ``fileLimit``. If this process has no transaction, the limit is valid immediately, otherwise at the next write. That
  /// write throws ``LMDBError/mapHeld`` if a read prevents a change of the map for too long.
  package func setFileLimit(_ bytes: Int?) { mapSize.setFileLimit(bytes) }

  /// Whether a failed sync or an error of LMDB makes every call throw until the environment is closed.
  package var isBroken: Bool { [.panic, .syncFailed].contains(phaseError) }

  /// The first problem that is found; nil if the environment works, and the files are still the files that were opened.
  package func fileProblem(needsWriting: Bool) -> OpenFiles.Problem? {
    if isBroken { return .unwritable(phaseError) }
    if needsWriting, damage != nil { return .unwritable(.damagedPage) }
    return files.problem(needsWriting: needsWriting, recovery: recovery?.file)
  }

  /// The first damage that a write of this process has found, or nil. After damage, the process refuses all writes.
  package var damage: PageDamage? { writeGuard.damage }

  /// Details for messages: who holds a lock, which processes fill the reader table, or why a sync failed.
  package func details(of error: LMDBError) -> String {
    switch error {
    case .readersFull: readerTable.description
    case .syncFailed, .panic: syncFailure?.description ?? ""
    case .writerKept:
      "\(handle.writer.situation), longer than the lock timeout of \(handle.lockTimeout.waitMilliseconds) ms"
    default: StoreLocks.holders(of: error, in: path)
    }
  }

  /// The reader with the oldest snapshot of all processes, including this process, if the snapshot is older than the newest
  /// commit. This reader prevents LMDB from reusing the pages that were freed last. Nil if no snapshot is older.
  ///
  /// First makes a checkpoint, except inside a write, and clears dead readers. Then waits for other processes' checkpoints,
  /// and 10 ms more for short reads, but not much longer than the lock timeout. Returns nil when no such reader is left.
  package func blockingReader() throws(LMDBError) -> ReaderTable.Reader? {
    if !isWriting { try checkpoint() }
    try readerTable.clearDead()
    // Other processes may need three intervals to replace or release their pins.
    let intervals = Duration.milliseconds(3 * (checkpoints?.interval ?? 0))
    let longest = min(intervals, max(lockTimeout, .seconds(1)))
    let deadline = SuspendingClock.now + longest + .milliseconds(10)
    while let reader = try readerTable.outdatedReader() {
      if SuspendingClock.now > deadline { return reader }
      backOff(microseconds: 200)
    }
    return nil
  }
}
