import CLMDB
import CLarderSystem
import LarderSystem

/// Writes a snapshot's records into a new data file without free pages.
extension Environment {
  /// Copies the current records, without free pages, to a new directory `path`. Others may read and write during this call.
  ///
  /// - Parameter shouldContinue: gets the numbers of copied and of all records. After false, throws ``LMDBError/stopped``.
  package func copyCompacted(
    to path: String, _ shouldContinue: (_ done: Int, _ all: Int) -> Bool
  ) throws(OpenError) {
    let unfinished = try UnfinishedStore(for: path)
    let data = unfinished.path + "/data.mdb"
    // The copy may outlive this process, so the copy of a temporary environment is not temporary.
    let level = durability == .temporary ? DurabilityLevel.scratch : durability
    do throws(OpenError) {
      do throws(LMDBError) {
        try writeCopy(to: data, at: level, shouldContinue)
        if level.hasRecoveryFile {
          let stamp = try DataStamp(of: data)
          let boot = if let recovery { recovery.boot } else { try BootIdentity.current() }
          try RecoveryFile.create(
            unfinished.path + "/recovery", RecoveryRecord(level: level, boot: boot, data: stamp))
        }
      } catch {
        let cause = error.explained(writing: data)
        throw OpenError(.notCreated, path: unfinished.place, cause: cause)
      }
      try unfinished.finish()
    } catch {
      unfinished.remove()
      throw error
    }
  }

  /// Replaces the data file by a compact copy and closes the environment. No other process may have the environment open, and
  /// no process can open it during this call. Until the replacement, this process may read, but its writes wait.
  ///
  /// If the process is killed, the power fails or an error occurs, the data file is either the old or the new file. After an
  /// error before the replacement the environment stays open.
  ///
  /// - Parameter check: may refuse the compaction; called with the directory when no other process can use the environment.
  package func closeCompacting(
    after check: (_ directory: String) throws(LMDBError) -> Void = { _ in },
    _ shouldContinue: (_ done: Int, _ all: Int) -> Bool
  ) throws(LMDBError) {
    let (paths, locks) = (handle.files, handle.locks)
    try handle.withWriter { () throws(LMDBError) in
      try locks.opening.wait(lockTimeout: handle.lockTimeout)
      defer { locks.opening.release() }
      // Until the shared lock is taken again, no other process can take the lock, because this process holds `lock.opening`.
      if try !locks.open.take() {
        _ = try locks.open.take(shared: true)
        throw LMDBError.occupied
      }
      do throws(LMDBError) {
        try unsafe files.check(handle.pointer)
        try check(path)
        try writeCopy(to: paths.newData, at: durability, shouldContinue)
        try replaceData()
      } catch {
        let cause = error.explained(writing: paths.newData)
        unsafe unlink(paths.newData)
        // No other process can take `lock.open` as long as this process holds `lock.opening`.
        if handle.isOpen { _ = try locks.open.take(shared: true) } else { locks.open.release() }
        throw cause
      }
      locks.open.release()
    }
  }

  private func writeCopy(
    to path: String, at level: DurabilityLevel, _ shouldContinue: (Int, Int) -> Bool
  ) throws(LMDBError) {
    try recovery?.file.checkSynced()
    try FileStatus.remove(path)
    let snapshot = try beginRead()
    try copyRecords(of: snapshot, to: path, at: level, shouldContinue)
    try handle.data.stamp.renewed.write(to: path)
    try UnlockedFile.renumber(path, to: snapshot.id)
    do throws(OpenError) {
      try QuickCheck(path: path).run(databases: databaseNames, signature: [])
    } catch { throw error.cause ?? .corrupted }
  }

  private func copyRecords(
    of snapshot: borrowing ReadTransaction, to path: String, at level: DurabilityLevel,
    _ shouldContinue: (Int, Int) -> Bool
  ) throws(LMDBError) {
    let (data, names) = (handle.data, databaseNames)
    // This size is enough even if the new pages are only half as full as the old pages. A large map takes only address space.
    let file = try UnlockedFile(
      path, databases: names.count, mapSize: data.pages * data.pageSize * 2 + 64 << 20,
      flags: MDB_NOSYNC)
    var all = try snapshot.statistics(of: .main).records
    for database in databases { all += try snapshot.statistics(of: database).records }
    var done = 0
    // LMDB itself creates the records with the names of the databases, so the copy of the main database omits these records.
    let nameKeys = names.map { Array($0.utf8) }
    let named: [(Database, String?)] = zip(databases, names).map { ($0, $1) }
    for (source, name) in [(.main, nil)] + named {
      let target = try file.open(name)
      var cursor = try snapshot.cursor(in: source)
      while case let count = try file.append(
        from: &cursor, to: target, leavingOut: name == nil ? nameKeys : []), count > 0
      {
        done += count
        if !shouldContinue(done, all) { throw .stopped }
      }
    }
    guard done == all else { throw .corrupted }
    if level != durability {
      try file.write { transaction throws(LMDBError) in try transaction.put(level) }
    }
    try unsafe syncFile(of: file.handle)
  }
}
