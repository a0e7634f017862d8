import LarderShell
import LarderTerminal
import ShellLanguage

extension Settings {
  init(_ options: Options, _ environment: [String: String]) {
    self.init()
    mode = options.mode
    isTerminal = Terminal.isTerminal(.output)
    hasColor = !options.has("--no-color") && Terminal.showsColors(environment: environment)
    // A terminal that cannot move its cursor may also lack the characters for lines and blocks, so such a terminal gets ASCII.
    hasUnicode =
      Terminal.speaksUTF8(environment: environment)
      && (!isTerminal || Terminal.movesCursor(on: .output, environment: environment))
    endsWithNUL = options.has("--null")
    answersYes = options.has("--yes")
    isQuiet = options.has("--quiet")
    usesPager = !options.has("--no-pager")
    showsTiming = options.has("--timing")
    keepsHistory = environment["LARDER_HISTORY"] != "off"
    isUTC = options.has("--utc")
    localZone = Zone(
      abbreviation: { LocalTime.zone(at: $0.milliseconds / 1000) },
      { LocalTime.offset(at: $0.milliseconds / 1000) })
  }
}

extension Host {
  /// The streams of this process. A command can read standard input, except if the commands come from standard input.
  init(readsCommands: Bool, _ environment: [String: String], _ output: PagedOutput) {
    self.init(
      write: output.write, read: { path in try Input(path, "cannot read \(Array(path.utf8))") },
      make: { path, replaces in
        try Sink(path, "cannot write \(Array(path.utf8))") {
          try ByteFile(writing: path, replaces: replaces)
        }
      })
    notify = output.tell
    window = { Terminal.size() }
    isInterrupted = { Interrupts.isPending }
    pause = { duration in
      try output.wait()
      return Interrupts.sleep(for: duration)
    }
    redirect = { try Sink($0, environment) }
    history = { try Self.useHistory(environment, to: "read") { try $0.load() } ?? [] }
    forgetHistory = { _ = try Self.useHistory(environment, to: "clear") { try $0.clear() } }
    storeFacts = Self.sharedFacts(of:)
    entryFacts = Self.sharedFacts(in:)
    if !readsCommands {
      var isTaken = false
      input = {
        defer { isTaken = true }
        return isTaken ? nil : Input(next: Self.nextBytes)
      }
    }
    useTerminal(environment, output)
  }

  private static func nextBytes() throws -> [UInt8] {
    if let bytes = try Terminal.next() { return bytes }
    Interrupts.acknowledge()
    throw Interruption()
  }

  private mutating func useTerminal(_ environment: [String: String], _ output: PagedOutput) {
    if Terminal.isTerminal(.input), Terminal.isTerminal(.error) {
      ask = { question in
        try output.leaveTerminal()
        return try Self.ask(question)
      }
    }
    if Terminal.isTerminal(.output) {
      copy = { bytes in
        try output.release()
        let text = String(decoding: Cell.base64(bytes).raw, as: UTF8.self)
        try Terminal.write("\u{1B}]52;c;\(text)\u{7}")
      }
    }
    if Terminal.isTerminal(.input), Terminal.isTerminal(.output) {
      edit = { try Self.openEditor(on: $0, pathExtension: $1, environment, output, $2) }
    }
    if Terminal.canEditLines(environment: environment) {
      openScreen = {
        try output.wait()
        return try Screen(FullScreen())
      }
    }
    // A log file would fill with progress lines, so only terminals show progress.
    if Terminal.movesCursor(on: .error, environment: environment) {
      progress = { words in
        if output.isPaging { return }
        try output.release()
        let columns = (Terminal.size(of: .error)?.columns ?? 80) - 1
        let text = words.map { DisplayWidth.fit($0.description, to: columns, mark: "~") } ?? ""
        try Terminal.write("\r\u{1B}[K\(text)", to: .error)
      }
    }
  }

  /// Asks on standard error, because standard output is only for data.
  private static func ask(_ question: SafeText) throws -> Bool {
    Terminal.discardInput()
    try Terminal.writeWrapped("\(question) [y/N] ", to: .error)
    var lines = PlainLines()
    guard case .line(let answer) = try lines.readLine() else {
      try Terminal.write("\n", to: .error)
      // Here ^C means the answer no. Without this call, the same ^C would also stop the next command.
      Interrupts.acknowledge()
      return false
    }
    return ["y", "yes"].contains(String(decoding: answer, as: UTF8.self).lowercased())
  }

  /// Gives the history file to `body`. If there is no history file, returns nil and does not create a file.
  private static func useHistory<Result>(
    _ environment: [String: String], to verb: SafeText,
    _ body: (LineEditor.HistoryFile) throws -> Result
  ) throws -> Result? {
    guard let file = LineEditor.HistoryFile.standard(environment: environment), file.exists else {
      return nil
    }
    do { return try body(file) } catch let error as TerminalError {
      throw ShellError(error, .writing, "cannot \(verb) the history")
    }
  }
}

extension Host.Screen {
  fileprivate init(_ screen: FullScreen) {
    self.init(
      size: { Terminal.size() ?? Terminal.usualSize },
      wait: { limit in
        switch try screen.next(within: limit) {
        case .bytes(let bytes): .bytes(bytes)
        case .redraw: .redraw
        case .timedOut: .timeout
        case .end: .end
        }
      }, write: { try Terminal.write($0.span) }, suspend: { try screen.suspend() },
      close: { try screen.close() })
  }
}
