import Foundation
import Testing

/// A running `LarderPeer`. Its `deinit` kills the process.
final class PeerProcess: @unchecked Sendable {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let condition = NSCondition()
  private var buffered: [String] = []
  private var read = 0
  private var ended = false

  /// - Parameters:
  ///   - prefix: a command that runs the peer, such as `setpriv` with its arguments.
  ///   - first: the first line of the peer. The initializer waits for the line.
  init(
    _ scenario: String, _ store: String, _ arguments: [String] = [], under prefix: [String] = [],
    saying first: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = prefix + [Self.executable, scenario, store] + arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let handle = output.fileHandleForReading
    Thread.detachNewThread { [self] in collect(from: handle) }
    if let first { #expect(line() == first, sourceLocation: sourceLocation) }
  }

  static let executable: String = {
    var directory = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    while directory.pathComponents.count > 1 {
      let candidate = directory.appendingPathComponent("LarderPeer").path
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
      directory.deleteLastPathComponent()
    }
    return "LarderPeer"
  }()

  private func collect(from handle: FileHandle) {
    var rest = Data()
    while true {
      let data = handle.availableData
      rest += data
      condition.withLock {
        while let end = rest.firstIndex(of: 0x0A) {
          buffered.append(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
          rest.removeSubrange(rest.startIndex...end)
        }
        if data.isEmpty { ended = true }
        condition.broadcast()
      }
      if data.isEmpty { return }
    }
  }

  /// The next unread line; nil if no line comes in time, or if the peer has ended and all its lines are read.
  func line(within seconds: TimeInterval = 20) -> String? {
    let deadline = Date(timeIntervalSinceNow: seconds)
    return condition.withLock {
      while read == buffered.count, !ended {
        if !condition.wait(until: deadline) { return nil }
      }
      guard read < buffered.count else { return nil }
      read += 1
      return buffered[read - 1]
    }
  }

  /// The unread lines until the peer ends, or until it writes no line for 20 s.
  func lines() -> [String] {
    var lines: [String] = []
    while let line = line() { lines.append(line) }
    return lines
  }

  /// All lines so far, read or not.
  var soFar: [String] { condition.withLock { buffered } }

  var identifier: Int { Int(process.processIdentifier) }

  func say(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  func endInput() throws { try input.fileHandleForWriting.close() }

  func kill() {
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }

  /// Closes the peer's input and waits for its end. Returns the exit status, or minus the number of the signal that ended it.
  func end() throws -> Int32 {
    try endInput()
    process.waitUntilExit()
    return process.terminationReason == .exit
      ? process.terminationStatus : -process.terminationStatus
  }

  deinit {
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
  }
}
