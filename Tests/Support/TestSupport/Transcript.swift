import Foundation

/// Commands of a shell and their answers, as text that a person can read and a test can run.
///
///     $ larder store -e 'keys @a'      a command; the next line continues it after `> `
///     apple                            the standard output of the command
///     ! error: ...                     the standard error of the command
///     ? 2                              the exit code of the command, if it is not 0
///
/// A blank line ends an answer. In an answer, `\n` means a blank line, `\r` CR, `\0` NUL, and `$PWD` the directory of the
/// fixture. In a document, `...` means text that differs between runs, such as a time. A line `...` means any number of lines.
/// Text before the first command, and lines between commands that begin with `# `, are remarks.
package struct Transcript {
  package struct Step {
    package var command: String
    package var answer: String
    /// The lines of the text that have the answer.
    package var lines: Range<Int>

    /// Whether the real answer matches the answer of the document.
    package func accepts(_ given: String) -> Bool {
      let shown = answer.split(separator: "\n", omittingEmptySubsequences: false)
      let lines = given.split(separator: "\n", omittingEmptySubsequences: false)
      guard let gap = shown.firstIndex(of: "...") else {
        return shown.count == lines.count && zip(shown, lines).allSatisfy(Self.fits)
      }
      let (before, after) = (shown[..<gap], shown[(gap + 1)...])
      return lines.count >= before.count + after.count && zip(before, lines).allSatisfy(Self.fits)
        && zip(after.reversed(), lines.reversed()).allSatisfy(Self.fits)
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

  package let lines: [String]
  package let steps: [Step]

  package init(_ text: String) {
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var steps: [Step] = []
    var index = 0
    while let first = lines[index...].firstIndex(where: { $0.hasPrefix("$ ") }) {
      let more = lines[(first + 1)...].prefix { $0.hasPrefix("> ") }
      let answer = lines[more.endIndex...].prefix { !$0.hasPrefix("$ ") && !$0.isEmpty }
      index = answer.endIndex
      let command = lines[first..<more.endIndex].map { $0.dropFirst(2) }.joined(separator: "\n")
      let text = answer.map { $0 + "\n" }.joined()
      steps.append(Step(command: command, answer: text, lines: answer.indices))
    }
    self.steps = steps
  }

  /// The blocks of a document with the mark `console`. All other lines are remarks.
  package init(document: String) {
    var isConsole = false
    let lines = document.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let isMark = line.hasPrefix("```")
      if isMark { isConsole = line == "```console" }
      return isConsole && !isMark ? String(line) : ""
    }
    self.init(lines.joined(separator: "\n"))
  }

  /// The text with the real answers in place of the answers of the transcript.
  package func replacing(_ answers: [String]) -> String {
    var result = lines
    for (step, answer) in zip(steps, answers).reversed() {
      result.replaceSubrange(step.lines, with: answer.split(separator: "\n").map(String.init))
    }
    return result.joined(separator: "\n")
  }
}
