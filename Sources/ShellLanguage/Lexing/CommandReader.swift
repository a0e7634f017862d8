/// Turns the lines of a source into commands, joining lines while a quote is open.
package struct CommandReader: Sendable {
  /// What a line amounted to.
  package enum Step: Sendable {
    case command(CommandLine)
    /// Nothing but space and comment.
    case blank
    /// A quote is open: the next line belongs to it.
    case open
  }

  package let source: Source
  private var lexer = Lexer()
  private var firstLine = 1
  private var lines = 0

  package init(_ source: Source) { self.source = source }

  /// Reads one line, without its newline. After an error the reader is ready for the next command.
  package mutating func read(_ line: some Sequence<UInt8>) throws(ShellError) -> Step {
    lines += 1
    do throws(ShellError) {
      try lexer.add(line: line)
      guard lexer.open == nil else { return .open }
      let command = try self.command()
      startOver()
      return command.arguments.isEmpty ? .blank : .command(command)
    } catch {
      let located = unsorted.locate(error)
      startOver()
      throw located
    }
  }

  /// Ends the source; an error if a quote is open, naming the place where it was opened.
  package mutating func end() throws(ShellError) {
    guard let open = lexer.open else { return }
    let place = unsorted.place(of: open.offset..<open.offset + 1)
    startOver()
    throw ShellError(
      .usage, "the quote opened in line \(place.line) is not closed", place: place,
      hint: "close it, or escape it with a backslash if it belongs to the word")
  }

  /// Forgets a command that was begun, as when a person gives it up.
  package mutating func startOver() {
    lexer = Lexer()
    firstLine = lines + 1
  }

  private var unsorted: CommandLine {
    CommandLine(source: source, firstLine: firstLine, text: lexer.text, arguments: [])
  }

  private func command() throws(ShellError) -> CommandLine {
    var arguments: [Argument] = []
    var optionsEnded = false
    for word in lexer.words {
      if !optionsEnded, word.bareText == "--" {
        optionsEnded = true
      } else {
        arguments.append(try Argument(word, optionsEnded: optionsEnded))
      }
    }
    return CommandLine(
      source: source, firstLine: firstLine, text: lexer.text, arguments: arguments)
  }
}

extension CommandReader {
  /// All commands of a text that is at hand; stops at the first error.
  package static func commands(
    in text: some Collection<UInt8>, from source: Source
  ) throws(ShellError) -> [CommandLine] {
    var reader = CommandReader(source)
    var commands: [CommandLine] = []
    for line in text.split(separator: .newline, omittingEmptySubsequences: false) {
      if case .command(let command) = try reader.read(line) { commands.append(command) }
    }
    try reader.end()
    return commands
  }
}
