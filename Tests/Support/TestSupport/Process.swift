package import Foundation

extension Process {
  /// A command that is not started yet, without input and output.
  package static func silent(_ words: [String]) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = words
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    return process
  }

  /// Runs a command to its end, without its output. Returns whether it succeeded.
  package static func succeeds(_ words: [String]) -> Bool {
    let process = silent(words)
    do { try process.run() } catch { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
