import Synchronization

/// A file lock that also excludes the other threads of this process.
package final class GuardedFileLock: Sendable {
  private let file: FileLock
  private let threads = Mutex<Void>(())

  package init(_ file: FileLock) { self.file = file }

  /// Runs `body` with the lock held.
  ///
  /// - Throws: ``SystemError/busy`` if another process holds the lock for longer than `lockTimeout`.
  package func withLock<Result>(
    lockTimeout: Duration, _ body: () throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    try threads.withLock { _ throws(SystemError) in
      try file.wait(lockTimeout: lockTimeout)
      defer { file.release() }
      return try body()
    }
  }

  /// As ``withLock(lockTimeout:_:)``; nil instead of an error.
  package func withLockIfPossible<Result>(
    lockTimeout: Duration, _ body: () -> Result
  ) -> Result? {
    do throws(SystemError) { return try withLock(lockTimeout: lockTimeout, body) } catch {
      return nil
    }
  }
}
