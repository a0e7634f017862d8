extension CommandSpec {
  static let quit = CommandSpec(
    "quit", aliases: ["exit", "q"], .shell, .reads, "Leaves the shell.",
    parameters: [.optional("CODE", .count)],
    examples: [
      Example("quit", "done"),
      Example("quit 3", "with an exit code"),
    ])
}
