extension CommandTable {
  /// The dim text behind the cursor: the arguments that can follow. Nil for an unknown command, or without a space at the end.
  package func hint(behind line: [UInt8]) -> String? {
    guard line.last == .space || line.last == .tab else { return nil }
    var lexer = Lexer()
    guard (try? lexer.scan(line)) != nil, lexer.open == nil, lexer.current == nil,
      let name = lexer.words.first?.bareText, let command = command(named: name)
    else { return nil }
    let state = ArgumentState(lexer.words.dropFirst(), of: command)
    if let option = state.openOption { return option.placeholder }
    var pieces: [String] = []
    if state.filled == 0, state.namespaces == .unnamed {
      pieces = command.argumentUsage
    } else {
      pieces = command.parameters.dropFirst(state.filled).map(\.usage)
      if command.selection != nil { pieces += command.trailing.map(\.usage) }
      pieces += command.ownOptions.filter { !state.given.contains($0.name) }.map { "[\($0.usage)]" }
    }
    return pieces.isEmpty ? nil : pieces.joined(separator: " ")
  }
}

/// The meaning of the words before the cursor, for completion and hints. A wrong word causes no error here.
struct ArgumentState {
  /// An option whose value comes next.
  private(set) var openOption: OptionSpec?
  /// The parameter that the next word fills. Nil if the next word belongs to the selection, or if no word can follow.
  private(set) var parameter: Parameter?
  /// How many of the words before the cursor can fill parameters.
  private(set) var filled = 0
  private(set) var given: Set<String> = []
  private(set) var optionsEnded = false
  private(set) var namespaces = NamespaceChoice.unnamed

  init(_ words: ArraySlice<Word>, of command: CommandSpec) {
    for word in words {
      if !optionsEnded, word.bareText == "--" {
        optionsEnded = true
      } else if openOption != nil {
        openOption = nil
      } else if let argument = try? Argument(optionsEnded ? word.quoted : word) {
        consume(argument, command)
      } else {
        // The shell reports a wrong word when the line runs, so this code only counts the wrong word.
        filled += 1
      }
    }
    parameter =
      command.parameters.dropFirst(filled).first ?? command.parameters.last { $0.isRepeated }
  }

  private mutating func consume(_ argument: Argument, _ command: CommandSpec) {
    switch argument {
    case .word: filled += 1
    case .option(let option):
      given.insert(option.spelling)
      guard let spec = command.option(named: option.spelling) else { return }
      if spec.kind != nil, option.value == nil { openOption = spec }
    case .allNamespaces: namespaces = .all
    case .namespace(let name):
      if command.parameters.contains(where: { $0.kind == .namespace }) { filled += 1 }
      let names = if case .named(let names) = namespaces { names } else { [NamespaceName]() }
      namespaces = .named(names + [name])
    }
  }
}
