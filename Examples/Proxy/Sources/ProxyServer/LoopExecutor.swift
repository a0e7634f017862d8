import NIOCore

/// Runs the tasks of a connection on its event loop, so that an answer from the store stays on one thread.
///
/// A write to the store, or a wait for another connection, suspends the task and leaves the loop free.
final class LoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = unsafe asUnownedTaskExecutor()
    loop.execute { unsafe job.runSynchronously(on: executor) }
  }
}
