public import CLarderSystem

/// A number that differs between the threads of this process.
@inlinable @inline(__always)
package var threadIdentity: UInt64 {
  #if canImport(Darwin)
    unsafe UInt64(UInt(bitPattern: pthread_self()))
  #else
    UInt64(pthread_self())
  #endif
}

/// Sleeps briefly before the caller retries something that another thread or process finishes soon.
package func backOff(microseconds: UInt32 = 50) {
  usleep(microseconds)
}

/// Whether the caller runs in a task, whose thread other tasks of the process need.
package var isInTask: Bool {
  unsafe withUnsafeCurrentTask { task in unsafe task != nil }
}

/// Writes a line to the standard error of a program that a person runs: to a terminal, or if the environment asks for it by
/// `LARDER_WARNINGS=1`.
package func warn(_ line: String) {
  let isWanted = unsafe getenv("LARDER_WARNINGS") != nil
  guard isWanted || isatty(2) == 1 else { return }
  let bytes = Array((line + "\n").utf8)
  _ = unsafe write(2, bytes, bytes.count)
}

/// A thread that runs one task at the requested times.
///
/// The thread exists from ``init(_:)`` on, so a process that later runs out of threads or file descriptors can still
/// rely on it. It needs no descriptor. In a forked child it does not exist, and no method may be called.
@safe package final class TimerThread: Sendable {
  private let state: State

  /// - Throws: `EAGAIN` if the system allows no further thread.
  package init(_ task: @escaping @Sendable () -> Void) throws(SystemError) {
    state = State(task)
    let retained = unsafe Unmanaged.passRetained(state)
    let result = unsafe larder_start_thread(
      { context in
        unsafe Unmanaged<State>.fromOpaque(context!).takeRetainedValue().run()
        return nil
      }, retained.toOpaque())
    if result != 0 {
      unsafe retained.release()
      throw SystemError(code: result)
    }
  }

  /// Runs the task after `milliseconds`, or earlier if an earlier time is already requested.
  package func schedule(in milliseconds: Int64) {
    state.schedule(at: SystemTime.monotonicMilliseconds + milliseconds)
  }

  /// Ends the thread after the current run of the task; does not wait for it.
  package func stop() { state.stop() }

  /// Shared by the owner and the thread, whichever ends last.
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
