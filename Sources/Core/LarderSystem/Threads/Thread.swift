public import CLarderSystem

/// The number of the calling thread. No two running threads of this process have the same number.
@inlinable @inline(__always)
package var threadIdentity: UInt64 {
  #if canImport(Darwin)
    unsafe UInt64(UInt(bitPattern: pthread_self()))
  #else
    UInt64(pthread_self())
  #endif
}

/// The identity of a running thread, and its name if it has a name, for messages.
package func threadDescription(of identity: UInt64) -> String {
  unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
    unsafe buffer.initialize(repeating: 0)
    unsafe larder_thread_name(identity, buffer.baseAddress!, 64)
    let name = unsafe String(cString: buffer.baseAddress!)
    return name.isEmpty ? "thread \(identity)" : "thread \(identity) (\(name))"
  }
}

/// Sleeps before another try, when another thread or process will soon finish its work.
package func backOff(microseconds: UInt32 = 50) { usleep(microseconds) }

/// Whether the caller runs in a task. If so, waiting blocks a thread that other tasks of the process need.
package var isInTask: Bool { unsafe withUnsafeCurrentTask { task in unsafe task != nil } }

/// Writes `line` to standard error, if standard error is a terminal or the environment has `LARDER_WARNINGS`.
package func warn(_ line: String) {
  guard environmentVariable("LARDER_WARNINGS") != nil || isatty(2) == 1 else { return }
  let bytes = Array((line + "\n").utf8)
  _ = unsafe write(2, bytes, bytes.count)
}

/// Runs `work` in a new thread, which receives no signals. Throws `EAGAIN` if the system allows no further thread.
package func runInThread(_ work: @escaping @Sendable () -> Void) throws(SystemError) {
  let retained = unsafe Unmanaged.passRetained(ThreadWork(work))
  let result = unsafe larder_start_thread(
    { context in
      unsafe Unmanaged<ThreadWork>.fromOpaque(context!).takeRetainedValue().run()
      return nil
    }, retained.toOpaque())
  if result != 0 {
    unsafe retained.release()
    throw SystemError(code: result)
  }
}

private final class ThreadWork: Sendable {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
