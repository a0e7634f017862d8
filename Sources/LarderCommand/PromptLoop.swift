import Larder
import LarderShell
import LarderTerminal
import ShellLanguage

/// The prompt: reads commands from a person until that person leaves.
///
/// Errors are shown under the line and end nothing. Between commands the store is not held.
struct PromptLoop {
  /// A command that takes longer says how long it took.
  private static let longTime = Duration.seconds(1)

  private let conversation: ShellRunner
  private let editor: LineEditor?
  private var plain = PlainLines()
  private var reader = CommandReader(.prompt)
  /// The lines of a command whose quote is still open.
  private var open: [UInt8] = []
  /// What others do while the prompt waits.
  private var news = StoreNews()

  private var session: Session { conversation.session }

  init(_ conversation: ShellRunner) throws {
    self.conversation = conversation
    let environment = conversation.environment
    guard Terminal.canEditLines(environment: environment) else {
      editor = nil
      return
    }
    let session = conversation.session
    let style = LineEditor.Style(showsColours: session.settings.hasColor)
    let hints = Hints(.standard)
    let editor = try LineEditor(
      style: style, complete: { session.completion(of: $0, cursor: $1) },
      hint: { session.settings.showsHints ? hints.hint(behind: $0) : nil })
    if let file = LineEditor.HistoryFile.standard(environment: environment) {
      try editor.keepHistory(in: file)
    }
    self.editor = editor
  }

  /// The exit code to end with.
  mutating func run() throws -> Int32 {
    if session.settings.isTerminal { try greet() }
    try runSettings()
    news.begin(session)
    while true {
      switch try readLine() {
      case .line(let line):
        let words = news.since(session)
        if let code = try answer(line) { return code }
        if let words, session.settings.isTerminal { conversation.messages.write("\(words)\n") }
        news.begin(session)
      case .interrupted:
        startOver()
      case .end where open.isEmpty:
        return 0
      case .end:
        startOver()
      }
    }
  }

  private func greet() throws {
    do {
      try Terminal.write("larder \(LarderCommand.version)   \(session.summary())\n")
    } catch let error as ShellError {
      // A damaged store is what the prompt may be wanted for.
      _ = conversation.messages.tell(error)
    }
    try Terminal.write("help lists the commands, Tab completes, ^D leaves.\n")
  }

  /// The person's own commands, such as `output` and `use`; what is wrong there is said and ends nothing.
  private func runSettings() throws {
    let environment = conversation.environment
    let home = environment["HOME"].map { $0 + "/.config" }
    let configuration = [environment["XDG_CONFIG_HOME"], home].compactMap(\.self)
      .first { $0.hasPrefix("/") }
    guard !conversation.options.noRc, let path = configuration.map({ $0 + "/larder/rc" }),
      LocalFile.exists(path)
    else { return }
    _ = try conversation.runFile(path)
  }

  private mutating func readLine() throws -> LineResult {
    let prompt = prompt
    // Into a pipe go answers, and a prompt is none.
    return try editor?.readLine(prompt)
      ?? plain.readLine(session.settings.isTerminal ? prompt : nil)
  }

  private var prompt: Prompt {
    let name = session.promptName
    guard !open.isEmpty else { return Prompt(name) }
    let mark = session.settings.hasUnicode ? "\u{2026}" : "..."
    let room = max(DisplayWidth.of(name) - DisplayWidth.of(mark), 0)
    return Prompt("", tail: String(repeating: " ", count: room) + mark + "> ")
  }

  private mutating func startOver() {
    reader.startOver()
    open = []
  }

  private mutating func answer(_ text: [UInt8]) throws -> Int32? {
    let width = DisplayWidth.of(prompt.text)
    do {
      // What was pasted may be several commands; the first error ends them.
      for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        open += (open.isEmpty ? [] : [UInt8(ascii: "\n")]) + line
        let step = try reader.read(line)
        if case .open = step { continue }
        try remember()
        if case .command(let command) = step, let code = try run(command) { return code }
      }
    } catch let error as ShellError {
      try remember()
      let columns = Terminal.size()?.columns
      conversation.messages.write(error.prompted(promptWidth: width, columns: columns))
    }
    return nil
  }

  private mutating func remember() throws {
    defer { open = [] }
    try editor?.remember(open)
  }

  private func run(_ command: CommandLine) throws -> Int32? {
    // ^C while nothing ran was no wish to stop this command.
    Interrupts.acknowledge()
    let start = ContinuousClock.now
    conversation.output.begin(isPaged: session.settings.usesPager)
    let result = Result { try session.run(command) }
    let wasLeft = conversation.output.wasLeft
    try conversation.output.end()
    if Interrupts.isPending {
      // The terminal has shown it where the cursor was.
      if !conversation.output.hasLeftInterrupt { conversation.messages.write("\n") }
      Interrupts.acknowledge()
    }
    if wasLeft, case .failure(TerminalError.closed) = result { return nil }
    let outcome = try result.get()
    let taken = ContinuousClock.now - start
    if taken > Self.longTime || session.settings.showsTiming {
      conversation.messages.write("(\(taken.words))\n")
    }
    if case .quit(let code) = outcome { return code }
    return nil
  }
}
