import CLarderSystem

/// A thread that runs one task at requested times. ``init(_:)`` starts the thread, so the timer works even if the process later
/// runs out of threads or descriptors. A forked child does not have the thread and must call no method. The owner and the
/// thread share this object, which lives until the owner has released it and the thread has ended.
@safe package final class TimerThread: @unchecked Sendable {
  nonisolated(unsafe) private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  nonisolated(unsafe) private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var next: Int64?
  private var isStopped = false

  /// - Throws: `EAGAIN` if the system allows no further thread.
  package init(_ task: @escaping @Sendable () -> Void) throws(SystemError) {
    unsafe mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    unsafe condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    unsafe larder_cond_init(condition)
    try runInThread {
      // The thread often wakes up during a sync. Without this call, the thread could delay reads of other threads by up to 1 ms.
      larder_schedule_as_batch()
      while self.waitForNext() { task() }
    }
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe pthread_cond_destroy(condition)
    unsafe mutex.deallocate()
    unsafe condition.deallocate()
  }

  /// Runs the task after `milliseconds`. If an earlier run is already requested, the task runs only at that earlier time.
  package func schedule(in milliseconds: Int64) {
    let time = SystemTime.monotonicMilliseconds + milliseconds
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    if let next, next <= time { return }
    next = time
    unsafe pthread_cond_signal(condition)
  }

  /// Tells the thread to end after the current run of the task. Does not wait until the thread has ended.
  package func stop() {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    isStopped = true
    unsafe pthread_cond_signal(condition)
  }

  private func waitForNext() -> Bool {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while !isStopped {
      guard let time = next else {
        unsafe pthread_cond_wait(condition, mutex)
        continue
      }
      if SystemTime.monotonicMilliseconds >= time {
        next = nil
        return true
      }
      unsafe larder_cond_wait_until(condition, mutex, time)
    }
    return false
  }
}
