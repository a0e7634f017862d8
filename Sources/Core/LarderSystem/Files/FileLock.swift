import CLarderSystem

/// A lock on a whole file, exclusive or shared. The system releases the lock when the process ends.
///
/// The lock uses `flock`: the system drops POSIX record locks when the process closes any descriptor of the file, and macOS has
/// no record locks that belong to an open file. `flock` does not exclude threads of this process; another lock must do that.
package struct FileLock: Sendable {
  let descriptors: ForkGuard
  /// The file's index in `descriptors`; nil for a lock without a file. A lock without a file is always free.
  private let index: Int?
  /// The error that ``wait(lockTimeout:)`` throws when the time is over.
  fileprivate let busy: SystemError

  /// Opens the lock file; `descriptors` later closes the file. Without `readOnly`, creates a missing file. With `readOnly`, the
  /// lock of a missing file is always free: the caller must know that no process writes, or accept errors.
  package init(
    opening path: String, readOnly: Bool = false, in descriptors: ForkGuard,
    busy: SystemError = .busy
  ) throws(SystemError) {
    self.descriptors = descriptors
    self.busy = busy
    if readOnly, FileStatus.of(path) == nil {
      index = nil
      return
    }
    let flags = readOnly ? O_RDONLY : O_RDWR | O_CREAT
    index = try descriptors.adopt(FileDescriptor(opening: path, flags | O_NOFOLLOW))
  }

  package init(withoutFileIn descriptors: ForkGuard) {
    self.descriptors = descriptors
    busy = .busy
    index = nil
  }

  /// The descriptor of the lock file; -1 in a forked child, and for a lock without a file.
  var descriptor: Int32 { index.map { descriptors.descriptor($0) } ?? -1 }

  /// Takes the lock without waiting. Returns false if the lock is not free.
  package func take(shared: Bool = false) throws(SystemError) -> Bool {
    if index == nil { return true }
    let operation = (shared ? LOCK_SH : LOCK_EX) | LOCK_NB
    do throws(SystemError) {
      try checkErrno { larder_flock(descriptor, operation) }
      return true
    } catch SystemError(code: EWOULDBLOCK) { return false }
  }

  /// Whether the lock file was deleted. If so, other processes lock a new file. Makes one system call.
  package var isDeleted: Bool { index != nil && FileStatus.of(descriptor)?.st_nlink == 0 }

  package func isAt(_ path: String) -> Bool {
    index == nil || FileStatus.isFile(descriptor, at: path)
  }

  /// Tries to take the lock every 20 us at first and every 1 ms at the end. After `lockTimeout`, throws this lock's error.
  package func wait(lockTimeout: Duration) throws(SystemError) {
    let deadline = SuspendingClock.now + lockTimeout
    var delay: UInt32 = 20
    while try !take() {
      if SuspendingClock.now >= deadline { throw busy }
      backOff(microseconds: delay)
      delay = min(delay * 2, 1000)
    }
  }

  package func release() {
    // On a network file system a signal may interrupt even this call. Without another try the process would keep the lock.
    while larder_flock(descriptor, LOCK_UN) == -1, larder_errno() == EINTR {}
  }
}

/// A file lock that also excludes the other threads of this process.
package final class GuardedFileLock: Sendable {
  private let file: FileLock
  private let threads = WriterLock()

  package init(_ file: FileLock) { self.file = file }

  func isAt(_ path: String) -> Bool { file.isAt(path) }

  /// Throws the lock's own error if another process holds the lock for longer than `lockTimeout`. The wait for other threads
  /// counts, too: otherwise each thread would wait for the timeouts of all threads before it.
  package func withLock<Result>(
    lockTimeout: Duration, _ body: () throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    let deadline = SuspendingClock.now + lockTimeout
    // With a timeout of 0, threads must still be able to take turns.
    guard threads.enter(lockTimeout: max(lockTimeout, .milliseconds(100))) else { throw file.busy }
    defer { threads.leave() }
    try file.wait(lockTimeout: deadline - .now)
    defer { file.release() }
    return try body()
  }
}

/// A file lock that waiting processes get in the order of their requests.
///
/// Only `lock` excludes other processes; `queue` orders the waiting processes. A waiting process locks the byte of `queue`
/// whose offset is its time of arrival, and takes `lock` when no byte at a smaller offset is locked. The system releases both
/// locks of a killed process. A damaged queue cannot make two processes own `lock`. Only one thread of each process may wait.
package struct QueuedFileLock: Sendable {
  private let lock: FileLock
  private let queue: FileLock

  /// Microseconds between two tries of the first process in the queue to take `lock`, and between two checks by the others.
  private static let firstDelay: UInt32 = 50
  private static let otherDelay: UInt32 = 150
  /// If the first process does not take the free lock for this number of milliseconds, another process takes the lock.
  private static let longestWait: Int64 = 30

  package init(_ lock: FileLock, queue: FileLock) {
    self.lock = lock
    self.queue = queue
  }

  /// Waits for the lock. Throws ``SystemError/busy`` when the time is over. While the machine is suspended, no time passes.
  package func wait(lockTimeout: Duration) throws(SystemError) {
    if larder_is_locked(queue.descriptor, 0, 0) != 1, try lock.take() { return }
    let place = enterQueue()
    defer { if let place { _ = larder_set_lock(queue.descriptor, place, false) } }
    let deadline = SuspendingClock.now + lockTimeout
    var freeSince: Int64?
    while true {
      let isFirst = place.map { larder_is_locked(queue.descriptor, 0, $0) != 1 } ?? true
      if isFirst {
        if try lock.take() { return }
      } else if try isAbandoned(since: &freeSince) {
        return
      }
      if SuspendingClock.now >= deadline { throw .busy }
      backOff(microseconds: isFirst ? Self.firstDelay : Self.otherDelay)
    }
  }

  package func release() { lock.release() }

  /// Locks a byte of the queue; nil if the system grants no record lock. The process then waits without a place in the queue.
  private func enterQueue() -> off_t? {
    var place = off_t(SystemTime.monotonicMicroseconds)
    for _ in 0..<64 {
      if larder_set_lock(queue.descriptor, place, true) == 0 { return place }
      place += 1
    }
    return nil
  }

  /// Tests the lock every 10 ms. If the process in front has left the lock free for too long, takes the lock and returns true.
  private func isAbandoned(since freeSince: inout Int64?) throws(SystemError) -> Bool {
    let now = SystemTime.monotonicMilliseconds
    if now % 10 != 0 { return false }
    guard try lock.take() else {
      freeSince = nil
      return false
    }
    let since = freeSince ?? now
    freeSince = since
    if now - since >= Self.longestWait { return true }
    lock.release()
    return false
  }
}
