package import LarderSystem

/// The lock files beside the data, which protect LMDB from its known multi-process hazards.
///
/// - `lock.open` is held shared while a process has the environment open. A process that holds it exclusively is alone.
/// - `lock.opening` is held while a process opens or closes the environment, so two processes never initialize the environment
///   at the same time.
/// - `lock.write` is held around each write transaction, so LMDB's own mutex never has waiters of other processes. If such a
///   waiter were killed as it wakes, all other waiters could sleep for ever. `lock.queue` orders the waiters.
/// - `lock.readers` is held while a slot of LMDB's reader table is allocated or cleared, because the mutex of that table has
///   the same problem.
/// - `lock.checkpoint` is held while a process makes a checkpoint, so an older checkpoint never replaces a newer
///   checkpoint.
/// - `lock.maps` is held while a file of ``SharedTable`` is created or replaced.
///
/// No process waits for `lock.slots`, the file of ``ProcessSlots``.
///
/// A thread that takes several locks waits in this order, to prevent deadlocks: the writer lock of its process, `lock.opening`,
/// the checkpoint lock of its process, `lock.write`, `lock.readers`, the lock of the write buffer. The holder of
/// `lock.checkpoint` or `lock.maps` waits for no other lock, and no process waits for `lock.open`.
///
/// A process that may not write the lock files only reads. It has no slot in the reader table and holds `lock.write` shared
/// instead, so no other process writes meanwhile.
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
  /// `lock.write`; a process without permission to write holds it shared.
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
    // Without permission to write, `reading` is held shared. A use of `write` must not make this lock exclusive.
    let writing = isWritable ? reading : FileLock(withoutFileIn: owner)
    write = try QueuedFileLock(writing, queue: lock("lock.queue"))
    readers = try GuardedFileLock(lock("lock.readers", busy: .readersBusy))
    checkpoint = try lock("lock.checkpoint", busy: .checkpointBusy)
    maps = try GuardedFileLock(lock("lock.maps", busy: .mapsBusy))
    self.files = files
  }

  /// Whether a lock file is no longer at its path, so that other processes would lock another file.
  func areDisplaced(in directory: String) -> Bool {
    files.contains { !$1.isAt(directory + "/" + $0) }
  }

  /// The other processes that hold the lock for which a call waited too long; empty if the system names no process.
  static func holders(of error: LMDBError, in directory: String) -> String {
    error.busyLock.map { holders(of: directory + "/" + $0.name) } ?? ""
  }

  /// The processes that have the environment open. They also hold LMDB's lock on lock.mdb.
  static func users(in directory: String) -> String {
    let known = holders(of: directory + "/lock.open")
    return known.isEmpty ? holders(of: directory + "/lock.mdb") : known
  }

  private static func holders(of path: String) -> String {
    let holders = LockHolders.processes(holding: path).map(LockHolders.description)
    return holders.isEmpty ? "" : "process " + holders.joined(separator: ", ")
  }
}

extension SharedTable {
  package convenience init(_ format: Format, of environment: Environment) {
    self.init(
      format, in: environment.path, replacing: environment.handle.locks.maps,
      owner: environment.handle.locks.owner)
  }
}
