import CLMDB
import CLarderSystem
import LarderSystem

/// Writes a snapshot of an environment's records into a new data file without free pages.
struct Compaction {
  /// Called with the number of copied records and of all; false stops the copy with ``LMDBError/stopped``.
  typealias Progress = (_ done: Int, _ all: Int) -> Bool

  let environment: Environment

  /// Creates a directory `path` with the new data file. Other threads and processes may read and write meanwhile.
  func copy(to path: String, _ shouldContinue: Progress) throws(OpenError) {
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
      try write(to: data, shouldContinue)
      if let record = environment.syncing.cleanRecord {
        try RecoveryFile.create(unfinished + "/recovery", record)
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

  /// Replaces the data file by the new one and closes the environment; see
  /// ``Environment/closeCompacting(_:)``.
  func replace(_ shouldContinue: Progress) throws(LMDBError) {
    let handle = environment.handle
    let (files, locks) = (handle.files, handle.locks)
    try handle.withWriter { () throws(LMDBError) in
      try locks.opening.wait(lockTimeout: handle.lockTimeout)
      defer { locks.opening.release() }
      try becomeAlone(locks)
      do throws(LMDBError) {
        try unsafe environment.files.check(handle.pointer)
        try write(to: files.newData, shouldContinue)
        try environment.closing.replaceData()
      } catch {
        let cause = error.explained(writing: files.newData)
        unsafe unlink(files.newData)
        // No other process can take it while this one holds `lock.opening`.
        if handle.isOpen { _ = try locks.open.take(shared: true) } else { locks.open.release() }
        throw cause
      }
      locks.open.release()
    }
  }

  /// Turns the shared `lock.open` into an exclusive one. The caller holds `lock.opening`, so no other process takes it.
  private func becomeAlone(_ locks: StoreLocks) throws(LMDBError) {
    if try locks.open.take() { return }
    _ = try locks.open.take(shared: true)
    throw .occupied
  }

  private func write(to path: String, _ shouldContinue: Progress) throws(LMDBError) {
    try FileStatus.remove(path)
    let snapshot = try environment.beginRead()
    let newest = try copyRecords(of: snapshot, to: path, shouldContinue)
    try CompactFile.renumber(path, from: newest, to: snapshot.id)
    do throws(QuickCheck.Finding) {
      let check = try QuickCheck(path: path)
      try check.run(databases: environment.databaseNames, signature: [])
    } catch {
      throw .corrupted
    }
  }

  private func copyRecords(
    of snapshot: borrowing ReadTransaction, to path: String, _ shouldContinue: Progress
  ) throws(LMDBError) -> UInt64 {
    let (databases, names) = (environment.databases, environment.databaseNames)
    let meta = environment.handle.meta
    let file = try CompactFile(
      at: path, databases: names.count, used: meta.pages * meta.pageSize)
    try file.openMain()
    var all = try snapshot.statistics(of: .main).records
    for database in databases { all += try snapshot.statistics(of: database).records }
    var done = 0
    // LMDB creates the records that name the databases itself.
    let nameKeys = names.map { Array($0.utf8) }
    let named: [(Database, String?)] = zip(databases, names).map { ($0, $1) }
    for (source, name) in [(.main, nil)] + named {
      let target = try name.map { (name) throws(LMDBError) in try file.makeDatabase(name) } ?? .main
      var cursor = try snapshot.cursor(in: source)
      while case let count = try file.append(
        from: &cursor, to: target, leavingOut: name == nil ? nameKeys : []), count > 0
      {
        done += count
        if !shouldContinue(done, all) { throw .stopped }
      }
    }
    guard done == all else { throw .corrupted }
    return try file.sync()
  }
}
