import LarderSystem
import ShellLanguage

extension Command {
  static let option = CommandSpec(
    "option", .shell, .reads, "Shows or changes the settings of the shell.",
    parameters: [
      .optional("NAME", .choice(ShellOption.allCases.map(\.rawValue))), .optional("VALUE", .text),
    ],
    plain: ["": "option value"],
    examples: [
      "option": "all of them", "option timing on": "for this session; in the rc file for all",
      "option limit 200": "rows of a list",
    ]
  ).running { call, session in
    let named = call.choice("NAME").flatMap(ShellOption.init)
    if let named, let value = call.bytes("VALUE") {
      let word = String(decoding: value, as: UTF8.self).lowercased()
      do {
        return try named.set(word, in: session)
      } catch let error as ShellError where error.code == .usage {
        throw error.pointing(at: call.range("VALUE"))
      }
    }
    let columns = Column.untitled("option", "value", Column("about", in: .table))
    let rows = (named.map { [$0] } ?? ShellOption.allCases).map { option -> [Cell] in
      [.text(option.rawValue), .text(option.value(in: session)), .prose(option.facts.summary)]
    }
    try session.output.answer(.rows(columns, rows))
  }

  static let output = CommandSpec(
    "output", .shell, .reads, "Shows or sets the form of output.",
    parameters: [.optional("MODE", .choice(OutputMode.allCases.map(\.rawValue)))],
    plain: ["": "mode"],
    examples: ["output": "the forms", "output jsonl": "one object a line from now on"]
  ).running { call, session in
    if let name = call.choice("MODE"), let mode = OutputMode(rawValue: name) {
      session.settings.mode = mode
    } else {
      let columns = Column.untitled(
        "mode", Column("current", in: .data), Column("mark", in: .table))
      let rows = OutputMode.allCases.map { mode -> [Cell] in
        let isSet = mode == session.settings.mode
        return [.text(mode.rawValue), .bool(isSet), .prose(isSet ? "current" : mode.summary)]
      }
      try session.output.answer(.rows(columns, rows))
    }
  }

  static let history = CommandSpec(
    "history", .shell, .reads, "Lists the lines typed at the prompt, the last one at the end.",
    parameters: [.optional("N", .text), .optional("TEXT", .text)],
    options: [.flag("--clear", "remove all of them"), BulkOptions.yes], plain: ["": "number line"],
    examples: [
      "history": "the last 20", "history 100 evict": "the last 100 that contain a word",
      "history --clear": "forget all lines",
    ]
  ).running { call, session in
    if call.has("--clear") {
      let count = try session.host.history().count
      let lines: SafeText = "\(Wording.count(count, "line", "lines")) of the history"
      try Confirmation(call: call, session: session, isSweeping: true).require("remove \(lines)") {
        "Remove \(lines)?"
      }
      try session.host.forgetHistory()
      session.historyWasCleared = true
      return try session.output.acknowledge(
        ["lines": .number(count)], sentences: ["removed \(lines)"])
    }
    var words = [call.bytes("N"), call.bytes("TEXT")].compactMap(\.self)
    var count = 20
    // A first word of digits is the number of lines. Any other word is a text to search for.
    if let first = words.first, first.allSatisfy(\.isDigit) {
      count = Int(String(decoding: first, as: UTF8.self)) ?? .max
      words.removeFirst()
    }
    guard words.count <= 1 else {
      throw ShellError(.usage, "\(words[0]) is not a whole number", hint: "use `history 20 TEXT`")
    }
    let lines = try session.host.history().enumerated().filter { line in
      try words.isEmpty
        || Array(line.element.utf8)[...].firstRange(
          of: words[0], pause: session.host.checkInterruption) != nil
    }
    let rows = lines.suffix(count).map { [.number($0.offset + 1), .text($0.element)] as [Cell] }
    try session.output.answer(.rows(Column.untitled("number", "line"), rows))
  }

  static let source = CommandSpec(
    "source", .shell, .reads, "Runs the commands of a file, up to the first error.",
    parameters: [.one("FILE", .file)],
    examples: [
      "source nightly.larder": "they do not go into the history",
      "source 'my commands.larder'": "a name with a space",
    ]
  ).running { call, session -> Outcome in
    let path = try LocalFile.path(call.bytes("FILE")!)
    guard session.sourceDepth < deepest else {
      throw ShellError(
        .usage, "files nest deeper than \(deepest)", hint: "a file must not run itself")
    }
    session.sourceDepth += 1
    defer { session.sourceDepth -= 1 }
    // Reads the whole file before the first command runs, so that a syntax error at the end leaves the store unchanged.
    let lines = try CommandReader.commands(
      in: session.host.read(path).rest(.max), from: .file(path), variables: session.variables)
    for line in lines {
      try session.host.checkInterruption()
      do {
        let outcome = try session.run(line)
        guard outcome == .done else { return outcome }
      } catch is Host.Sink.Closed {
        // The next commands may change the store, so they still run.
      }
    }
    return .done
  }

  /// The greatest depth of files that run files. Without this limit, a file that runs itself would never end.
  private static let deepest = 16

  static let echo = CommandSpec(
    "echo", .shell, .reads, "Prints its words.", parameters: [.any("TEXT", .text)],
    examples: ["echo \"departures follow\"": "a line between outputs", "echo": "an empty line"],
  ).running { call, session in
    let words = Array(call.allBytes("TEXT").joined(separator: [.space]))
    // A terminal might act on control characters, so a terminal gets escapes instead. A pipe gets the unchanged words.
    let shown = Reply.Body.text(Quoting.printable(words) + "\n")
    let line = session.output.presentation.isTerminal ? shown : .bytes(words + [.newline])
    let body = Reply.Body.object([Column("text", holdsBytes: true)], [.bytes(words)])
    try session.output.answer(
      Reply(body, in: [.table: shown, .markdown: shown, .plain: line, .raw: line]))
  }

  static let help = CommandSpec(
    "help", aliases: ["?"], .shell, .reads, "Explains a command or a topic.",
    parameters: [.optional("COMMAND|TOPIC", .subject)],
    examples: [
      "help": "the commands", "help evict": "one of them", "help times": "how times are written",
    ],
  ).running { call, session in
    try session.output.answer(
      CommandTable.standard.help(
        about: call.bytes("COMMAND|TOPIC"), for: session.output.presentation))
  }

  static let quit = CommandSpec(
    "quit", aliases: ["exit", "q"], .shell, .reads, "Leaves the shell.",
    parameters: [.optional("CODE", .number(0...255))],
    examples: ["quit": "done", "quit 3": "with an exit code"],
  ).running { call, _ in Outcome.quit(Int32(call.number("CODE") ?? 0)) }
}
