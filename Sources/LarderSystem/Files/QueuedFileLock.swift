import CLarderSystem

/// A file lock that processes get in the order in which they asked for it.
///
/// `lock` alone excludes. `queue` only orders the waiting processes: each one holds a record lock on a byte of it, whose
/// offset is the time of its arrival, and tries `lock` when no process holds an earlier byte. The system releases both
/// when a process ends, so a killed process blocks nothing, and no damage to the queue can make two processes own the lock.
/// One thread of a process waits at a time: callers need a lock of their own for that.
package struct QueuedFileLock: Sendable {
  private let lock: FileLock
  private let queue: FileLock

  /// How often the first process in the queue tries the lock, and how often the others look whether they are first.
  private static let firstDelay: UInt32 = 50
  private static let otherDelay: UInt32 = 150
  /// A process that leaves the lock free for so long is stopped, and the others pass it.
  private static let longestWait: Int64 = 30

  package init(_ lock: FileLock, queue: FileLock) {
    self.lock = lock
    self.queue = queue
  }

  /// Waits for the lock, at most for `lockTimeout`.
  ///
  /// - Throws: ``SystemError/busy`` when the time is over.
  package func wait(lockTimeout: Duration) throws(SystemError) {
    if larder_is_locked_before(queue.descriptor, 0) != 1, try lock.take() { return }
    let place = enterQueue()
    defer { if let place { _ = larder_unlock_byte(queue.descriptor, place) } }
    try wait(at: place, until: ContinuousClock.now + lockTimeout)
  }

  /// Takes the lock if it is free and no other process waits.
  package func take() throws(SystemError) -> Bool {
    if larder_is_locked_before(queue.descriptor, 0) == 1 { return false }
    return try lock.take()
  }

  package func release() { lock.release() }

  /// Nil if the system grants no record lock: such a process waits without a place.
  private func enterQueue() -> off_t? {
    var place = off_t(SystemTime.monotonicMicroseconds)
    for _ in 0..<64 {
      if larder_lock_byte(queue.descriptor, place) == 0 { return place }
      place += 1
    }
    return nil
  }

  private func wait(at place: off_t?, until deadline: ContinuousClock.Instant) throws(SystemError) {
    var freeSince: Int64?
    while true {
      let isFirst = place.map { larder_is_locked_before(queue.descriptor, $0) != 1 } ?? true
      if isFirst {
        if try lock.take() { return }
      } else if try isAbandoned(since: &freeSince) {
        return
      }
      if ContinuousClock.now >= deadline { throw .busy }
      backOff(microseconds: isFirst ? Self.firstDelay : Self.otherDelay)
    }
  }

  /// Looks every 10 ms whether the process in front leaves the lock free; takes it if it does so for too long.
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
