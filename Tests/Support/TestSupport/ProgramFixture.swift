import Foundation

/// A directory for transcripts, with the program in the path.
package final class ProgramFixture {
  package let home = TemporaryDirectory()

  package init() {}

  /// The answer of `/bin/sh` to a command, in the form of a transcript.
  ///
  /// - Parameter asAtTerminal: whether `larder` answers in its form for a terminal.
  package func answer(to command: String, asAtTerminal: Bool = false) throws -> String {
    let terminal = asAtTerminal ? "larder() { command larder -o table \"$@\"; }\n" : ""
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", terminal + command]
    process.currentDirectoryURL = URL(fileURLWithPath: home.path)
    process.environment = [
      "PATH": Self.programs + ":/usr/bin:/bin", "HOME": home.path, "LC_ALL": "C.UTF-8", "TZ": "UTC",
    ]
    process.standardInput = FileHandle.nullDevice
    let output = try Capture(named: "output", in: home)
    let error = try Capture(named: "error", in: home)
    process.standardOutput = output.handle
    process.standardError = error.handle
    try process.run()
    process.waitUntilExit()
    var lines = Self.visible(try output.text())
    lines += Self.visible(try error.text()).map { "! " + $0 }
    if process.terminationStatus != 0 { lines.append("? \(process.terminationStatus)") }
    return lines.map { $0.replacingOccurrences(of: home.path, with: "$PWD") + "\n" }.joined()
  }

  /// The lines with escapes for characters that an editor would hide, and for blank lines, which would end an answer.
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

/// A file for the output of a process: a pipe would need a reader at the same time.
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
