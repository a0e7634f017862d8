import Foundation
import Synchronization

/// A directory in which commands of a shell run. The built programs are in the `PATH` of these commands.
package final class ProgramFixture: Sendable {
  package let home = TemporaryDirectory()
  package init() {}

  /// The answer of `/bin/sh` to a command, in the form of a transcript.
  ///
  /// - Parameter asAtTerminal: whether `larder` prints its output in the form for a terminal.
  package func answer(to command: String, asAtTerminal: Bool = false) throws -> String {
    let terminal = asAtTerminal ? "larder() { command larder -o table \"$@\"; }\n" : ""
    let (code, output, error) = try run(terminal + command)
    var lines = Self.visible(output)
    lines += Self.visible(error).map { "! " + $0 }
    if code != 0 { lines.append("? \(code)") }
    return lines.map { $0.replacingOccurrences(of: home.path, with: "$PWD") + "\n" }.joined()
  }

  /// Only one thread at a time starts a process: Foundation has crashed when many threads started processes at the same time.
  private static let starting = Mutex(())

  /// Runs a command of `/bin/sh` in the directory, and waits for its end.
  package func run(_ command: String) throws -> (code: Int32, output: String, error: String) {
    let process = Process.silent(["/bin/sh", "-c", command])
    process.currentDirectoryURL = URL(fileURLWithPath: home.path)
    process.environment = [
      "PATH": Self.programs + ":/usr/bin:/bin", "HOME": home.path, "LC_ALL": "C.UTF-8", "TZ": "UTC",
    ]
    let output = try Capture(named: "output", in: home)
    let error = try Capture(named: "error", in: home)
    process.standardOutput = output.handle
    process.standardError = error.handle
    try Self.starting.withLock { _ in try process.run() }
    process.waitUntilExit()
    return (process.terminationStatus, try output.text(), try error.text())
  }

  /// The lines of a text with escapes for two things: characters that an editor hides, and blank lines, which end an answer.
  private static func visible(_ text: String) -> [String] {
    var lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map { line in
      let shown = line.map { $0 == "\r" ? "\\r" : $0 == "\0" ? "\\0" : String($0) }.joined()
      return shown.isEmpty ? "\\n" : shown
    }
  }

  /// The folder of this package's programs: `LARDER_PROGRAMS`, or else the folder of the tests.
  package static let programs =
    ProcessInfo.processInfo.environment["LARDER_PROGRAMS"]
    ?? URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
}

/// A file for the output of a process, because with a pipe the test would have to read while the process runs.
private struct Capture {
  let handle: FileHandle
  private let url: URL

  init(named name: String, in home: TemporaryDirectory) throws {
    url = URL(fileURLWithPath: home.path + "-\(name)")
    try Data().write(to: url)
    handle = try FileHandle(forWritingTo: url)
  }

  func text() throws -> String {
    try handle.close()
    defer { try? FileManager.default.removeItem(at: url) }
    return String(decoding: try Data(contentsOf: url), as: UTF8.self)
  }
}
