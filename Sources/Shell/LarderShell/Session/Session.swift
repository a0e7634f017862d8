package import Larder
package import ShellLanguage

/// The shell without a terminal: runs command lines and writes their answers. No snapshot is held between two commands.
package final class Session {
  /// The store. A command may close the store and open it again, so `store` may become another object.
  package internal(set) var store: Store
  let options: Store.Options
  let host: Host
  var clock: any LarderClock { options.clock }
  let output: AnswerWriter
  package var settings: Settings {
    get { output.settings }
    set { output.settings = newValue }
  }
  package internal(set) var current: String?
  var undo = UndoLog()
  /// The values that replace `:name` in the commands of a file.
  package var variables = Variables()
  /// Whether the prompt must forget the lines that a person can recall.
  package var historyWasCleared = false
  /// The versions of the entries that a person chose in the full-screen view. If not nil, commands change only these entries.
  var chosen: [EntryID: UInt64]?
  /// The number of command files that run now. More than one file runs if a command of a file runs another file.
  var sourceDepth = 0
  private(set) var line: CommandLine?
  /// Whether a person typed the running command, so that the command can ask a question.
  private(set) var canAsk = false
  lazy var queries = newQueries

  package init(
    store: Store, options: Store.Options = Store.Options(), settings: Settings, host: Host
  ) {
    self.store = store
    self.options = options
    self.host = host
    output = AnswerWriter(to: host, settings: settings, clock: options.clock)
  }

  package var wallClock: WallClock { output.wallClock }

  package var isReadOnly: Bool { store.isReadOnly }

  package var unknownTransforms: UnknownTransforms {
    UnknownTransforms(known: options.transforms.map(\.id))
  }

  /// The text of the prompt: the namespace in use, or `larder` if there is none.
  package var promptName: String {
    "\(SafeText(current ?? "larder"))\(isReadOnly ? " (read-only)" : "")"
  }

  /// The namespace of a `set` that names no namespace; nil if there is none.
  package var unnamedNamespace: String? { try? namespaceToWrite(.unnamed).name }

  /// Uses a namespace from now on, like the command `use`. The namespace need not exist.
  package func use(_ name: String) throws(ShellError) { current = try NamespaceName(name).text }

  /// Writes a batch. After the error `full`, runs the batch once more, because the store may have evicted entries meanwhile.
  package func write<Result>(_ body: (inout WriteBatch) throws -> Result) throws -> Result {
    func attempt() throws -> Result { try store.write { try undo.recording(&$0, body) } }
    let result: Result
    do { result = try attempt() } catch let error as LarderError where error.code == .full {
      result = try attempt()
    }
    undo.commit()
    return result
  }

  /// Runs a read after a commit. The change is already made, so a failure of the read becomes a note and not an error.
  func afterCommit<Result>(_ read: () throws -> Result?) throws -> Result? {
    do { return try read() } catch let error as LarderError {
      try host.notify(
        "note: the change is made; a read of the store behind it failed: \(error.message)")
      return nil
    }
  }

  func isChosen(_ entry: Store.Entry) -> Bool {
    chosen.map { $0[EntryID(entry)] == entry.version } ?? true
  }

  var newQueries: QueryRun { QueryRun(now: clock.now.unix, pause: host.checkInterruption) }

  /// Runs a command. Throws a `ShellError` with its place in the line, or an error of the host.
  package func run(_ line: CommandLine) throws -> Outcome {
    do {
      let call = try CommandTable.standard.invocation(of: line, clock: wallClock)
      guard call.command.access != .changes || !isReadOnly || call.isPreview else {
        throw ShellError.readOnly(call.command.name)
      }
      // For the commands in a file, the person who named the file can answer questions, so `canAsk` does not change.
      if sourceDepth == 0 { canAsk = line.source.isTyped }
      let outer = (self.line, output.form)
      (self.line, output.form) = (line, call.choice("-o").flatMap(OutputMode.init) ?? output.form)
      defer { (self.line, output.form) = outer }
      if call.command.access != .reads, call.command.name != "undo" {
        undo.begin(call.command.name, isRecorded: line.source == .prompt || chosen != nil)
      }
      defer { undo.end() }
      queries = newQueries
      defer { queries = newQueries }
      let outcome =
        try line.output.map { try output.redirecting(to: $0) { try Command.run(call, in: self) } }
        ?? Command.run(call, in: self)
      for note in queries.notes { try host.notify(note) }
      return outcome
    } catch let error as ShellError { throw line.locate(error) } catch let error as LarderError {
      throw line.locate(ShellError(error))
    } catch is Interruption {
      throw line.locate(ShellError(.interrupted, "interrupted", hint: nil))
    }
  }

  /// Closes the store and runs `body` on its files. Then opens the store again, even if a step has failed.
  ///
  /// - Parameter needsCommit: If false, `body` also runs if the last writes could not be committed.
  func whileClosed<Result>(
    needsCommit: Bool = true, _ body: (_ path: String, _ options: Store.Options) throws -> Result
  ) throws -> Result {
    let path = store.path
    undo.forget()
    let closing = Swift.Result { try store.close() }
    var again = options
    again.create = false
    let result = Swift.Result {
      if needsCommit { try closing.get() }
      return try body(path, options)
    }
    do { store = try Store(at: path, options: again) } catch {
      try host.notify("note: the store cannot be opened again: \(error.message); leave the shell")
      // If both steps failed, the error of the first step explains more than the error of the second.
      if case .success = result { throw ShellError.opening(error) }
    }
    return try result.get()
  }
}

/// ^C was pressed, so the running command ends.
package struct Interruption: Error { package init() {} }

extension Timestamp {
  init(_ time: UnixTime) { self.init(milliseconds: time.milliseconds) }

  var unix: UnixTime { UnixTime(milliseconds: milliseconds) }
}

extension Expiration {
  init(_ deadline: Deadline) { self = deadline.time.map { .at(Timestamp($0)) } ?? .never }
}
