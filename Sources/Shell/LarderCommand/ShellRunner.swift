import Larder
import LarderShell
import LarderTerminal
import ShellLanguage

/// Runs a session with the streams of the process: one command, the steps of the arguments, a script, or the prompt.
final class ShellRunner {
  let options: Options
  let environment: [String: String]
  let session: Session
  let output: PagedOutput
  /// The exit codes of the failures. The program ends with the first of these codes.
  private var failures: [Int32] = []

  init(
    _ options: Options, _ environment: [String: String], store: Store, _ storeOptions: Store.Options
  ) throws {
    self.options = options
    self.environment = environment
    output = PagedOutput(environment: environment)
    let readsCommands =
      options.words.isEmpty
      && (options.steps.contains(.file("-")) || options.has("--interactive")
        || options.steps.isEmpty)
    session = Session(
      store: store, options: storeOptions, settings: Settings(options, environment),
      host: Host(readsCommands: readsCommands, environment, output))
    session.variables = options.variables
    if let name = options.namespace { try session.use(name) }
  }

  func run() throws -> Int32 {
    if !options.words.isEmpty {
      return try reporting {
        try run(CommandReader.command(of: options.words, variables: options.variables))
      } ?? failures.first ?? 0
    }
    var number = 0
    for step in options.steps {
      let code: Int32?
      switch step {
      case .command(let text):
        number += 1
        code = try runScript(.eval(number), text: Array(text.utf8))
      case .file("-"):
        code = try runInput()
      case .file(let path):
        code = try runFile(path)
      }
      if let code { return code }
    }
    if options.has("--interactive") || options.steps.isEmpty {
      guard !Terminal.isTerminal(.input) else {
        var prompt = try PromptLoop(self)
        return try prompt.run()
      }
      if let code = try runInput() { return code }
    }
    return failures.first ?? 0
  }

  private func runInput() throws -> Int32? {
    var lines = PlainLines()
    return try runScript(.input) { try lines.readLine() }
  }

  /// Runs the script in a file. Returns nil to continue, or the exit code with which the program must end.
  func runFile(_ path: String) throws -> Int32? {
    try reporting { try runScript(.file(path), text: session.contents(of: Array(path.utf8))) }
  }

  private func runScript(_ source: Source, text: [UInt8]) throws -> Int32? {
    var lines = text.lines[...]
    return try runScript(source) { lines.popFirst().map { .line(Array($0)) } ?? .end }
  }

  private func runScript(_ source: Source, next: () throws -> LineResult) throws -> Int32? {
    var reader = CommandReader(source, variables: options.variables)
    while true {
      switch try next() {
      case .line(let line):
        let code = try reporting {
          guard case .commands(let commands) = try reader.read(line) else { return nil }
          // If a command fails, the remaining commands of the line do not run, even with --keep-going.
          for command in commands {
            let before = failures.count
            if let code = try run(command) { return code }
            if failures.count > before { break }
          }
          return nil
        }
        if let code { return code }
      case .interrupted: return ShellError.Code.interrupted.exitCode
      case .end:
        return try reporting {
          try reader.end()
          return nil
        }
      }
    }
  }

  /// Runs a command of a script. Returns nil to continue, or the exit code with which the program must end.
  func run(_ command: ShellLanguage.CommandLine) throws -> Int32? {
    guard !Interrupts.isPending else { return ShellError.Code.interrupted.exitCode }
    let start = ContinuousClock.now
    let outcome: Outcome
    do { outcome = try session.run(command) } catch is Host.Sink.Closed {
      // The next commands may change the store, so they still run.
      return nil
    }
    if session.settings.showsTiming {
      messages.write("time: \((ContinuousClock.now - start).words)\n")
    }
    switch outcome {
    case .done: return nil
    case .exitCode(let code): return recordFailure(code)
    case .quit(let code): return code == 0 ? failures.first ?? 0 : code
    }
  }

  /// Runs `body`. If `body` throws an error of the shell, writes the error to standard error and records a failure.
  private func reporting(_ body: () throws -> Int32?) throws -> Int32? {
    do { return try body() } catch let error as ShellError {
      return recordFailure(messages.tell(error))
    } catch is Interruption { return ShellError.Code.interrupted.exitCode }
  }

  /// Records a failure. Returns nil if the script continues, which needs --keep-going. ^C always ends the script.
  private func recordFailure(_ code: Int32) -> Int32? {
    failures.append(code)
    return options.has("--keep-going") && code != ShellError.Code.interrupted.exitCode ? nil : code
  }

  var messages: Messages { Messages(isJSON: [.json, .jsonl].contains(session.settings.mode)) }
}

/// Errors and notes, on standard error.
struct Messages {
  var isJSON: Bool

  func tell(_ error: ShellError) -> Int32 {
    let messages = Messages(isJSON: error.form.map { [.json, .jsonl].contains($0) } ?? isJSON)
    messages.write(messages.isJSON ? error.json : error.scripted)
    return error.code.exitCode
  }

  /// Ignores a failure to write a message, because there is no other place to report the failure.
  func write(_ text: String) {
    try? isJSON ? Terminal.write(text, to: .error) : Terminal.writeWrapped(text, to: .error)
  }
}
