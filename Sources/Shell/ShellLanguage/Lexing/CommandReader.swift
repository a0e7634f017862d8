/// Turns the lines of a source into commands; a command continues on the next line while a quote is open.
package struct CommandReader: Sendable {
  package enum Step: Sendable {
    case commands([CommandLine])
    /// `! TEXT`: a program that `/bin/sh` runs.
    case program([UInt8])
    case blank
    /// A quote is open, so the next line belongs to the same command.
    case open
  }

  package let source: Source
  private let variables: Variables
  private var lexer = Lexer()
  private var firstLine = 1
  private var lines = 0

  package init(_ source: Source, variables: Variables = Variables()) {
    self.source = source
    self.variables = variables
  }

  /// Reads one line without its newline. After an error, the next line begins a new command.
  package mutating func read(_ line: some Collection<UInt8>) throws(ShellError) -> Step {
    lines += 1
    var isOpen = false
    defer { if !isOpen { startOver() } }
    do throws(ShellError) {
      if lexer.open == nil, let program = try program(in: line) { return .program(program) }
      try lexer.add(line: line)
      isOpen = lexer.open != nil
      if isOpen { return .open }
      let commands = try self.commands()
      return commands.isEmpty ? .blank : .commands(commands)
    } catch {
      throw unsorted.locate(error)
    }
  }

  /// Ends the source; if a quote is open, throws an error with the place of the quote.
  package mutating func end() throws(ShellError) {
    guard let open = lexer.open else { return }
    let place = unsorted.place(of: open.offset..<open.offset + 1)
    startOver()
    throw open.quote == .json
      ? ShellError(
        .badJSON, "the JSON value that begins in line \(place.line) is not closed", place: place,
        hint: "close it, or quote the word if it is not JSON")
      : ShellError(
        .usage, "the quote opened in line \(place.line) is not closed", place: place,
        hint: "close it, or escape it with a backslash if it belongs to the word")
  }

  package mutating func startOver() {
    lexer = Lexer()
    firstLine = lines + 1
  }

  private var unsorted: CommandLine {
    CommandLine(source: source, firstLine: firstLine, text: lexer.text, arguments: [])
  }

  private mutating func program(in line: some Collection<UInt8>) throws(ShellError) -> [UInt8]? {
    let text = Array(line)
    guard let start = text.firstIndex(where: { $0 != .space && $0 != .tab }),
      text[start] == UInt8(ascii: "!")
    else { return nil }
    let program = text[(start + 1)...].drop { $0 == .space || $0 == .tab }
    guard source == .prompt, !program.isEmpty else {
      lexer = Lexer(text: text)
      throw program.isEmpty
        ? ShellError(
          .usage, "expected a program after \"!\"", at: start..<start + 1, hint: "! ls")
        : .promptOnly("!", at: start..<start + 1)
    }
    return Array(program)
  }

  private func commands() throws(ShellError) -> [CommandLine] {
    var commands: [CommandLine] = []
    for segment in lexer.segments where !segment.isEmpty {
      if source != .prompt, case .program(_, let range) = segment.output {
        throw .promptOnly("|", at: range)
      }
      let end = segment.words.firstIndex { $0.bareText == "--" } ?? segment.words.count
      var arguments: [Argument] = []
      for word in segment.words[..<end] {
        arguments.append(try Argument(variables.replacing(word)))
      }
      arguments += segment.words.dropFirst(end + 1).map { Argument.word($0.quoted) }
      guard !arguments.isEmpty else {
        throw ShellError(.usage, "expected a command", hint: "help lists the commands")
      }
      commands.append(
        CommandLine(
          source: source, firstLine: firstLine, text: lexer.text, arguments: arguments,
          output: segment.output, variables: variables))
    }
    return commands
  }

  package static func commands(
    in text: some Collection<UInt8>, from source: Source, variables: Variables = Variables()
  ) throws(ShellError) -> [CommandLine] {
    var reader = CommandReader(source, variables: variables)
    var commands: [CommandLine] = []
    for line in text.split(separator: .newline, omittingEmptySubsequences: false) {
      if case .commands(let read) = try reader.read(line) { commands += read }
    }
    try reader.end()
    return commands
  }

  /// The command from the arguments of a process. Words before `--` count as unquoted, words after `--` as quoted. Without
  /// variables, a word such as `:name` is not replaced.
  package static func command(
    of words: [[UInt8]], variables: Variables = Variables()
  ) throws(ShellError) -> CommandLine {
    var text: [UInt8] = []
    var arguments: [Argument] = []
    var failure: ShellError?
    let end = words.firstIndex(of: Array("--".utf8)) ?? words.count
    for (index, bytes) in words.enumerated() {
      if !text.isEmpty { text.append(.space) }
      let range = text.count..<text.count + bytes.count
      text += bytes
      guard index != end else { continue }
      do throws(ShellError) {
        let word = Word(bytes, isBare: index < end, at: range)
        arguments.append(
          try Argument(variables.values.isEmpty ? word : variables.replacing(word)))
      } catch {
        failure = failure ?? error
      }
    }
    let line = CommandLine(
      source: .command, firstLine: 1, text: text, arguments: arguments, variables: variables)
    if let failure { throw line.locate(failure) }
    return line
  }

  /// A command that this program makes. The namespaces and the words of `data` are read like quoted words.
  package static func command(
    _ verb: String, in namespaces: [String], options: [String] = [], data: [[UInt8]]
  ) throws(ShellError) -> CommandLine {
    func word(_ text: String) -> Word { Word(Array(text.utf8), isBare: true, at: 0..<0) }
    var arguments = [Argument.word(word(verb))]
    for name in namespaces { arguments.append(.namespace(try NamespaceName(name))) }
    for option in options { arguments.append(try Argument(word(option))) }
    arguments += data.map { .word(Word($0, isBare: false, at: 0..<0)) }
    return CommandLine(source: .command, firstLine: 1, text: [], arguments: arguments)
  }
}

extension ShellError {
  fileprivate static func promptOnly(_ operator: String, at range: Range<Int>) -> ShellError {
    ShellError(
      .promptOnly, "\"\(`operator`)\" works at the prompt only", at: range,
      hint: "run the program from your script")
  }
}
