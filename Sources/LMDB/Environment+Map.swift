import CLMDB
import Synchronization

extension Environment {
  /// How the map and the file stand.
  package struct Info: Sendable {
    package var mapSize: Int
    package var pageSize: Int
    /// Pages ever used; the file is this long.
    package var pages: Int
    package var lastTransaction: UInt64
    package var readerSlots: Int
    package var readersUsed: Int
  }

  package var info: Info {
    var info = unsafe MDB_envinfo()
    var statistics = MDB_stat()
    unsafe mdb_env_info(handle, &info)
    unsafe mdb_env_stat(handle, &statistics)
    return unsafe Info(
      mapSize: info.me_mapsize, pageSize: Int(statistics.ms_psize), pages: info.me_last_pgno + 1,
      lastTransaction: UInt64(info.me_last_txnid), readerSlots: Int(info.me_maxreaders),
      readersUsed: Int(info.me_numreaders))
  }

  /// Doubles the address space when half of it is used. Called with the writer's gate held.
  ///
  /// The map must not move while a read of this process is under way. If one does not end in time the write goes on in
  /// the room that is left, and the next one tries again.
  func growMapIfNeeded() throws(LMDBError) {
    let now = info
    guard now.pages * now.pageSize > now.mapSize / 2 else { return }
    try resizeMap(to: now.mapSize * 2, patience: .milliseconds(100), required: false)
  }

  /// Follows another process that made the map larger.
  func adoptMapSize() throws(LMDBError) {
    try resizeMap(to: 0, patience: .seconds(10), required: true)
  }

  private func resizeMap(to size: Int, patience: Duration, required: Bool) throws(LMDBError) {
    let handle = unsafe handle
    let result = readers.withAllIdle(patience: patience) {
      unsafe mdb_env_set_mapsize(handle, size)
    }
    if let result { try check(result) } else if required { throw .busy }
  }

  /// Ends this process's use of the environment: waits for reads under way, then lets go of everything.
  ///
  /// Afterwards every call answers ``LMDBError/closed``. A forked child only forgets: the parent still owns it all.
  package func close() {
    let open = SharedState.open
    guard
      unsafe phase.pointee.phase.compareExchange(
        expected: open, desired: SharedState.closed, ordering: .acquiringAndReleasing
      ).exchanged
    else { return }
    writer.enter()
    defer { writer.leave() }
    let idle: Void? = readers.withAllIdle(patience: .seconds(60)) {
      readers.abortAll()
      closeAlone()
    }
    // A read that never ends keeps the map; better a map too many than a read of memory that is gone.
    if idle != nil { EnvironmentTable.forget(identity) }
  }

  /// Closing must not race with another process opening, but it must not fail either: after the usual wait it goes on.
  private func closeAlone() {
    let waited: LMDBError?
    do throws(LMDBError) {
      try locks.wait(for: .open, patience: patience)
      waited = nil
    } catch {
      waited = error
    }
    unsafe mdb_env_close(handle)
    locks.release(.presence)
    if waited == nil { locks.release(.open) }
  }

  /// Who reads: a process, and the transaction its snapshot shows; nil for a slot kept without a snapshot.
  package struct Reader: Sendable, Equatable {
    package var process: Int
    package var transaction: UInt64?
  }

  package func readersNow() throws(LMDBError) -> [Reader] {
    if !isOpen { throw phaseError }
    @safe final class Lines { var text = "" }
    let lines = Lines()
    let result = unsafe clmdb_reader_list(
      handle,
      { text, context in
        let lines = unsafe Unmanaged<Lines>.fromOpaque(context!).takeUnretainedValue()
        if let text = unsafe text { unsafe lines.text += String(cString: text) }
        return 0
      }, Unmanaged.passUnretained(lines).toOpaque())
    if result < 0 { throw LMDBError(code: result) }
    return lines.text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 3, let process = Int(words[0]) else { return nil }
      return Reader(process: process, transaction: UInt64(words[2]))
    }
  }
}

extension Environment {
  /// Bytes of the data file.
  package var fileSize: Int { StoreFiles.status(of: files.data).map { Int($0.st_size) } ?? 0 }
}
