import LarderSystem

/// The lock files beside the data, which protect LMDB from its known multi-process hazards.
///
/// - `lock.open` is held shared while a process has the environment open; a process that gets it exclusively is alone.
/// - `lock.opening` is held while a process opens or closes the environment, so that two processes never initialize it
///   at the same time.
/// - `lock.queue` and `lock.write` are held around each write transaction, so LMDB's own mutex is never contended between
///   processes. With contention, a waiter that is killed as it wakes can leave all other waiters asleep.
/// - `lock.readers` is held while a slot of LMDB's reader table is allocated or cleared, because the table has a mutex of
///   the same kind.
/// - `lock.checkpoint` is held while a process makes a checkpoint, so that an older one never replaces a newer one.
/// - `lock.maps` is held while a file of ``SharedTable`` is created or replaced.
final class StoreLocks: Sendable {
  static let names = [
    "lock.open", "lock.opening", "lock.queue", "lock.write", "lock.readers", "lock.checkpoint",
    "lock.maps",
  ]

  let owner = ForkGuard()
  let open: FileLock
  let opening: FileLock
  let queue: FileLock
  let write: FileLock
  let readers: GuardedFileLock
  let checkpoint: FileLock
  let maps: GuardedFileLock

  init(in directory: String) throws(OpenError) {
    let owner = owner
    func lock(_ name: String) throws(OpenError) -> FileLock {
      let path = directory + "/" + name
      do throws(LMDBError) {
        return try FileLock(opening: path, in: owner)
      } catch {
        throw OpenError(.system, path: path, cause: error)
      }
    }
    open = try lock("lock.open")
    opening = try lock("lock.opening")
    queue = try lock("lock.queue")
    write = try lock("lock.write")
    readers = try GuardedFileLock(lock("lock.readers"))
    checkpoint = try lock("lock.checkpoint")
    maps = try GuardedFileLock(lock("lock.maps"))
  }

  var state: UnsafeMutablePointer<ForkState> { unsafe owner.state }

  /// Runs one LMDB call that locks the reader table.
  func whileRegistering(lockTimeout: Duration, _ call: () -> Int32) throws(LMDBError) {
    try readers.withLock(lockTimeout: lockTimeout) { () throws(LMDBError) in try check(call()) }
  }
}
