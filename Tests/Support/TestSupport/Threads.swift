import Foundation
import Synchronization

/// Runs `body` in `count` threads at the same time, waits at most 20 minutes for all of them, and throws their first error.
package func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
  struct TimedOut: Error {}
  let failures = Mutex<[any Error]>([])
  let group = DispatchGroup()
  for index in 0..<count {
    group.enter()
    Thread.detachNewThread {
      do { try body(index) } catch { failures.withLock { $0.append(error) } }
      group.leave()
    }
  }
  guard group.wait(timeout: .now() + 1200) == .success else { throw TimedOut() }
  if let first = failures.withLock({ $0.first }) { throw first }
}

/// Repeats `body` in `count` threads while another thread runs `other`. Throws the first error of all these threads.
package func inThreads(
  repeating count: Int, _ body: @escaping @Sendable (Int) throws -> Void,
  during other: @escaping @Sendable () throws -> Void
) throws {
  let isOver = Atomic(false)
  try inThreads(count + 1) { thread in
    if thread < count {
      while !isOver.load(ordering: .sequentiallyConsistent) { try body(thread) }
    } else {
      defer { isOver.store(true, ordering: .sequentiallyConsistent) }
      try other()
    }
  }
}

package func inTasks(
  _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void
) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    for index in 0..<count { group.addTask { try await body(index) } }
    try await group.waitForAll()
  }
}
