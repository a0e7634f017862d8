import CLarderSystem

/// A thread that runs one task at the requested times. The thread exists from ``init(_:)`` on, so it works in a process that
/// later runs out of threads or descriptors. A forked child does not have the thread and must call no method.
@safe package final class TimerThread: Sendable {
  private let state: State

  /// - Throws: `EAGAIN` if the system allows no further thread.
  package init(_ task: @escaping @Sendable () -> Void) throws(SystemError) {
    let state = State(task)
    self.state = state
    try runInThread { state.run() }
  }

  /// Runs the task after `milliseconds`, or earlier if an earlier run is already requested.
  package func schedule(in milliseconds: Int64) {
    state.schedule(at: SystemTime.monotonicMilliseconds + milliseconds)
  }

  /// Ends the thread after the current run of the task; does not wait for that end.
  package func stop() { state.stop() }

  /// The owner and the thread share this object, so it lives until both have ended.
  @safe private final class State: @unchecked Sendable {
    nonisolated(unsafe) private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    nonisolated(unsafe) private let condition: UnsafeMutablePointer<pthread_cond_t>
    private let task: @Sendable () -> Void
    private var next: Int64?
    private var isStopped = false

    init(_ task: @escaping @Sendable () -> Void) {
      self.task = task
      unsafe mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
      unsafe condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
      unsafe pthread_mutex_init(mutex, nil)
      unsafe larder_cond_init(condition)
    }

    deinit {
      unsafe pthread_mutex_destroy(mutex)
      unsafe pthread_cond_destroy(condition)
      unsafe mutex.deallocate()
      unsafe condition.deallocate()
    }

    func schedule(at time: Int64) {
      unsafe pthread_mutex_lock(mutex)
      defer { unsafe pthread_mutex_unlock(mutex) }
      if let next, next <= time { return }
      next = time
      unsafe pthread_cond_signal(condition)
    }

    func stop() {
      unsafe pthread_mutex_lock(mutex)
      defer { unsafe pthread_mutex_unlock(mutex) }
      isStopped = true
      unsafe pthread_cond_signal(condition)
    }

    func run() {
      while waitForNext() { task() }
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
}
