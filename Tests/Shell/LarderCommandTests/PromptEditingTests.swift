import Foundation
import Larder
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(20))) struct PromptEditingTests {
  private let home = TemporaryDirectory()

  private func session(environment: [String: String] = [:]) throws -> TerminalSession {
    try home.withStore { store in
      try store.namespace("sets").set("{\"name\":\"Castle\",\"year\":1999}", for: "a")
      try store.namespace("sets").set("{\"name\":\"Moon\",\"year\":1969}", for: "b")
    }
    return try TerminalSession(
      larder: [home.store, "-n", "sets"], showing: "sets>", home: home, environment: environment,
      columns: 100)
  }

  @Test func `a line has colors while it is typed, and JSON has them in the answer`() throws {
    let session = try session()
    try session.type("keys @sets 'a' x* --limit 5 --nope").expect("the colors of words") {
      $0.rendition(of: "keys") == "1" && $0.rendition(of: "@sets") == "36"
        && $0.rendition(of: "'a'") == "32" && $0.rendition(of: "x*") == "33"
        && $0.rendition(of: "--limit") == "34" && $0.rendition(of: "5") == "35"
        && $0.rendition(of: "--nope") == "31"
    }
    try session.type("\u{15}get a\r").expect("JSON") { screen in
      guard let row = screen.lines.firstIndex(where: { $0.hasPrefix("{ \"name\"") }) else {
        return false
      }
      return screen.rendition(of: "\"name\"", in: row) == "34"
        && screen.rendition(of: "\"Castle\"", in: row) == "32"
        && screen.rendition(of: "1999", in: row) == "35"
    }
  }

  @Test(arguments: [["NO_COLOR": "1"], ["TERM": "dumb"]])
  func `without colors only text is written, and no hint`(environment: [String: String]) throws {
    let session = try session(environment: environment)
    try session.type("get a .year\r")
    session.expect("the prompt") { $0.lines.contains("1999") && $0.line == "sets>" }
    try session.type("keys nope ").expect("the line") { $0.lines.last == "sets> keys nope" }
    #expect(session.screen.cells.allSatisfy { $0.allSatisfy { $0.rendition.isEmpty } })
  }

  @Test func `fields of values are completed within an open quote`() throws {
    let session = try session()
    try session.type("count --where '.ye\t >= 1990'\r").expect(row: "1 entry, 29 B")
    #expect(session.screen.lines.contains("sets> count --where '.year >= 1990'"))
  }

  @Test func `what is typed behind ^C stays`() throws {
    let session = try session()
    try session.type("a b \u{3}count\r").expect(row: "2 entries, 56 B")
    #expect(session.screen.lines.contains("sets> count"))
  }

  @Test func `edit runs the editor on a private file and stores the result`() throws {
    let script = home.path + "/editor.sh"
    try home.write(
      "ls -ld \"$(dirname \"$2\")\" \"$2\" | cut -c1-10 > '\(home.path)/modes'\nsed -i s/1999/2001/ \"$2\"\n",
      to: "editor.sh")
    let session = try session(
      environment: ["EDITOR": "sh \(script) --wait", "TMPDIR": home.path, "PATH": "/usr/bin:/bin"])
    try session.type("edit a\rget a .year\r").expect(row: "2001")
    #expect(session.screen.lines.contains { $0.hasPrefix("set sets \"a\" (") })
    let modes = try String(contentsOfFile: home.path + "/modes", encoding: .utf8)
    #expect(modes == "drwx------\n-rw-------\n")
    let left = try FileManager.default.contentsOfDirectory(atPath: home.path)
    #expect(!left.contains { $0.hasPrefix("larder-") })
    try session.leave(by: "quit\r")
    #expect(session.terminal.isCanonical)
  }

  @Test(arguments: ["none", ""])
  func `a file to edit that cannot be made or read ends the command only`(place: String) throws {
    // The editor `rm` removes the file, so the shell cannot read the file afterwards.
    let session = try session(
      environment: ["EDITOR": "rm", "TMPDIR": home.path + "/" + place, "PATH": "/usr/bin:/bin"])
    try session.type("edit a\rget a .year\r")
    session.expect("the value as it was") { $0.lines.contains("1999") && $0.line == "sets>" }
    let text = session.screen.lines.joined()
    #expect(text.contains(place.isEmpty ? "cannot read the edited text" : "set TMPDIR to a"))
  }

  @Test func `demo creates a store and opens it`() throws {
    // With so many columns the banner stays on one line, even with a long path.
    let session = try TerminalSession(
      larder: ["demo", home.path + "/demo"], home: home, columns: 200)
    session.expect("suggestions and the prompt") { screen in
      screen.lines.contains { $0.contains("count @web --by status") }
        && screen.lines.contains { $0.contains("3 namespaces, 380 entries") }
    }
    try session.type("count @web --where 'status = 404'\r")
    session.expect("an answer") { screen in screen.lines.contains { $0.hasPrefix("8 entries") } }
  }

  @Test func `history is cleared after a question, in the file and for Up`() throws {
    let session = try session()
    try session.type("count\rhistory --clear\r")
    session.expect("the question") { $0.line.hasSuffix("[y/N]") }
    try session.type("y\r").expect("the prompt") {
      $0.lines.contains("removed 2 lines of the history") && $0.line == "sets>"
    }
    try session.type("\u{1B}[A")
    try session.type("x").expect("nothing recalled") { $0.line == "sets> x" }
  }
}

