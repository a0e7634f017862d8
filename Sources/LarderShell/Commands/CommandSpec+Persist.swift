extension CommandSpec {
  static let persist = CommandSpec(
    "persist", .changing, .changes, "Makes entries never expire.",
    selection: .required,
    examples: [
      Example("persist \"Kiruna:07\"", "one key"),
      Example("persist @articles --tag front", "all with a tag"),
    ])
}
