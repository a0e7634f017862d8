import Foundation
import Synchronization

/// Runs `body` on `count` threads that begin at the same time. Returns the nanoseconds until the last thread has ended.
///
/// `prepare` runs on each thread before the clock starts.
func onThreads<State>(
  _ count: Int, prepare: @escaping @Sendable (Int) throws -> State,
  _ body: @escaping @Sendable (Int, State) throws -> Void
) throws -> Double {
  let ready = DispatchSemaphore(value: 0)
  let go = DispatchSemaphore(value: 0)
  let done = DispatchSemaphore(value: 0)
  let failure = Mutex<(any Error)?>(nil)
  for index in 0..<count {
    Thread.detachNewThread {
      do {
        let state = Result { try prepare(index) }
        ready.signal()
        go.wait()
        try body(index, state.get())
      } catch {
        failure.withLock { $0 = $0 ?? error }
      }
      done.signal()
    }
  }
  for _ in 0..<count { ready.wait() }
  let time = nanoseconds {
    for _ in 0..<count { go.signal() }
    for _ in 0..<count { done.wait() }
  }
  if let error = failure.withLock({ $0 }) { throw error }
  return time
}
