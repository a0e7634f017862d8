package import Foundation

/// A running `LarderPeer`. The release of this object kills the process.
package final class PeerProcess: @unchecked Sendable {
  private struct UnexpectedLine: Error {
    let line: String?
    let expected: String
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let collector: LineCollector
  private let longestWait: TimeInterval
  /// Whether the peer was killed because it printed nothing for too long.
  package private(set) var isHanging = false

  /// - Parameters:
  ///   - prefix: a command that runs the peer, such as `setpriv` with its arguments.
  ///   - first: the first line of the peer. The initializer waits for the line, and throws an error if another line comes.
  ///   - limit: the longest time in seconds without a line of the peer. A peer that works prints more often, even on a busy
  ///     machine.
  ///   - errors: the file for the standard error of the peer. Nil means the standard error of this process.
  package init(
    _ scenario: String, _ store: String, _ arguments: [String] = [], under prefix: [String] = [],
    saying first: String? = nil,
    within limit: TimeInterval = TimeInterval(600 * TestSettings.trials), errors: FileHandle? = nil
  ) throws {
    longestWait = limit
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = prefix + [PeerProcess.executable, scenario, store] + arguments
    process.standardInput = input
    process.standardOutput = output
    if let errors { process.standardError = errors }
    try process.run()
    collector = LineCollector(output.fileHandleForReading)
    if let first {
      let said = line()
      if said != first { throw UnexpectedLine(line: said, expected: first) }
    }
  }

  package static let executable: String = {
    var directory = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    while directory.pathComponents.count > 1 {
      let candidate = directory.appendingPathComponent("LarderPeer").path
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
      directory.deleteLastPathComponent()
    }
    return "LarderPeer"
  }()

  /// The next unread line. Nil after the last line of an ended peer. If no line comes in time, kills the peer and returns why.
  package func line() -> String? {
    let line = collector.next(within: longestWait)
    guard line == nil, !collector.hasEnded else { return line }
    isHanging = true
    kill()
    return "\(process.arguments ?? []) says nothing for \(longestWait) s"
  }

  /// The unread lines until the peer ends.
  package func lines() -> [String] { Array(AnyIterator { self.line() }) }

  /// All lines that the peer has printed so far. Includes the lines that were already read.
  package var soFar: [String] { collector.soFar }
  package var isRunning: Bool { process.isRunning }
  package var identifier: Int { Int(process.processIdentifier) }

  package func tell(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  @discardableResult
  package func ask(_ question: String) throws -> String? {
    try tell(question)
    return line()
  }

  package func endInput() throws { try input.fileHandleForWriting.close() }

  package func kill() {
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }

  /// Closes the peer's input and waits for the peer's end. Returns the exit status, or minus the number of a fatal signal.
  package func end() throws -> Int32 {
    try endInput()
    process.waitUntilExit()
    return process.terminationReason == .exit
      ? process.terminationStatus : -process.terminationStatus
  }

  deinit { kill() }
}

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
  package var soFar: [String] { condition.withLock { lines } }

  /// The next line. Nil at the end of the output, or if no line comes in time.
  package func next(within limit: TimeInterval) -> String? {
    let deadline = Date(timeIntervalSinceNow: limit)
    return condition.withLock {
      while taken == lines.count { if isEnded || !condition.wait(until: deadline) { return nil } }
      taken += 1
      return lines[taken - 1]
    }
  }
}
