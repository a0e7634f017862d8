package import Foundation

/// Collects the lines of a child, with a limit on the time between two lines.
package final class LineCollector: @unchecked Sendable {
  private let condition = NSCondition()
  private var lines: [String] = []
  private var taken = 0
  private var isEnded = false

  package init(_ handle: FileHandle) {
    Thread.detachNewThread { [self] in
      var rest = Data()
      while case let data = handle.availableData, !data.isEmpty {
        rest += data
        while let end = rest.firstIndex(of: 0x0A) {
          let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
          rest.removeSubrange(rest.startIndex...end)
          condition.withLock {
            lines.append(line)
            condition.broadcast()
          }
        }
      }
      condition.withLock {
        isEnded = true
        condition.broadcast()
      }
    }
  }

  /// Whether all lines are taken and the child has closed its output. The end of the child also closes the output.
  package var hasEnded: Bool { condition.withLock { isEnded && taken == lines.count } }

  /// All lines that the child has printed so far. Includes the taken lines.
  package var soFar: [String] { condition.withLock { lines } }

  /// The next line. Nil at the end of the output, or if no line comes in time.
  package func next(within limit: TimeInterval) -> String? {
    let deadline = Date(timeIntervalSinceNow: limit)
    return condition.withLock {
      while taken == lines.count {
        if isEnded || !condition.wait(until: deadline) { return nil }
      }
      taken += 1
      return lines[taken - 1]
    }
  }
}
