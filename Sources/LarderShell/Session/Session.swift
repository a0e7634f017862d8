package import Larder
package import ShellLanguage

/// The shell without a terminal: runs command lines and writes their answers.
///
/// It keeps the state between commands. Each command is its own transaction, or a series of batches;
/// no snapshot is held between commands.
package final class Session {
  /// Replaced when a command closes the store and opens it again.
  package internal(set) var store: Store
  let options: Store.Options
  let host: Host
  var clock: any LarderClock { options.clock }
  package var settings: Settings
  /// The namespace of commands that name none.
  package internal(set) var current: String?
  /// The list that `more` continues.
  var listing: Listing?
  var separator = Separator.none
  /// The marks for `diff`, by name.
  var marks: [[UInt8]: StoreMark] = [:]
  /// The lines that can be recalled at the prompt are to be forgotten, too.
  package var historyWasCleared = false
  /// The fields that Tab has found in values.
  var fieldSample = FieldSample()
  /// The number of files that run within each other.
  var sourceDepth = 0
  /// Receives the output of the running command in place of the host.
  private(set) var sink: Host.Sink?
  /// The running command ends with `\G`.
  private(set) var isVertical = false
  /// The running command.
  private(set) var line: CommandLine?
  /// A person typed the command that runs, so a question can be asked.
  private(set) var canAsk = false
  /// The queries of the running command.
  private(set) lazy var queries = newQueries

  /// - Parameter options: The options with which the store was opened.
  package init(
    store: Store, options: Store.Options = Store.Options(), settings: Settings, host: Host
  ) {
    self.store = store
    self.options = options
    self.settings = settings
    self.host = host
  }

  /// A session on the same store whose answers, as sentences, go to another host. Its person was asked already.
  func helper(_ host: Host, configure: (inout Host) -> Void) -> Session {
    var host = host
    configure(&host)
    var settings = settings
    settings.mode = .table
    settings.isTerminal = false
    settings.hasColor = false
    return Session(store: store, options: options, settings: settings, host: host)
  }

  package var now: UnixTime { clock.now.unix }
  package var wallClock: WallClock { WallClock(now: now, zone: settings.zone) }

  package var isReadOnly: Bool { store.isReadOnly }

  /// Writes a batch; once more if the data file had too few free pages, because the store has evicted entries for it then.
  package func write<Result>(_ body: (inout WriteBatch) throws -> Result) throws -> Result {
    do {
      return try store.write(body)
    } catch let error as LarderError where error.code == .full {
      return try store.write(body)
    }
  }

  private var newQueries: QueryRun { QueryRun(now: now, pause: host.checkInterruption) }

  /// Runs a command. Throws a `ShellError` with its place, or an error of the host.
  package func run(_ line: CommandLine) throws -> Outcome {
    do {
      let call = try CommandTable.standard.invocation(of: line, clock: wallClock)
      guard call.command.access == .reads || !isReadOnly || call.isPreview else {
        throw ShellError.readOnly(call.command.name)
      }
      // The commands of a file that a person names are those of the person.
      if sourceDepth == 0 { canAsk = line.source.isTyped }
      let outer = self.line
      self.line = line
      defer { self.line = outer }
      isVertical = line.isVertical
      defer { isVertical = false }
      queries = newQueries
      defer { queries = newQueries }
      let outcome =
        try line.output.map { output in
          try redirecting(to: output) { try Command.run(call, in: self) }
        } ?? Command.run(call, in: self)
      for note in queries.notes { try host.notify(note) }
      return outcome
    } catch let error as ShellError {
      throw line.locate(error)
    } catch let error as LarderError {
      throw line.locate(ShellError(error))
    } catch is Interruption {
      throw line.locate(ShellError(.interrupted, "interrupted", hint: nil))
    }
  }
}

extension Session {
  /// Runs a command whose output goes to a file or a program, in the form it has in a pipe.
  private func redirecting(to output: Redirection, _ body: () throws -> Outcome) throws -> Outcome {
    guard let redirect = host.redirect else {
      throw ShellError(.usage, "output cannot be redirected here", hint: nil)
    }
    let name: SafeText =
      if case .file(let word, _) = output { SafeText(quoting: word.bytes) } else { "the program" }
    func explaining<Result>(_ body: () throws -> Result) throws -> Result {
      do { return try body() } catch let problem as FileProblem {
        throw problem.error("cannot write \(name)")
      }
    }
    let sink = try explaining { try redirect(output) }
    let before = (self.sink, separator)
    (self.sink, separator) = (sink, .none)
    defer { (self.sink, separator) = before }
    do {
      let outcome = try explaining(body)
      try explaining { if let note = try sink.finish(true) { try host.notify("\(note)") } }
      return outcome
    } catch is Host.Sink.Closed {
      if let note = try sink.finish(true) { try host.notify("\(note)") }
      return .done
    } catch {
      _ = try sink.finish(false)
      throw error
    }
  }

  /// Closes the store, runs `body` on its files, and opens it again even if that failed.
  func whileClosed<Result>(
    _ body: (_ path: String, _ options: Store.Options) throws -> Result
  ) throws -> Result {
    let path = store.path
    listing = nil
    try store.close()
    var again = options
    again.create = false
    let result = Swift.Result { try body(path, options) }
    store = try Store(at: path, options: again)
    return try result.get()
  }
}

/// ^C: the running command stops.
package struct Interruption: Error {
  package init() {}
}

extension Timestamp {
  init(_ time: UnixTime) { self.init(milliseconds: time.milliseconds) }

  /// The same moment in the shell's language.
  var unix: UnixTime { UnixTime(milliseconds: milliseconds) }
}

extension Expiration {
  init(_ deadline: Deadline) {
    self = deadline.time.map { .at(Timestamp($0)) } ?? .never
  }
}
