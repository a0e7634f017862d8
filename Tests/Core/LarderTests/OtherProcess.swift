import Foundation
import TestSupport
import Testing

/// A running `LarderPeer`. Its `deinit` kills the process.
final class OtherProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var rest = Data()

  /// - Parameters:
  ///   - prefix: a command that runs the peer, such as `setpriv` with its arguments.
  ///   - first: the first line of the peer. The initializer waits for the line.
  init(
    _ scenario: String, _ store: String, _ arguments: String..., under prefix: [String] = [],
    saying first: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = prefix + [Self.executable, scenario, store] + arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
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

  /// How long a peer may be silent, in milliseconds. A peer that works is never silent for so long, even on a busy machine.
  private static let longestWait = Int32(clamping: 600_000 * TestSettings.trials)

  /// The next line; nil when the peer has ended, or after `longestWait` without a line, which kills the peer.
  func line() -> String? {
    while true {
      if let end = rest.firstIndex(of: 0x0A) {
        let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
        rest.removeSubrange(rest.startIndex...end)
        return line
      }
      var wait = pollfd(
        fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&wait, 1, Self.longestWait) != 0 else {
        Issue.record("\(process.arguments ?? []) says nothing for \(Self.longestWait / 1000) s")
        kill()
        return nil
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      rest += more
    }
  }

  /// The lines until the peer ends.
  func lines() -> [String] {
    var lines: [String] = []
    while let line = line() { lines.append(line) }
    return lines
  }

  var isRunning: Bool { process.isRunning }

  var identifier: Int32 { process.processIdentifier }

  /// Writes a line to the peer's input.
  func tell(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// Writes a line to the peer's input and returns its answer.
  @discardableResult
  func ask(_ question: String) throws -> String? {
    try tell(question)
    return line()
  }

  func endInput() throws { try input.fileHandleForWriting.close() }

  func kill() {
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }

  deinit { kill() }
}

extension [OtherProcess] {
  /// Lets peers that are open load the same keys at once. Returns the number of all loads, and expects that each peer ends with
  /// all keys.
  func loads(of keys: Int) throws -> Int {
    for peer in self { #expect(peer.line() == "open") }
    for peer in self { try peer.tell("go") }
    return reduce(0) { sum, peer in
      let counts = (peer.line() ?? "").split(separator: " ").compactMap { Int($0) }
      #expect(counts.last == keys)
      #expect(peer.line() == "closed")
      return sum + (counts.first ?? 0)
    }
  }
}
