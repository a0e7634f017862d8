package import Foundation

extension Process {
  /// A command that is not started yet. The command gets no input, and its output is dropped.
  package static func silent(_ words: [String]) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = words
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    return process
  }

  /// Runs a command to its end. Returns its exit status and what it wrote to standard output.
  package static func output(
    of words: [String], environment: [String: String]? = nil, errors: FileHandle = .nullDevice
  ) throws -> (status: Int32, text: String) {
    let process = silent(words)
    let output = Pipe()
    if let environment { process.environment = environment }
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
  }

  /// Runs a command to its end and drops its output. Returns whether the command succeeded.
  package static func succeeds(_ words: [String]) -> Bool { (try? output(of: words))?.status == 0 }
}
