/// Turns the lines of a source into commands; a command continues on the next line while a quote is open.
package struct CommandReader: Sendable {
  package enum Step: Sendable {
    case commands([CommandLine])
    /// `! TEXT`: a program that `/bin/sh` runs.
    case program([UInt8])
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
      return isOpen ? .open : .commands(try commands())
    } catch { throw unread.locate(error) }
  }

  /// Ends the source; if a quote is open, throws an error with the place of the quote.
  package mutating func end() throws(ShellError) {
    guard let open = lexer.open else { return }
    let isQuote = [.quote, .doubleQuote].contains(lexer.text[open])
    let place = unread.place(of: open..<open + 1)
    startOver()
    throw isQuote
      ? ShellError(
        .usage, "the quote opened in line \(place.line) is not closed", place: place,
        hint: "close it, or escape it with a backslash if it belongs to the word")
      : ShellError(
        .badJSON, "the JSON value that begins in line \(place.line) is not closed", place: place,
        hint: "close it, or quote the word if it is not JSON")
  }

  package mutating func startOver() {
    lexer = Lexer()
    firstLine = lines + 1
  }

  /// The text of the lines so far, as a command without arguments.
  private var unread: CommandLine {
    CommandLine(source: source, firstLine: firstLine, text: lexer.text, variables: variables)
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
        ? ShellError(.usage, "expected a program after \"!\"", at: start..<start + 1, hint: "! ls")
        : .promptOnly("!", at: start..<start + 1)
    }
    return Array(program)
  }

  private func commands() throws(ShellError) -> [CommandLine] {
    var commands: [CommandLine] = []
    for segment in lexer.segments where !segment.words.isEmpty {
      var command = unread
      switch segment.output {
      case .program(_, let range) where source != .prompt: throw .promptOnly("|", at: range)
      case .file(let word, let appends):
        command.output = .file(try variables.replacing(word), appends: appends)
      case let output: command.output = output
      }
      let end = segment.words.firstIndex { $0.bareText == "--" } ?? segment.words.count
      for word in segment.words[..<end] {
        command.arguments.append(try Argument(variables.replacing(word)))
      }
      command.arguments += segment.words.dropFirst(end + 1).map { .word($0.quoted) }
      guard !command.arguments.isEmpty else {
        throw ShellError(.usage, "expected a command", hint: "help lists the commands")
      }
      commands.append(command)
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

  /// The command from the arguments of a process; words after `--` count as quoted. Without variables, `:name` is not replaced.
  package static func command(
    of words: [[UInt8]], variables: Variables = Variables()
  ) throws(ShellError) -> CommandLine {
    var line = CommandLine(
      source: .command, firstLine: 1, text: Array(words.joined(separator: [.space])),
      variables: variables)
    let end = words.firstIndex(of: Array("--".utf8)) ?? words.count
    var start = 0
    for (index, bytes) in words.enumerated() {
      let word = Word(bytes, isBare: index < end, at: start..<start + bytes.count)
      start += bytes.count + 1
      guard index != end else { continue }
      do throws(ShellError) {
        line.arguments.append(
          try Argument(variables.values.isEmpty ? word : variables.replacing(word)))
      } catch { throw line.locate(error) }
    }
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
