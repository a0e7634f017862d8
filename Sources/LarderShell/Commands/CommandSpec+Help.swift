extension CommandSpec {
  static let help = CommandSpec(
    "help", aliases: ["?"], .shell, .reads, "Explains a command or a topic.",
    parameters: [.optional("COMMAND|TOPIC", .subject)],
    examples: [
      Example("help", "the commands"),
      Example("help evict", "one of them"),
      Example("help times", "how times are written"),
    ])
}
