import CLMDB
import CLarderSystem
import LarderSystem

extension Environment {
  /// Creates a directory `path` with a copy of the environment's current records and no free pages. Other threads and
  /// processes may read and write meanwhile.
  ///
  /// - Parameter shouldContinue: called with the number of copied records and of all; false stops the copy with
  ///   ``LMDBError/stopped``.
  package func copyCompacted(
    to path: String, _ shouldContinue: (_ done: Int, _ all: Int) -> Bool
  ) throws(OpenError) {
    var place = path
    while place.count > 1, place.last == "/" { place.removeLast() }
    if FileStatus.of(place) != nil { throw OpenError(.exists, path: place) }
    // A kill leaves the temporary directory behind, and the next copy reuses it.
    let unfinished = place + ".new"
    do throws(OpenError) {
      try StoreFiles.makeDirectory(unfinished)
    } catch {
      throw OpenError(error.kind, path: place, cause: error.cause)
    }
    let data = unfinished + "/data.mdb"
    do throws(LMDBError) {
      try writeCompactCopy(to: data, shouldContinue)
      if let checkpoints {
        try RecoveryFile.create(unfinished + "/recovery", checkpoints.cleanRecord(durability))
      }
      try FileStatus.syncDirectory(unfinished)
      try checkErrno { unsafe rename(unfinished, place) }
      try FileStatus.syncParent(of: place)
    } catch {
      let cause = error.explained(writing: data)
      unsafe unlink(data)
      unsafe unlink(unfinished + "/recovery")
      unsafe rmdir(unfinished)
      throw OpenError(.system, path: place, cause: cause)
    }
  }

  /// Replaces the data file by a compact copy and closes the environment. No other process may have it open, and none can
  /// open it meanwhile. Reads of this process may continue until the file is replaced; its writes wait.
  ///
  /// A kill, a power failure or an error leaves either the old or the new file. After an error before the replacement the
  /// environment stays open.
  package func closeCompacting(
    _ shouldContinue: (_ done: Int, _ all: Int) -> Bool
  ) throws(LMDBError) {
    if !isOpen { throw phaseError }
    if writer.isMine { throw .insideWrite }
    writer.enter()
    defer { writer.leave() }
    if !isOpen { throw phaseError }
    try locks.opening.wait(lockTimeout: lockTimeout)
    defer { locks.opening.release() }
    try becomeAlone()
    do throws(LMDBError) {
      try checkIdentity()
      try writeCompactCopy(to: files.newData, shouldContinue)
      try replaceData()
    } catch {
      let cause = error.explained(writing: files.newData)
      unsafe unlink(files.newData)
      // No other process can take it while this one holds `lock.opening`.
      if isOpen { _ = try locks.open.take(shared: true) } else { locks.open.release() }
      throw cause
    }
    locks.open.release()
  }

  /// Turns the shared `lock.open` into an exclusive one. The caller holds `lock.opening`, so no other process takes it.
  private func becomeAlone() throws(LMDBError) {
    if try locks.open.take() { return }
    _ = try locks.open.take(shared: true)
    throw .occupied
  }

  /// Closes the old file and renames the new one.
  private func replaceData() throws(LMDBError) {
    let result = readers.withAllIdle(lockTimeout: lockTimeout) { () -> LMDBError? in
      guard unsafe phase.pointee.change(ForkState.open, to: ForkState.released) else {
        return phaseError
      }
      readers.abortAll()
      checkpoints?.end()
      let failure = failureToFlush()
      unsafe mdb_env_close(handle)
      EnvironmentTable.forget(identity)
      if let failure { return failure }
      do throws(LMDBError) {
        try checkErrno { unsafe rename(files.newData, files.data) }
        try FileStatus.syncDirectory(files.directory)
        return nil
      } catch {
        return error
      }
    }
    guard let result else { throw .mapHeld }
    if let error = result { throw error }
  }

  private func failureToFlush() -> LMDBError? {
    do throws(LMDBError) {
      try flushForReplacing()
      return nil
    } catch {
      return error
    }
  }

  private func writeCompactCopy(
    to path: String, _ shouldContinue: (_ done: Int, _ all: Int) -> Bool
  ) throws(LMDBError) {
    try FileStatus.remove(path)
    let snapshot = try beginRead()
    let newest = try copyRecords(of: snapshot, to: path, shouldContinue)
    try CompactFile.renumber(path, from: newest, to: snapshot.id)
    do throws(RawFile.Finding) {
      let check = try QuickCheck(path: path)
      try check.run(databases: databaseNames, signature: [])
    } catch {
      throw .corrupted
    }
  }

  private func copyRecords(
    of snapshot: borrowing ReadTransaction, to path: String,
    _ shouldContinue: (_ done: Int, _ all: Int) -> Bool
  ) throws(LMDBError) -> UInt64 {
    let file = try CompactFile(
      at: path, databases: databaseNames.count, used: meta.pages * meta.pageSize)
    try file.openMain()
    var all = try snapshot.statistics(of: .main).records
    for database in databases { all += try snapshot.statistics(of: database).records }
    var done = 0
    // LMDB creates the records that name the databases itself.
    let names = databaseNames.map { Array($0.utf8) }
    let named: [(Database, String?)] = zip(databases, databaseNames).map { ($0, $1) }
    for (source, name) in [(.main, nil)] + named {
      let target = try name.map { (name) throws(LMDBError) in try file.makeDatabase(name) } ?? .main
      var cursor = try snapshot.cursor(in: source)
      while case let count = try file.append(
        from: &cursor, to: target, leavingOut: name == nil ? names : []), count > 0
      {
        done += count
        if !shouldContinue(done, all) { throw .stopped }
      }
    }
    guard done == all else { throw .corrupted }
    return try file.sync()
  }
}
