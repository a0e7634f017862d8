import CLarderSystem

/// A lock on a whole file, exclusive or shared, that the system releases when the process ends.
///
/// The lock uses `flock`. The system drops POSIX record locks when a process closes any descriptor of the file, and macOS
/// has no locks tied to an open file description. `flock` does not separate the threads of a process: callers need a
/// lock of their own for that.
package struct FileLock: Sendable {
  let descriptors: ForkGuard
  /// Nil for a lock without a file, which is always free.
  private let index: Int?

  /// Opens the lock file, creating it if necessary. `descriptors` closes it.
  package init(opening path: String, in descriptors: ForkGuard) throws(SystemError) {
    let file = try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_NOFOLLOW)
    self.descriptors = descriptors
    index = descriptors.adopt(file)
  }

  /// Opens a lock file that the process may only read. Without a file the lock is always free: a process that cannot
  /// create it relies on the file system being read-only.
  package init(readingIfPresent path: String, in descriptors: ForkGuard) throws(SystemError) {
    self.descriptors = descriptors
    guard FileStatus.of(path) != nil else {
      index = nil
      return
    }
    let file = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW)
    index = descriptors.adopt(file)
  }

  /// A lock without a file, which is always free.
  package init(withoutFileIn descriptors: ForkGuard) {
    self.descriptors = descriptors
    index = nil
  }

  /// -1 in a forked child and for a lock without a file.
  var descriptor: Int32 { index.map { descriptors.descriptor($0) } ?? -1 }

  /// Takes the lock if it is free; returns whether it did.
  package func take(shared: Bool = false) throws(SystemError) -> Bool {
    if index == nil { return true }
    let operation = (shared ? LOCK_SH : LOCK_EX) | LOCK_NB
    let descriptor = descriptor
    do throws(SystemError) {
      try checkErrno { larder_flock(descriptor, operation) }
      return true
    } catch SystemError(code: EWOULDBLOCK) {
      return false
    }
  }

  /// Whether the lock file was deleted, so that other processes lock another file; one system call.
  package var isDeleted: Bool { index != nil && FileStatus.of(descriptor)?.st_nlink == 0 }

  /// Whether the lock file is still at `path`.
  package func isAt(_ path: String) -> Bool {
    index == nil || FileStatus.isFile(descriptor, at: path)
  }

  /// Waits for the lock, at most for `lockTimeout`; polls every 20 us at first and every 1 ms at the end.
  ///
  /// - Throws: ``SystemError/busy`` when the time is over.
  package func wait(lockTimeout: Duration) throws(SystemError) {
    if try take() { return }
    let deadline = ContinuousClock.now + lockTimeout
    var delay: UInt32 = 20
    while ContinuousClock.now < deadline {
      backOff(microseconds: delay)
      if try take() { return }
      delay = min(delay * 2, 1000)
    }
    throw .busy
  }

  package func release() {
    _ = larder_flock(descriptor, LOCK_UN)
  }
}
