/// The text of `help`, generated from the command table.
package struct Help: Sendable {
  package let table: CommandTable

  package init(_ table: CommandTable) { self.table = table }

  /// The answer to `help`, about all commands or about one subject.
  package func reply(
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
        table.commands.map { row($0.name, $0.aliases, $0.group.rawValue, .prose($0.summary)) }
          + HelpTopic.allCases.map { row($0.rawValue, $0.aliases, "Topics", .null) }))
  }

  /// All commands, by group.
  package var overview: String {
    let width = table.commands.map { Self.heading($0).count }.max() ?? 0
    var text = ""
    for group in CommandSpec.Group.allCases {
      let commands = table.commands.filter { $0.group == group }
      guard !commands.isEmpty else { continue }
      text += "\(group.rawValue)\n"
      for command in commands {
        text += "  \(DisplayWidth.pad(Self.heading(command), to: width))  \(command.summary)\n"
      }
    }
    let topics = HelpTopic.allCases.map(\.rawValue).joined(separator: ", ")
    return text + "\nhelp COMMAND explains one. Topics: \(topics).\n"
  }

  /// The text about a command or a topic; for an unknown subject, throws an error with a suggestion.
  package func text(about subject: [UInt8]) throws(ShellError) -> String {
    let name = String(validating: subject, as: UTF8.self)?.lowercased() ?? ""
    // A few topics have the name of a command: the text has both.
    let texts = [
      table.command(named: name).map { text(about: $0) }, HelpTopic(named: name)?.text,
    ].compactMap(\.self)
    if !texts.isEmpty { return texts.joined(separator: "\n") }
    let topics = HelpTopic.allCases.flatMap { [$0.rawValue] + $0.aliases }
    let subjects = table.names + topics.filter { !table.names.contains($0) }
    throw ShellError(
      .usage, "no help on \(subject)",
      hint: CommandSynonyms.hint(name, in: table) ?? Suggestions.question(name, among: subjects)
        ?? "`help` lists the commands and topics")
  }

  /// The usage, the summary, the options, the plain output and the examples of a command.
  package func text(about command: CommandSpec) -> String {
    var text = "usage: \(command.usage)\n\n\(command.summary)"
    if !command.aliases.isEmpty {
      text += " Also: \(command.aliases.joined(separator: ", "))."
    }
    text += "\n"
    if !command.ownOptions.isEmpty {
      text += "\n"
      let width = command.ownOptions.map { $0.usage.count }.max() ?? 0
      for option in command.ownOptions {
        text += "  \(DisplayWidth.pad(option.usage, to: width))  \(option.summary)\n"
      }
    }
    if command.selection != nil {
      text += "\nSELECTION is namespaces, keys, patterns and filters: `help selections`.\n"
    }
    if !command.plain.isEmpty {
      text += "\nplain output, fields separated by tabs:\n"
      let width = command.plainForms.map { $0.words.count }.max() ?? 0
      for form in command.plainForms {
        text += "  \(DisplayWidth.pad(form.words, to: width))  \(form.fields)\n"
      }
    }
    text += "\nexamples:\n"
    let width = command.examples.map { DisplayWidth.of($0.line) }.max() ?? 0
    for example in command.examples {
      text += "  \(DisplayWidth.pad(example.line, to: width))  # \(example.summary)\n"
    }
    return text
  }

  private static func heading(_ command: CommandSpec) -> String {
    ([command.name] + command.aliases).joined(separator: ", ")
  }
}
