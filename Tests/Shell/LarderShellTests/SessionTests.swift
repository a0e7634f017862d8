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
    do { try shell(line) } catch let error as ShellError {
      if withCarets {
        let shown = error.prompted(promptWidth: 0).split(separator: "\n")
        failure = shown.prefix { !$0.hasPrefix("error: ") }.map(String.init)
      }
      failure.append("\(error.code.rawValue): \(error.message)")
      if let hint = error.hint { failure.append("hint: \(hint)") }
    } catch { failure = ["\(error)"] }
    var printed = shell.printed.lines.map { String(decoding: $0, as: UTF8.self) }
    if printed.last == "" { printed.removeLast() } else { printed[printed.count - 1] += "\\" }
    for text in printed { add("|", text) }
    for text in shell.takeAside() { add("~", text) }
    for text in failure { add("!", text) }
    if failure.isEmpty, case .exitCode(let code)? = shell.outcome { add("?", "\(code)") }
    return lines
  }
}

/// Tests of those parts of a session that keep a state. Each test uses one part without the rest of the session.
struct SessionPartTests {
  @Test func `the form and the separator of redirected output are its own`() throws {
    var (text, redirected) = ("", "")
    var isComplete: Bool?
    var notes: [String] = []
    var settings = Settings()
    settings.mode = .table
    settings.isTerminal = true
    var host = LarderShell.Host(
      write: { text += String(decoding: $0, as: UTF8.self) },
      read: { _ in throw ShellError.declined }, make: { _, _ in throw ShellError.declined })
    host.notify = { notes.append($0.description) }
    host.redirect = { _ in
      LarderShell.Host.Sink(
        write: { redirected += String(decoding: $0, as: UTF8.self) },
        finish: {
          isComplete = $0
          return $0 ? "done" : nil
        })
    }
    host.window = { (columns: 80, rows: 24) }
    let writer = AnswerWriter(to: host, settings: settings, clock: ManualClock())
    let target = Redirection.file(Word(bytes("f"), isBare: true, at: 0..<1), appends: false)
    try writer.writeValue { try $0(bytes("x")) }
    #expect(writer.presentation.isTerminal)
    let outcome = try writer.redirecting(to: target) {
      #expect(!writer.presentation.isTerminal)
      try writer.writeValue { try $0(bytes("y")) }
      return .done
    }
    #expect(outcome == .done && redirected == "y" && isComplete == true)
    #expect(notes == ["done"])
    try writer.write(bytes("z\n"))
    #expect(text == "x\nz\n")
    struct Stopped: Error {}
    #expect(throws: Stopped.self) { try writer.redirecting(to: target) { throw Stopped() } }
    #expect(isComplete == false && writer.presentation.isTerminal)
    // A program that has read enough ends a redirection well, but the end of standard output stops a command in its middle.
    for isRedirected in [true, false] {
      let closed = LarderShell.Host.Sink.Closed(isRedirected: isRedirected)
      _ = try? writer.redirecting(to: target) { throw closed }
      #expect(isComplete == isRedirected)
    }
  }

  @Test func `what Tab offers is what the store has now`() throws {
    let shell = try Shell()
    let notes = shell.store.namespace("notes")
    try notes.set("{\"title\":\"x\"}", for: "a1")
    let session = shell.session!
    #expect(session.candidates(for: .fields(.all)).names == [bytes("title")])
    try notes.set("{\"later\":1}", for: "c1")
    #expect(session.candidates(for: .fields(.all)).names == [bytes("later"), bytes("title")])
    let absent = NamespaceChoice.named([try NamespaceName("nope")])
    #expect(session.candidates(for: .keys(absent, prefix: [])).names.isEmpty)
  }
}

/// Commands during which a session closes its store and opens the store again.
@Suite struct SessionFileTests {
  @Test func `a compact store has no entries of cleared namespaces`() throws {
    let shell = try Shell()
    try shell.fill("a", 0..<3000)
    try shell("clear @a --yes", "compact")
    #expect(try shell("verify -o json").contains("\"cleared\":0,"))
  }

  @Test func `the first error stays when the store cannot be opened again`() throws {
    struct Failure: Error {}
    let shell = try Shell()
    try shell.store.close()
    #expect(throws: Failure.self) {
      try shell.session.whileClosed { path, _ in
        try FileManager.default.removeItem(atPath: path)
        throw Failure()
      }
    }
    #expect(shell.notices.first?.hasPrefix("note: the store cannot be opened again: ") == true)
  }

  @Test func `a store that cannot be closed is salvaged, and opened again`() throws {
    let shell = try Shell(.plain)
    var runs = 0
    try shell.session.store.write { _ in
      #expect(throws: LarderError.self) { try shell.session.whileClosed { _, _ in runs += 1 } }
      try shell.session.whileClosed(needsCommit: false) { _, _ in runs += 1 }
    }
    #expect(try runs == 1 && shell("count @*") == "0\t0\t0\n")
  }

  @Test func `a report of a namespace that is gone is an error`() throws {
    let shell = try Shell()
    let error = try error { _ = try StoreReport(of: shell.session, only: "gone") }
    #expect(error.code == .noSuchNamespace)
  }
}

@Suite struct DemoStoreTests {
  @Test func `the demo has entries of every kind and its commands find some`() throws {
    let path = TemporaryDirectory.unusedPath
    defer { try? FileManager.default.removeItem(atPath: path) }
    try DemoStore.create(at: path)
    let store = try Store(at: path)
    let namespaces = try store.namespaces()
    #expect(namespaces.map(\.name) == ["images", "sets", "web"])
    #expect(namespaces.map(\.entries).reduce(0, +) == 400)
    #expect(namespaces.map(\.bytes).reduce(0, +) < 500_000)
    #expect(try store.verify().faults.isEmpty)
    try store.close()

    let shell = try Shell(.plain, at: path)
    for line in DemoStore.suggestions { #expect(try !shell(line).isEmpty, "\(line)") }
    #expect(try shell("count @sets --expired").hasPrefix("20\t"))
    #expect(try shell("count @web --where 'status = 404'").hasPrefix("8\t"))
    #expect(try shell("count @web --where 'header.Cache-Control ~ \"max-age\"'") != "0\t0\t0\n")
    #expect(try shell("count @* --permanent") != "0\t0\t0\n")
    #expect(try shell("count @* --expiring 20m") != "0\t0\t0\n")
    let again = try #require(throws: LarderError.self) { try DemoStore.create(at: path) }
    #expect(again.code == .exists)
  }
}
