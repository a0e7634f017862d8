extension CommandSpec {
  static let output = CommandSpec(
    "output", .shell, .reads, "Sets the form of output, or shows which one is set.",
    parameters: [.optional("MODE", .choice(OutputMode.allCases.map(\.rawValue)))],
    examples: [
      Example("output", "the forms there are"),
      Example("output jsonl", "one object a line from now on"),
    ])
}
