import ShellLanguage

extension Command {
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
        .usage, "files nest deeper than \(deepest)",
        hint: "a file must not run itself")
    }
    session.sourceDepth += 1
    defer { session.sourceDepth -= 1 }
    // Reads the whole file before the first command runs, so that a syntax error at the end leaves the store unchanged.
    let lines = try CommandReader.commands(
      in: session.host.read(path).rest(.max), from: .file(path), variables: session.variables)
    for line in lines {
      try session.host.checkInterruption()
      let outcome = try session.run(line)
      guard outcome == .done else { return outcome }
    }
    return .done
  }

  /// The most nested runs of files. Without this limit, a file that runs itself would never end.
  private static let deepest = 16

  static let echo = CommandSpec(
    "echo", .shell, .reads, "Prints its words.",
    parameters: [.any("TEXT", .text)],
    examples: ["echo \"departures follow\"": "a line between outputs", "echo": "an empty line"],
  ).running { call, session in
    let words = Array(call.allBytes("TEXT").joined(separator: [.space]))
    // A terminal might act on control characters, so a terminal gets escapes instead. A pipe gets the unchanged words.
    let shown = Reply.Body.text(Quoting.printable(words) + "\n")
    let line = session.output.presentation.isTerminal ? shown : .bytes(words + [.newline])
    try session.output.answer(
      Reply(
        .object([Column("text", holdsBytes: true)], [.bytes(words)]),
        in: [.table: shown, .markdown: shown, .plain: line, .raw: line]))
  }

  static let help = CommandSpec(
    "help", aliases: ["?"], .shell, .reads, "Explains a command or a topic.",
    parameters: [.optional("COMMAND|TOPIC", .subject)],
    examples: [
      "help": "the commands",
      "help evict": "one of them",
      "help times": "how times are written",
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
