import Foundation
import Synchronization

/// Runs `body` in `count` threads at the same time, waits at most 20 minutes for all of them, and throws their first error.
package func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
  struct TimedOut: Error {}
  let outcomes = Outcomes()
  let group = DispatchGroup()
  for index in 0..<count {
    group.enter()
    Thread.detachNewThread {
      outcomes.add(Result { try body(index) })
      group.leave()
    }
  }
  guard group.wait(timeout: .now() + 1200) == .success else { throw TimedOut() }
  try outcomes.check()
}

package func inTasks(
  _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void
) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    for index in 0..<count { group.addTask { try await body(index) } }
    try await group.waitForAll()
  }
}

package final class Outcomes: Sendable {
  private let failures = Mutex<[any Error]>([])

  package init() {}

  package func add(_ result: Result<Void, any Error>) {
    if case .failure(let error) = result { failures.withLock { $0.append(error) } }
  }

  package func check() throws {
    if let first = failures.withLock({ $0.first }) { throw first }
  }
}
