package struct NeverTrue: Error, CustomStringConvertible { package let description: String }

/// Waits until another task has made `condition` true.
///
/// A correct test never waits as long as the usual limit, which ends a test whose condition never becomes true.
package func waitUntil(
  within limit: Duration = .seconds(600), isolation: isolated (any Actor)? = #isolation,
  file: StaticString = #fileID, line: UInt = #line, _ condition: () async throws -> Bool
) async throws {
  let start = ContinuousClock.now
  var turns = 0
  while try await !condition() {
    if start.duration(to: .now) > limit {
      throw NeverTrue(description: "\(file):\(line): the condition was false for \(limit)")
    }
    turns += 1
    // After 100 turns, sleeps in each turn, because other threads need the processor.
    if turns < 100 { await Task.yield() } else { try await Task.sleep(for: .milliseconds(1)) }
  }
}

extension Duration {
  /// A lock timeout that only a defect reaches. For tests in which a thread keeps the writer lock on purpose.
  package static let ample = Duration.seconds(600)
}
