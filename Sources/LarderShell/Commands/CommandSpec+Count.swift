extension CommandSpec {
  static let count = CommandSpec(
    "count", .looking, .reads, "Counts the entries of a selection and their bytes.",
    selection: .optional,
    examples: [
      Example("count @departures", "a namespace"),
      Example("count @* --idle 30d", "what nobody used for a month"),
    ])
}
