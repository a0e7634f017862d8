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

  /// Runs a command to its end. Returns the exit status and the standard output.
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

/// The words that, in front of a command, run `script` in a shell and then the command.
package func inShell(_ script: String) -> [String] {
  ["sh", "-c", "\(script) && exec \"$0\" \"$@\""]
}

/// The processor time that the calling thread spends in `body`.
///
/// Other work of the machine changes elapsed time, but hardly processor time, which tells linear from quadratic cost.
package func processorTime(_ body: () throws -> Void) rethrows -> Duration {
  let start = processorTime
  try body()
  return processorTime - start
}

private var processorTime: Duration {
  var time = timespec()
  let result = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  precondition(result == 0, "every system has a clock for each thread")
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

/// The library that records what a process does to the files of a store, and lets syncs fail. Linux only.
package enum PowerRecorder {
  struct NotBuilt: Error {}

  /// The path of the library. A script builds the library if its source is newer than the last build.
  private static let library = Result<String, any Error> {
    let script = Repository.root.appending(path: "Scripts/power-recorder").path
    let (status, text) = try Process.output(of: [script], errors: .standardError)
    guard status == 0 else { throw NotBuilt() }
    return String(text.dropLast())
  }

  /// The words to put before a command, so that the recorder writes the changes of the store's files to `trace`.
  package static func recording(_ store: String, in trace: String) throws -> [String] {
    let recorder = try library.get()
    return ["LD_PRELOAD=\(recorder)", "LARDER_POWER_STORE=\(store)", "LARDER_POWER_TRACE=\(trace)"]
  }
}
