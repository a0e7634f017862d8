import CLMDB
import CLarderSystem
import LarderSystem

/// The facts of an environment, and the durability of its commits.
extension Environment {
  /// The sizes of the map and the file, and the use of the reader table.
  package struct Info: Sendable {
    package var mapSize = 0
    package var pageSize = 0
    /// The number of pages ever used; the file is about that long.
    package var pages = 0
    package var lastTransaction: UInt64 = 0
    package var readerSlots = 0
    /// The highest number of slots that all processes have used at the same time.
    package var readersUsed = 0
  }

  /// All numbers are 0 after closing. Reads and writes then throw an error.
  package var info: Info {
    var info = unsafe MDB_envinfo()
    let known: Void? = try? handle.withMap { () throws(LMDBError) in
      try check(unsafe mdb_env_info(handle.pointer, &info))
    }
    if known == nil { return Info() }
    return unsafe Info(
      mapSize: info.me_mapsize, pageSize: handle.meta.pageSize, pages: handle.meta.pages,
      lastTransaction: UInt64(truncatingIfNeeded: info.me_last_txnid),
      readerSlots: Int(info.me_maxreaders),
      readersUsed: Int(info.me_numreaders))
  }

  package var fileSize: Int { Self.fileSize(at: path) }

  package var lockTimeout: Duration { handle.lockTimeout }

  /// The size of the data file in `directory`, whether open or not; 0 if the file does not exist.
  package static func fileSize(at directory: String) -> Int {
    FileStatus.of(directory + "/data.mdb").map { Int($0.st_size) } ?? 0
  }

  /// Whether a killed process left an unfinished environment. False for an unreadable directory: opening it reports the error.
  package static func isUnfinished(at directory: String) -> Bool {
    (try? StoreFiles(resolving: directory).isUnfinished()) ?? false
  }

  /// The limit that this process sets for the size of the data file in bytes, nil without a limit.
  ///
  /// The limit is the size of this process's map, rounded down to whole pages: LMDB writes nothing beyond the map and leaves
  /// its last page unused. A larger file keeps its size. Every writing process must set the limit.
  package var fileLimit: Int? { mapSize.fileLimit }

  /// Sets ``fileLimit``. The limit applies at once if this process has no transaction, otherwise from the next write. That
  /// write throws ``LMDBError/mapHeld`` if a read prevents remapping for too long.
  package func setFileLimit(_ bytes: Int?) { mapSize.setFileLimit(bytes) }

  /// Nil if the files are as they were when the environment was opened.
  package func fileProblem(needsWriting: Bool) -> OpenFiles.Problem? {
    files.problem(needsWriting: needsWriting, recovery: syncing.recovery)
  }

  /// The first damage that a write of this process found. From then on the process refuses all writes.
  package var damage: PageDamage? { writeGuard.damage }

  /// The processes or the thread that hold a lock, the processes that fill the reader table, or why a sync failed.
  package func details(of error: LMDBError) -> String {
    switch error {
    case .readersFull: readerTable.description
    case .syncFailed, .panic: syncing.failure?.description ?? ""
    case .writerKept:
      "\(handle.writer.situation), longer than the lock timeout of \(handle.lockTimeout.waitMilliseconds) ms"
    default: StoreLocks.holders(of: error, in: path)
    }
  }
}

extension Environment {
  /// Makes every commit so far survive a power failure, at every level.
  ///
  /// - Throws: ``LMDBError/insideWrite`` inside a write of the same thread.
  package func sync() throws(LMDBError) { try syncing.sync() }

  /// Like ``sync()``, at the level checkpointed, and lets LMDB reuse pages freed before. Writers wait only at the beginning.
  package func checkpoint() throws(LMDBError) {
    try syncing.checkpoints?.make(lockTimeout: handle.lockTimeout)
  }

  /// Whether this process keeps LMDB from reusing pages that were freed since its last checkpoint.
  package var hasOutdatedPin: Bool { syncing.checkpoints?.hasOutdatedPin ?? false }

  /// Why closing could not make everything survive a power failure; nil if the failure was taken already.
  package func takeClosingFailure() -> LMDBError? { closing.takeFailure() }

  /// The reader that keeps LMDB from reusing the pages freed last: the oldest snapshot of any process, including this process,
  /// that is older than the newest commit. Nil without such a reader.
  ///
  /// First makes a checkpoint, unless the caller is inside a write, and clears dead readers. Then waits while
  /// other processes make their checkpoints, and 10 ms more for short reads. Nil as soon as no such reader is left.
  package func blockingReader() throws(LMDBError) -> ReaderTable.Reader? {
    if !isWriting { try checkpoint() }
    let time = syncing.checkpoints?.timeForOthers ?? .zero
    return try readerTable.blockingReader(for: .milliseconds(10) + time)
  }
}
