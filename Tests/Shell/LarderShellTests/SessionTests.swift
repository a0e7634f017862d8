import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Runs the sessions in `Tests/Shell/Sessions` and compares the answers. A session has these lines:
///
///     # title              begins a session with a new store and a new shell, both empty
///     : plain fill         the form of output, and words: `person` can be asked, `fill` stores entries, `nul` is `-0`, and
///                          `carets` marks the wrong words of a line, as at the prompt
///     + 90                 moves the clock by 90 seconds
///     = no                 the person's answer to all later questions
///     < a\n                standard input
///     > keys @a            a command, with its answer below:
///     | text               a line on standard output; `\` at the end for a missing newline
///     ~ text               a note or a question
///     ! code: text         an error
///     ? 1                  the exit code of an answer
///
/// With `RECORD` set, the tests write the answers to the files and compare nothing. Read the files before you commit them.
@Suite struct SessionTests {
  private static let folder = Repository.root.appending(path: "Tests/Shell/Sessions")

  static let topics = try! FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()

  @Test(arguments: topics) func `a session goes as it is written`(topic: String) throws {
    let url = Self.folder.appending(path: topic)
    let text = try String(contentsOf: url, encoding: .utf8)
    #expect(text.hasSuffix("\n"))
    let sessions = text.dropLast().split(separator: "\n\n").map { text in
      text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
    var played: [[String]] = []
    for session in sessions {
      let lines = try play(session)
      if ProcessInfo.processInfo.environment["RECORD"] == nil {
        let difference = zip(session + [""], lines + [""]).first { $0 != $1 }
        #expect(session == lines, "\(session[0]): \(difference.map { "\($0)" } ?? "")")
      }
      played.append(lines)
    }
    guard ProcessInfo.processInfo.environment["RECORD"] != nil else { return }
    let recorded = played.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    try (recorded + "\n").write(to: url, atomically: true, encoding: .utf8)
  }

  /// Runs a session. Returns its lines with the real answers in place of the expected answers.
  private func play(_ lines: [String]) throws -> [String] {
    let begins = lines.count > 1 && lines[0].hasPrefix("# ") && lines[1].hasPrefix(": ")
    try #require(begins, "a session begins with `# TITLE` and `: FORM`: \(lines)")
    let words = lines[1].dropFirst(2).split(separator: " ").map(String.init)
    let shell = try Shell(
      #require(OutputMode(rawValue: words[0])), hasPerson: words.contains("person"),
      hasInput: !words.contains("no-input"), isReadOnly: words.contains("read-only")
    ) {
      $0.endsWithNUL = words.contains("nul")
      $0.isQuiet = words.contains("quiet")
      $0.hasColor = words.contains("color")
      $0.hasUnicode = !words.contains("ascii")
      if words.contains("terminal") { $0.isTerminal = true }
    }
    if words.contains("fill") { try shell.fill() }
    var result = Array(lines.prefix(2))
    for line in lines.dropFirst(2) {
      let rest = String(line.dropFirst(2))
      switch line.prefix(2) {
      case "+ ": shell.clock.advance(by: .milliseconds(Int64((Double(rest) ?? 0) * 1000)))
      case "= ": shell.answer = rest == "yes"
      case "< ": shell.input = try Quoting.unescaped(plain: bytes(rest))
      case "> ":
        result += [line] + answer(of: shell, to: rest, withCarets: words.contains("carets"))
        continue
      case "| ", "|", "~ ", "! ", "? ": continue
      default: Issue.record("\(lines[0]): what does this line mean? \(line)")
      }
      result.append(line)
    }
    return result
  }

  private func answer(of shell: Shell, to line: String, withCarets: Bool) -> [String] {
    var lines: [String] = []
    func add(_ mark: String, _ text: String) {
      var shown = Quoting.printable(bytes(text))
      if shown.last == " " { shown = shown.dropLast() + "\\x20" }
      lines.append(shown.isEmpty ? mark : "\(mark) \(shown)")
    }
    var failure: [String] = []
    do {
      try shell(line)
    } catch let error as ShellError {
      if withCarets {
        let shown = error.prompted(promptWidth: 0).split(separator: "\n")
        failure = shown.prefix { !$0.hasPrefix("error: ") }.map(String.init)
      }
      failure.append("\(error.code.rawValue): \(error.message)")
      if let hint = error.hint { failure.append("hint: \(hint)") }
    } catch {
      failure = ["\(error)"]
    }
    var printed = shell.printed.lines.map { String(decoding: $0, as: UTF8.self) }
    if printed.last == "" { printed.removeLast() } else { printed[printed.count - 1] += "\\" }
    for text in printed { add("|", text) }
    for text in shell.takeAside() { add("~", text) }
    for text in failure { add("!", text) }
    if failure.isEmpty, case .exitCode(let code)? = shell.outcome { add("?", "\(code)") }
    return lines
  }
}
