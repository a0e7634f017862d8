import LarderShell
import LarderTerminal
import ShellLanguage

/// An error of a command is shown below the line, and the prompt continues. No snapshot is held between commands.
struct PromptLoop {
  /// If a command takes longer than `longTime`, the prompt shows the duration of the command.
  private static let longTime = Duration.seconds(1)

  private let runner: ShellRunner
  private let editor: LineEditor?
  private var plain = PlainLines()
  private var reader: CommandReader
  /// The lines of an unfinished command, in which a quote is still open.
  private var open: [UInt8] = []
  private var news = StoreNews()

  private var session: Session { runner.session }

  init(_ runner: ShellRunner) throws {
    self.runner = runner
    reader = CommandReader(.prompt, variables: runner.options.variables)
    let environment = runner.environment
    guard Terminal.canEditLines(environment: environment) else {
      editor = nil
      return
    }
    let session = runner.session
    let editor = try LineEditor(
      showsColors: session.settings.hasColor, hasUnicode: session.settings.hasUnicode,
      complete: { session.completion(of: $0, cursor: $1) },
      hint: { session.settings.showsHints ? CommandTable.standard.hint(behind: $0) : nil })
    if let file = LineEditor.HistoryFile.standard(environment: environment) {
      Self.noting(runner.messages) { () throws(TerminalError) in
        try editor.history.keep(in: file, creating: session.settings.keepsHistory)
      }
    }
    self.editor = editor
  }

  mutating func run() throws -> Int32 {
    Interrupts.endure()
    if session.settings.isTerminal { try greet() }
    try runSettings()
    news.begin(session)
    while true {
      switch try readLine() {
      case .line(let line):
        let words = news.since(session)
        if let code = try answer(line) { return code }
        if let words, session.settings.isTerminal { runner.messages.write("\(words)\n") }
        news.begin(session)
      case .end where open.isEmpty: return 0
      case .interrupted, .end:
        reader.startOver()
        open = []
      }
    }
  }

  private func greet() throws {
    do {
      try Terminal.writeWrapped("larder \(LarderCommand.version)   \(session.summary())\n")
      if let remark = try session.unknownTransforms.remark(on: session.store) {
        try Terminal.writeWrapped("\(remark)\n")
      }
    } catch let error as ShellError {
      // A person may need the prompt to inspect a damaged store, so the prompt starts in spite of the error.
      _ = runner.messages.tell(error)
    }
    let completion = editor == nil ? "" : "Tab completes, "
    try Terminal.writeWrapped("help lists the commands, \(completion)^D leaves.\n")
  }

  /// Runs the commands in the file of settings, such as `output` and `use`. The prompt starts even if the file has an error.
  private func runSettings() throws {
    guard !runner.options.has("--no-rc"),
      let path = UserFile.path("rc", in: "XDG_CONFIG_HOME", or: ".config", runner.environment),
      LocalFile.exists(path)
    else { return }
    _ = try runner.runFile(path)
  }

  private mutating func readLine() throws -> LineResult {
    let settings = session.settings
    // Only a terminal gets a prompt. A pipe gets only answers.
    guard let editor else { return try plain.readLine(settings.isTerminal ? prompt : nil) }
    // If a quote is open, the colors of a line also depend on the previous lines of the command.
    let lines: [UInt8] = open.isEmpty ? [] : open + [.newline]
    return try editor.readLine(prompt) { line in
      guard settings.hasColor else { return [] }
      return CommandTable.standard.colors(of: line, behind: lines)
        .map { ($0.range, $0.color.rawValue) }
    }
  }

  private var prompt: Prompt {
    let name = session.promptName
    guard !open.isEmpty else { return Prompt(name) }
    let mark = session.settings.hasUnicode ? "\u{2026}" : "..."
    let room = max(DisplayWidth.of(name) - DisplayWidth.of(mark), 0)
    return Prompt("", tail: String(repeating: " ", count: room) + mark + "> ")
  }

  private mutating func answer(_ text: [UInt8]) throws -> Int32? {
    let width = DisplayWidth.of(prompt.text)
    do {
      // Pasted text can have several commands. After the first error, the remaining commands do not run.
      for line in text.lines {
        open += (open.isEmpty ? [] : [UInt8(ascii: "\n")]) + line
        let step = try reader.read(line)
        if case .open = step { continue }
        remember()
        switch step {
        case .commands(let commands):
          for command in commands {
            switch try run(command) {
            case .quit(let code): return code
            // After an answer such as "no", the remaining commands do not run either.
            case .exitCode: return nil
            case .done: continue
            }
          }
        case .program(let program): try run(program: program)
        case .open: break
        }
      }
    } catch let error as ShellError {
      remember()
      let columns = Terminal.size()?.columns
      runner.messages.write(error.prompted(promptWidth: width, columns: columns))
    }
    return nil
  }

  private mutating func remember() {
    let entry = open
    open = []
    Self.noting(runner.messages) { () throws(TerminalError) in
      try editor?.history.remember(
        entry,
        inFile: session.settings.keepsHistory
          && !SecretCommand.matches(entry, in: { session.unnamedNamespace }))
    }
  }

  /// Runs `body`. If the history file cannot be used, prints one note, and the prompt continues.
  private static func noting(_ messages: Messages, _ body: () throws(TerminalError) -> Void) {
    do throws(TerminalError) { try body() } catch {
      messages.write("note: the history is not kept: \(SafeText(error.description))\n")
    }
  }

  private func run(program text: [UInt8]) throws {
    let problem = try ShellError.explaining(
      .writing, "cannot start the program", nil, ChildProgram(text).run)
    try Terminal.beginLine(runner.environment)
    if let problem { runner.messages.write("\(problem)\n") }
  }

  private func run(_ command: CommandLine) throws -> Outcome {
    // A ^C that came before this command must not stop this command.
    Interrupts.acknowledge()
    let start = ContinuousClock.now
    runner.output.begin(isPaged: session.settings.usesPager)
    let result = Result { try session.run(command) }
    let wasLeft = runner.output.wasLeft
    try runner.output.end()
    if Interrupts.isPending {
      // The terminal shows ^C at the cursor, so the next output must begin on a new line.
      if !runner.output.hasLeftInterrupt { runner.messages.write("\n") }
      Interrupts.acknowledge()
    }
    if wasLeft, case .failure(is Host.Sink.Closed) = result { return .done }
    if session.historyWasCleared {
      session.historyWasCleared = false
      editor?.history.forget()
    }
    let outcome = try result.get()
    let taken = ContinuousClock.now - start
    if taken > Self.longTime && !runner.output.hasWaited || session.settings.showsTiming {
      runner.messages.write("(\(taken.words))\n")
    }
    return outcome
  }
}

extension Session {
  fileprivate func completion(of line: [UInt8], cursor: Int) -> Completion {
    let found = Completer(.standard).completion(of: Array(line[..<cursor]), find: candidates)
    return Completion(from: found.range.lowerBound, found.candidates, isCut: found.isCut)
  }
}
