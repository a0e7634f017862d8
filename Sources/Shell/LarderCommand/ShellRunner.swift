import Larder
import LarderShell
import LarderTerminal
import ShellLanguage

/// Runs a session on the streams of the process: a command, steps, scripts and the prompt.
final class ShellRunner {
  let options: Options
  let environment: [String: String]
  let session: Session
  let output: PagedOutput
  private var failure: Int32?
  private var failures = 0

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
      host: Host(readsCommands: readsCommands, environment, output), additions: .shared)
    session.variables = options.variables
    if let name = options.namespace { try session.use(name) }
  }

  func run() throws -> Int32 {
    if !options.words.isEmpty { return try runWords() ?? failure ?? 0 }
    var number = 0
    for step in options.steps {
      let code: Int32?
      switch step {
      case .command(let text):
        number += 1
        code = try runScript(.eval(number), text: Array(text.utf8))
      case .file("-"):
        code = try runScript(.input, of: PlainLines())
      case .file(let path):
        code = try runFile(path)
      }
      if let code { return code }
    }
    if options.has("--interactive") || options.steps.isEmpty {
      if let code = try runInput() { return code }
    }
    return failure ?? 0
  }

  func close() throws {
    do throws(LarderError) { try session.store.close() } catch { throw ShellError(error) }
  }

  private func runWords() throws -> Int32? {
    do {
      return try run(CommandReader.command(of: options.words))
    } catch let error as ShellError {
      return fail(error)
    }
  }

  private func runInput() throws -> Int32? {
    guard Terminal.isTerminal(.input) else { return try runScript(.input, of: PlainLines()) }
    var prompt = try PromptLoop(self)
    return try prompt.run()
  }

  /// Runs the script in a file; returns nil to continue, or the exit code with which the program ends.
  func runFile(_ path: String) throws -> Int32? {
    let text: [UInt8]
    do {
      text = try LocalFile(Array(path.utf8), of: session).contents()
    } catch let error as ShellError {
      return fail(error)
    } catch is Interruption {
      return ShellError.Code.interrupted.exitCode
    }
    return try runScript(.file(path), text: text)
  }

  private func runScript(_ source: Source, text: [UInt8]) throws -> Int32? {
    var lines = text.lines[...]
    return try runScript(source) { lines.popFirst().map { .line(Array($0)) } ?? .end }
  }

  private func runScript(_ source: Source, of lines: PlainLines) throws -> Int32? {
    var lines = lines
    return try runScript(source) { try lines.readLine() }
  }

  private func runScript(_ source: Source, next: () throws -> LineResult) throws -> Int32? {
    var reader = CommandReader(source, variables: options.variables)
    while true {
      switch try next() {
      case .line(let line):
        if let code = try run(line, &reader) { return code }
      case .interrupted:
        return ShellError.Code.interrupted.exitCode
      case .end:
        do throws(ShellError) { try reader.end() } catch { return fail(error) }
        return nil
      }
    }
  }

  private func run(_ line: [UInt8], _ reader: inout CommandReader) throws -> Int32? {
    do {
      guard case .commands(let commands) = try reader.read(line) else { return nil }
      // A failure ends the commands of a line, also with --keep-going.
      for command in commands {
        let before = failures
        if let code = try run(command) { return code }
        if failures > before { break }
      }
      return nil
    } catch let error as ShellError {
      return fail(error)
    }
  }

  /// Runs a command of a script; returns nil to continue, or the exit code with which the program ends.
  func run(_ command: ShellLanguage.CommandLine) throws -> Int32? {
    guard !Interrupts.isPending else { return ShellError.Code.interrupted.exitCode }
    let start = ContinuousClock.now
    let outcome = try session.run(command)
    if session.settings.showsTiming {
      messages.write("time: \((ContinuousClock.now - start).words)\n")
    }
    switch outcome {
    case .done: return nil
    case .exitCode(let code): return recordFailure(code)
    case .quit(let code): return code == 0 ? failure ?? 0 : code
    }
  }

  private func fail(_ error: ShellError) -> Int32? { recordFailure(messages.tell(error)) }

  /// Records a failure. A failure ends the script unless --keep-going is given; ^C always ends the script.
  private func recordFailure(_ code: Int32) -> Int32? {
    failure = failure ?? code
    failures += 1
    return options.has("--keep-going") && code != ShellError.Code.interrupted.exitCode ? nil : code
  }

  var messages: Messages { Messages(isJSON: [.json, .jsonl].contains(session.settings.mode)) }
}

/// Errors and notes, on standard error.
struct Messages {
  var isJSON: Bool

  func tell(_ error: ShellError) -> Int32 {
    write(isJSON ? error.json : error.scripted)
    return error.code.exitCode
  }

  /// A failure to write a message is ignored: there is no other place to report it.
  func write(_ text: String) {
    let columns = isJSON ? nil : Terminal.size(of: .error)?.columns
    try? Terminal.write(DisplayWidth.wrap(text, columns: columns, indent: 2), to: .error)
  }
}
