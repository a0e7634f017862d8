import Foundation
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(20))) struct CompletionScriptTests {
  private let fixture = ProgramFixture()

  static func path(of program: String) -> String? {
    ["/bin/", "/usr/bin/", "/usr/local/bin/"].map { $0 + program }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// A shell at a terminal. The shell has already read the completion script.
  private func session(
    _ shell: String, _ arguments: [String], taking script: String
  ) throws -> TerminalSession {
    _ = try fixture.answer(to: "larder --completions \(shell) > _larder")
    let session = try TerminalSession(
      running: try #require(Self.path(of: shell)), arguments, showing: nil, home: fixture.home,
      environment: ["PATH": ProgramFixture.programs + ":/usr/bin:/bin", "PS1": "> "])
    try session.type("cd '\(fixture.home.path)'; \(script); echo rea''dy\r")
    expect("the completions taken in", session) { $0.lines.contains("ready") }
    return session
  }

  /// Expects a screen. Allows escape sequences that `Screen` does not know, because the shells use such sequences.
  private func expect(_ wanted: Comment, _ session: TerminalSession, _ isAsAsked: (Screen) -> Bool)
  {
    let isThere = session.terminal.shows(within: .seconds(20), isAsAsked)
    #expect(isThere, "\(wanted): \(session.screen.lines)")
  }

  private func check(_ session: TerminalSession) throws {
    try session.type("larder --outp\t")
    expect("an option", session) { $0.line.contains("larder --output") }
    try session.type("js\t")
    expect("a value", session) { $0.line.contains("larder --output json") }
    try session.type("\u{15}larder -e nam\t")
    expect("a command", session) { $0.line.contains("larder -e namespaces") }
  }

  @Test(.enabled(if: path(of: "bash") != nil, "bash is not installed"))
  func `bash completes options, their values and commands`() throws {
    try check(try session("bash", ["--norc", "--noprofile", "-i"], taking: ". ./_larder"))
  }

  @Test(.enabled(if: path(of: "zsh") != nil, "zsh is not installed"))
  func `zsh completes options, their values and commands`() throws {
    let script = "fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D"
    try check(try session("zsh", ["-f", "-i"], taking: script))
  }

  @Test(.enabled(if: path(of: "fish") != nil, "fish is not installed"))
  func `fish completes options, their values and commands`() throws {
    _ = try fixture.answer(to: "larder --completions fish > larder.fish")
    func candidates(_ line: String) throws -> [String] {
      try fixture.answer(
        to: "fish --no-config -c 'source larder.fish; complete -C \"\(line)\"' | cut -f 1"
      ).split(separator: "\n").map(String.init)
    }
    #expect(try candidates("larder --outp") == ["--output"])
    #expect(try candidates("larder x --output js") == ["json", "jsonl"])
    #expect(try candidates("larder x -e names") == ["namespaces"])
  }
}

/// Tests the page of `report` in a browser, if a browser is installed.
@Suite(.serialized, .timeLimit(.minutes(20))) struct ReportPageTests {
  static let browser = ["chromium", "chromium-browser", "google-chrome"]
    .compactMap(CompletionScriptTests.path).first

  private let fixture = ProgramFixture()

  /// Opens a page in the browser. Returns the browser's console messages and the bytes of a picture of the page.
  private func look(at page: String, width: Int = 1000) throws -> (console: [String], picture: Data)
  {
    let answer = try fixture.answer(
      to: """
        \(try #require(Self.browser)) --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir=$PWD/browser --hide-scrollbars --window-size=\(width),2000 \
        --enable-logging=stderr --screenshot=$PWD/\(page).png file://$PWD/\(page).html
        """)
    let picture = URL(fileURLWithPath: fixture.home.path + "/\(page).png")
    return (
      answer.split(separator: "\n").map(String.init).filter { $0.contains("CONSOLE") },
      try Data(contentsOf: picture)
    )
  }

  @Test(.enabled(if: browser != nil, "no browser is installed"))
  func `a browser shows the page and has nothing to complain of`() throws {
    _ = try fixture.answer(
      to: """
        larder store --create -q -e 'set @a k v --ttl 1h' -e 'set @b "<script>alert(1)</script>" x' \
        -e 'set @b "</svg><img src=x onerror=alert(1)>" 12345' -e 'report page.html'
        """)
    try fixture.home.write("<!DOCTYPE html><html><body></body></html>", to: "empty.html")
    try fixture.home.write(
      "<!DOCTYPE html><html><body><script>console.error('!')</script></body></html>",
      to: "faulty.html")
    let (console, picture) = try look(at: "page")
    #expect(console == [])
    // A page that shows nothing has a small picture, so the picture of the report must be much larger.
    let empty = try look(at: "empty").picture
    #expect(picture.count > 4 * empty.count, "\(picture.count) and \(empty.count) bytes")
    #expect(try look(at: "faulty").console.count == 1)
  }

  @Test(.enabled(if: browser != nil, "no browser is installed"), arguments: [500, 700, 1000])
  func `no text of the page is cut, whatever the width and the names`(width: Int) throws {
    let name = String(repeating: "long.namespace", count: 7)
    let key = String(repeating: "key/without/spaces/", count: 10)
    _ = try fixture.answer(
      to: """
        larder store --create -q -e 'set @\(name) "\(key)" v --ttl 1h' -e 'set @b k v' \
        -e 'limits @\(name) --bytes 10MB' -e 'report page.html' -e 'report one.html @\(name)'
        """)
    // A script in a copy of the page reports each text that ends outside the window or is wider than its element.
    let script = """
      <script>for (const e of document.querySelectorAll("h1, h2, p, dt, dd, dd span, th, td")) {
      if (e.getBoundingClientRect().right > innerWidth || e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0)
      console.log("cut: " + e.outerHTML.slice(0, 200)) } console.log("looked at " + innerWidth)</script>
      """
    for page in ["page", "one"] {
      let text = try String(contentsOfFile: fixture.home.path + "/\(page).html", encoding: .utf8)
      try fixture.home.write(
        text.replacingOccurrences(of: "</body>", with: script + "</body>"), to: "\(page)2.html")
      let console = try look(at: page + "2", width: width).console
      #expect(console.count == 1 && console[0].contains("looked at \(width)"), "\(console)")
    }
  }
}
