extension CommandSpec {
  static let echo = CommandSpec(
    "echo", .shell, .reads, "Prints its words.",
    parameters: [.any("TEXT", .text)],
    examples: [
      Example("echo \"departures follow\"", "a line between outputs"),
      Example("echo", "an empty line"),
    ])
}
