import CLarderSystem
package import LarderSystem

/// The lock files in the directory, which `Docs/Internals/Architecture.md` lists.
///
/// With `lock.write` and `lock.readers` no process ever waits for a mutex of LMDB: if a process were killed as it wakes from
/// such a wait, all others could sleep for ever. With `lock.checkpoint` an older checkpoint never replaces a newer one.
///
/// A thread that takes several locks must wait for them in this order, to prevent deadlocks: the writer lock of its process,
/// `lock.opening`, the checkpoint lock of its process, `lock.write`, `lock.readers`, the lock of the write buffer. A thread
/// that holds `lock.checkpoint` or `lock.maps` waits for no other lock, and no process waits for `lock.open`.
final class StoreLocks: Sendable {
  static let names = [
    "lock.open", "lock.opening", "lock.queue", "lock.write", "lock.readers", "lock.checkpoint",
    "lock.maps",
  ]

  let owner: ForkGuard
  let open: FileLock
  let opening: FileLock
  let write: QueuedFileLock
  let readers: GuardedFileLock
  let checkpoint: FileLock
  let maps: GuardedFileLock
  /// The lock on the file `lock.write`. A process without permission to write has no slot in the reader table. So such a
  /// process holds this lock shared, and no other process writes during its reads.
  let reading: FileLock
  let isWritable: Bool
  private let files: [(name: String, lock: FileLock)]

  init(in directory: String, isWritable: Bool) throws(OpenError) {
    let owner = ForkGuard()
    var files: [(name: String, lock: FileLock)] = []
    func lock(_ name: String, busy: LMDBError = .busy) throws(OpenError) -> FileLock {
      let path = directory + "/" + name
      let lock = try OpenError.wrapping(path: path) { () throws(LMDBError) in
        try FileLock(opening: path, readOnly: !isWritable, in: owner, busy: busy)
      }
      files.append((name, lock))
      return lock
    }
    self.owner = owner
    self.isWritable = isWritable
    open = try lock("lock.open")
    opening = try lock("lock.opening", busy: .openingBusy)
    reading = try lock("lock.write")
    // Without permission to write, `reading` is held shared. Then `write` gets no file, because `write` locks exclusively.
    let writing = isWritable ? reading : FileLock(withoutFileIn: owner)
    write = try QueuedFileLock(writing, queue: lock("lock.queue"))
    readers = try GuardedFileLock(lock("lock.readers", busy: .readersBusy))
    checkpoint = try lock("lock.checkpoint", busy: .checkpointBusy)
    maps = try GuardedFileLock(lock("lock.maps", busy: .mapsBusy))
    self.files = files
  }

  /// Whether a lock file is not at its path any more, so that other processes would lock another file.
  func areDisplaced(in directory: String) -> Bool {
    files.contains { !$1.isAt(directory + "/" + $0) }
  }

  /// The other processes that hold the lock for which a call waited too long. Empty if the system does not name them.
  static func holders(of error: LMDBError, in directory: String) -> String {
    error.busyLock.map { holders(of: directory + "/" + $0.name) } ?? ""
  }

  /// The processes that have the environment open, according to the locks on `lock.open` and on lock.mdb.
  static func users(in directory: String) -> String {
    let known = holders(of: directory + "/lock.open")
    return known.isEmpty ? holders(of: directory + "/lock.mdb") : known
  }

  private static func holders(of path: String) -> String {
    let holders = LockHolders.processes(holding: path).map(LockHolders.description)
    return holders.isEmpty ? "" : "process " + holders.joined(separator: ", ")
  }
}

extension Environment {
  /// Removes the environment that a killed process has left in `directory`. Keeps a directory that changed less than `age`
  /// seconds ago, because its process may not have its locks yet.
  package static func removeAbandoned(at directory: String, age: Int64 = 60) {
    guard let status = FileStatus.of(directory), status.isDirectory, status.st_uid == geteuid(),
      SystemTime.milliseconds / 1000 - DirectoryStamp.Change(status).seconds >= age,
      let locks = try? StoreLocks(in: directory, isWritable: false),
      (try? locks.opening.take()) == true, (try? locks.open.take()) == true
    else { return }
    StoreFiles.removeFiles(in: directory)
    unsafe rmdir(directory)
  }
}

extension SharedTable {
  package convenience init(
    _ file: MappedFile, layout: UInt32, store: [UInt8], of environment: Environment,
    accepting accepts: @escaping @Sendable (Int) -> Bool
  ) {
    let format = Format(file: file, layout: layout, store: store, accepting: accepts)
    self.init(
      format, in: environment.path, replacing: environment.handle.locks.maps,
      owner: environment.handle.locks.owner)
  }
}
