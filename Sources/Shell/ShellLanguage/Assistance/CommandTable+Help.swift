extension CommandTable {
  package func help(
    about subject: [UInt8]?, for presentation: Presentation
  ) throws(ShellError) -> Reply {
    let text = if let subject { try text(about: subject) } else { overview }
    guard presentation.mode.isStructured else {
      return Reply(.text(DisplayWidth.wrapColumns(text, columns: presentation.width)))
    }
    if let subject { return Reply(["subject": .bytes(subject), "text": .text(text)]) }
    func row(_ name: String, _ aliases: [String], _ group: String, _ summary: Cell) -> [Cell] {
      [.text(name), .list(aliases.map { .text($0) }), .text(group), summary]
    }
    return Reply(
      .rows(
        ["subject", "aliases", "group", "summary"],
        commands.map { row($0.name, $0.aliases, $0.group.rawValue, .prose($0.summary)) }
          + HelpTopic.all.map { row($0.name, Array($0.names.dropFirst()), "Topics", .null) }))
  }

  package var overview: String {
    func heading(_ command: CommandSpec) -> String {
      ([command.name] + command.aliases).joined(separator: ", ")
    }
    let width = commands.map { heading($0).count }.max()
    let groups = CommandSpec.Group.allCases.map { group in
      let commands = commands.filter { $0.group == group }
      let list = DisplayWidth.list(commands.map { (heading($0), $0.summary) }, width: width)
      return commands.isEmpty ? "" : "\(group.rawValue)\n\(list)"
    }
    let topics = HelpTopic.all.map(\.name).joined(separator: ", ")
    return groups.joined() + "\nhelp COMMAND explains one. Topics: \(topics).\n"
  }

  /// The text about a command or a topic; for an unknown subject, throws an error with a suggestion.
  package func text(about subject: [UInt8]) throws(ShellError) -> String {
    let name = String(validating: subject, as: UTF8.self)?.lowercased() ?? ""
    // A few topics have the same name as a command, so the text has the part about the command and the part about the topic.
    let texts = [command(named: name).map { text(about: $0) }, HelpTopic.named(name)?.text]
      .compactMap(\.self)
    if !texts.isEmpty { return texts.joined(separator: "\n") }
    let topics = HelpTopic.all.flatMap(\.names)
    let subjects = names + topics.filter { !names.contains($0) }
    throw ShellError(
      .usage, "no help on \(subject)",
      hint: CommandSynonyms.hint(name) ?? Suggestions.question(name, among: subjects)
        ?? "`help` lists the commands and topics")
  }

  package func text(about command: CommandSpec) -> String {
    var text = "usage: \(command.usage)\n\n\(command.summary)"
    if !command.aliases.isEmpty { text += " Also: \(command.aliases.joined(separator: ", "))." }
    text += "\n"
    if !command.ownOptions.isEmpty {
      text += "\n" + DisplayWidth.list(command.ownOptions.map { ($0.usage, $0.summary) })
    }
    if command.selection != nil {
      text += "\nSELECTION is namespaces, keys, patterns and filters: `help selections`.\n"
    }
    if !command.plain.isEmpty {
      text += "\nplain output, fields separated by tabs:\n"
      text += DisplayWidth.list(command.plainForms.map { ($0.words, $0.fields) })
    }
    let examples = DisplayWidth.list(command.examples.map { ($0.key, "# \($0.value)") })
    return text + "\nexamples:\n" + examples
  }

  /// The dim text behind the cursor: the arguments that can follow. Nil if the command is unknown, or if no space ends the line.
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
      pieces = (command.parameters.dropFirst(state.filled) + command.trailing).map(\.usage)
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
        continue
      }
      guard openOption == nil else {
        openOption = nil
        continue
      }
      switch try? Argument(optionsEnded ? word.quoted : word) {
      // The shell reports a wrong word when the line runs, so this code only counts the wrong word.
      case .word, nil: filled += 1
      case .option(let option):
        given.insert(option.spelling)
        let spec = command.option(named: option.spelling)
        if spec?.kind != nil, option.value == nil { openOption = spec }
      case .allNamespaces: namespaces = .all
      case .namespace(let name):
        if command.parameters.contains(where: { $0.kind == .namespace }) { filled += 1 }
        let names = if case .named(let names) = namespaces { names } else { [NamespaceName]() }
        namespaces = .named(names + [name])
      }
    }
    parameter =
      command.parameters.dropFirst(filled).first ?? command.parameters.last { $0.isRepeated }
  }
}