/// The pager and other programs at the prompt. The tests run one at a time, because many terminals at once would answer slowly.
@Suite(.serialized, .timeLimit(.minutes(20))) struct PromptProgramTests {
  private let home = TemporaryDirectory()

  @Test func `the pager says how to leave it, unless LESS is set`() throws {
    try home.write("#!/bin/sh\ncat\necho \"pager $*\"\n", to: "bin/less")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: home.path + "/bin/less")
    let path = home.path + "/bin:/usr/bin:/bin"
    let session = try home.prompt(environment: ["PATH": path, "PAGER": "", "LESS": ""])
    try session.type("help\r").expect("the pager with a prompt") {
      $0.lines.contains("pager -FRX -PSpace continues, q leaves")
    }
    let own = try home.prompt(environment: ["PATH": path, "PAGER": "", "LESS": "-S"])
    try own.type("help\r").expect(row: "pager -FRX")
  }

  @Test func `the keys of signals are for the program that has the terminal`() throws {
    let session = try home.prompt()
    try session.type("! trap '' INT QUIT; echo ready; read word; echo got $word\r")
    session.expect("the program") { $0.lines.last == "ready" }
    for count in 1...4 {
      try session.type("\u{3}")
      session.expect("^C") { $0.line.hasSuffix(String(repeating: "^C", count: count)) }
    }
    try session.type("\u{1C}").expect("^\\") { $0.line.hasSuffix("^\\") }
    try session.type("it\r").expect("the prompt") { $0.lines.suffix(2) == ["got it", "larder>"] }
    // ^C for the other program must not interrupt the next command of the shell.
    try session.type("count @articles; count @articles\r").expect("two answers") {
      $0.lines.suffix(3) == ["1 entry, 4 B", "1 entry, 4 B", "larder>"]
    }
  }

  @Test func `the prompt begins a line whatever a program left on it`() throws {
    let session = try home.prompt()
    try session.type("get @articles 000011 | cat\r")
    let first = ["larder> get @articles 000011 | cat", "text", "larder>"]
    session.expect(belowBanner: first)
    try session.type("! printf 2; exit 3 #x\r")
    let second =
      first.dropLast() + ["larder> ! printf 2; exit 3 #x", "2", "printf exited with 3", "larder>"]
    session.expect(belowBanner: Array(second))
    try session.type("echo three | cat\r").expect(
      belowBanner: second.dropLast() + ["larder> echo three | cat", "three", "larder>"])
  }

  @Test func `an answer longer than the screen goes through the pager`() throws {
    let session = try home.prompt(environment: ["PAGER": "sed s/^/paged:/"])
    try session.type("help\r").expect("the end of the help") { screen in
      screen.lines.contains { $0.hasPrefix("paged:help COMMAND explains one") }
        && screen.line == "larder>"
    }
    try session.type("\u{C}count @departures\r").expect(row: "3 entries, 33 B")
    let plain = try home.prompt(["--no-pager"], environment: ["PAGER": "sed s/^/paged:/"])
    try plain.type("help\r").expect("the end of the help") { screen in
      screen.lines.contains { $0.hasPrefix("help COMMAND explains one") }
    }
  }

  @Test func `one line longer than the screen goes through the pager`() throws {
    let session = try home.prompt(environment: ["PAGER": "cat; echo; echo paged"])
    try home.withStore { store in
      try store.namespace("articles").set(String(repeating: "x", count: 5990), for: "long")
    }
    try session.type("output raw\rget @articles long --force\r").expect(row: "paged")
  }

  @Test func `leaving the pager early ends the command and nothing else`() throws {
    let session = try home.prompt(environment: ["PAGER": "true"])
    try session.type("help\rcount @departures\r").expect(row: "3 entries, 33 B")
  }

  @Test func `a question comes after the pager of a former command`() throws {
    let session = try home.prompt(environment: ["PAGER": "cat; echo waiting; read line </dev/tty"])
    let file = home.path + "/commands"
    try Data("help\nevict @departures *\n".utf8).write(to: URL(fileURLWithPath: file))
    try session.type("source \(file)\r").expect(row: "waiting")
    try session.type("\r").expect("the question") { $0.line.hasPrefix("Evict 3 entries") }
  }

  @Test func `nothing of the store is held while somebody reads`() throws {
    let session = try home.prompt(environment: ["PAGER": "cat; echo waiting; read line </dev/tty"])
    let store = try Store(at: home.store)
    let names = store.namespace("names")
    try store.write { batch in
      for number in 0..<2000 { try batch.set("x", for: "key \(number)", in: names) }
    }
    try session.type("keys @names --limit 500 --where 'not exists .n'\r").expect(row: "waiting")
    #expect(!session.screen.lines.contains { $0.hasPrefix("note:") })
    try names.set("y", for: "later")
    #expect(try store.statistics().readers.allSatisfy { $0.age ?? 0 == 0 })
    try session.type("\r").expect("the note and the prompt") { screen in
      screen.lines.contains { $0.hasPrefix("note: ") } && screen.line == "larder>"
    }
    try store.close()
  }
}
