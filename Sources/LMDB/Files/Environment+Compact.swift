import CLMDB
import CLarderSystem
import LarderSystem

extension Environment {
  /// Makes a directory `path` with a data file that holds what the environment holds now, and no free pages. Others may
  /// read and write meanwhile.
  ///
  /// - Parameter shouldContinue: told how many records of how many are copied; false stops it with ``LMDBError/stopped``.
  package func copyCompacted(
    to path: String, _ shouldContinue: (_ done: Int, _ all: Int) -> Bool
  ) throws(OpenError) {
    var place = path
    while place.count > 1, place.last == "/" { place.removeLast() }
    if FileStatus.of(place) != nil { throw OpenError(.exists, path: place) }
    // Under another name until it is whole; a kill leaves it behind, and the next copy takes it over.
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
        try RecoveryFile.create(unfinished + "/boot", checkpoints.settledRecord(durability))
      }
      try FileStatus.syncDirectory(unfinished)
      try checkErrno { unsafe rename(unfinished, place) }
      try FileStatus.syncParent(of: place)
    } catch {
      unsafe unlink(data)
      unsafe unlink(unfinished + "/boot")
      unsafe rmdir(unfinished)
      throw OpenError(.system, path: place, cause: explained(error, at: place + "/.."))
    }
  }

  /// Puts a compact copy of the data file in its place and closes the environment, provided that no other process has
  /// it open; none can open it meanwhile. Reads of this process may go on until the last moment; its writes wait.
  ///
  /// A kill or a power cut leaves the old file or the new one, and so does an error; as long as none of this process's own
  /// files are replaced it leaves the environment open.
  package func closeCompacting(
    _ shouldContinue: (_ done: Int, _ all: Int) -> Bool
  ) throws(LMDBError) {
    precondition(!writer.isMine, "compacting a store inside one of its own writes")
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
      unsafe unlink(files.newData)
      // Nobody else could take it while `lock.opening` is held.
      if isOpen { _ = try locks.open.take(shared: true) } else { locks.open.release() }
      throw explained(error, at: path)
    }
    locks.open.release()
  }

  /// Turns the shared presence into one that nobody shares. Called with `lock.opening` held, without which nobody takes it.
  private func becomeAlone() throws(LMDBError) {
    if try locks.open.take() { return }
    _ = try locks.open.take(shared: true)
    throw .occupied
  }

  /// Lets go of the old file and moves the new one into its place.
  private func replaceData() throws(LMDBError) {
    let result = readers.withAllIdle(lockTimeout: lockTimeout) { () -> LMDBError? in
      guard unsafe phase.pointee.change(ForkState.open, to: ForkState.released) else {
        return phaseError
      }
      readers.abortAll()
      checkpoints?.end()
      let failure = failureToSettle()
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

  private func failureToSettle() -> LMDBError? {
    do throws(LMDBError) {
      try settleForReplacing()
      return nil
    } catch {
      return error
    }
  }

  private func writeCompactCopy(
    to path: String, _ shouldContinue: (_ done: Int, _ all: Int) -> Bool
  ) throws(LMDBError) {
    if FileStatus.of(path) != nil { try checkErrno { unsafe unlink(path) } }
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
    // The records that name the databases are LMDB's own, and come when those are made.
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
