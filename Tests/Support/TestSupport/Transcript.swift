import Foundation

/// Commands of a shell and what they answer, as text that can be read and run.
///
///     $ larder store -e 'keys @a'      a command; `> ` continues it
///     apple                            what it wrote to standard output
///     ! error: ...                     what it wrote to standard error
///     ? 2                              its exit code, if it is not 0
///
/// A blank line ends an answer, so one within it is written `\n`, as `\r` and `\0` are; the fixture is
/// `$PWD`. In a document `...` stands for text that differs between runs, such as a time. Anything before the first command, and lines that begin with `# `
/// between them, are remarks.
struct Transcript {
  struct Step {
    var command: String
    var answer: String
    /// Where the answer stands in the lines of the text.
    var lines: Range<Int>

    /// Whether the answer is the one that the document shows.
    func accepts(_ given: String) -> Bool {
      let shown = answer.split(separator: "\n", omittingEmptySubsequences: false)
      let lines = given.split(separator: "\n", omittingEmptySubsequences: false)
      return shown.count == lines.count && zip(shown, lines).allSatisfy(Self.fits)
    }

    private static func fits(_ shown: Substring, _ line: Substring) -> Bool {
      let parts = shown.components(separatedBy: "...")
      guard parts.count > 1 else { return shown == line }
      guard line.hasPrefix(parts[0]) else { return false }
      var rest = line.dropFirst(parts[0].count)
      for part in parts.dropFirst().dropLast() {
        guard let found = rest.range(of: part) else { return false }
        rest = rest[found.upperBound...]
      }
      return rest.hasSuffix(parts[parts.count - 1])
    }
  }

  let lines: [String]
  let steps: [Step]

  init(_ text: String) {
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var steps: [Step] = []
    var index = 0
    while index < lines.count {
      guard lines[index].hasPrefix("$ ") else {
        index += 1
        continue
      }
      var command = String(lines[index].dropFirst(2))
      index += 1
      while index < lines.count, lines[index].hasPrefix("> ") {
        command += "\n" + lines[index].dropFirst(2)
        index += 1
      }
      let start = index
      while index < lines.count, !lines[index].hasPrefix("$ "), !lines[index].isEmpty { index += 1 }
      let answer = lines[start..<index].map { $0 + "\n" }.joined()
      steps.append(Step(command: command, answer: answer, lines: start..<index))
    }
    self.steps = steps
  }

  /// The blocks of a document that are marked as `console`; all other lines are remarks.
  init(document: String) {
    var isConsole = false
    let lines = document.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let isMark = line.hasPrefix("```")
      if isMark { isConsole = line == "```console" }
      return isConsole && !isMark ? String(line) : ""
    }
    self.init(lines.joined(separator: "\n"))
  }

  /// The text with other answers.
  func replacing(_ answers: [String]) -> String {
    var result = lines
    for (step, answer) in zip(steps, answers).reversed() {
      result.replaceSubrange(step.lines, with: answer.split(separator: "\n").map(String.init))
    }
    return result.joined(separator: "\n")
  }
}

/// A directory in which transcripts run, with the program in the path.
final class Fixture {
  let home = TemporaryHome()

  init() throws {
    try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
  }

  /// What a command of `/bin/sh` answers, in the form of a transcript.
  ///
  /// - Parameter asAtTerminal: `larder` answers in the form that it has at a terminal.
  func answer(to command: String, asAtTerminal: Bool = false) throws -> String {
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

  /// Lines without what an editor would hide or a transcript would end at.
  private static func visible(_ text: String) -> [String] {
    var lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map { line in
      let shown = line.map { $0 == "\r" ? "\\r" : $0 == "\0" ? "\\0" : String($0) }.joined()
      return shown.isEmpty ? "\\n" : shown
    }
  }

  /// Where the programs of this package are: beside the tests, unless it is said.
  static let programs =
    ProcessInfo.processInfo.environment["LARDER_PROGRAMS"]
    ?? URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
}

/// A file that takes what a process writes; a pipe would have to be read meanwhile.
private struct Capture {
  let handle: FileHandle
  private let url: URL

  init(named name: String, in home: TemporaryHome) throws {
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
