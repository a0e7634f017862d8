import NIOCore

/// Runs the tasks of a connection on its event loop, so that an answer from the store changes no thread.
///
/// A write of the store and a wait for another connection suspend the task and leave the loop free.
final class LoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = unsafe asUnownedTaskExecutor()
    loop.execute { unsafe job.runSynchronously(on: executor) }
  }
}
