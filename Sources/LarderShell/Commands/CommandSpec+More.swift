extension CommandSpec {
  static let more = CommandSpec(
    "more", aliases: ["m"], .looking, .reads, "Goes on where the last list was cut.",
    parameters: [.optional("N", .count)],
    examples: [
      Example("more", "the next page"),
      Example("more 200", "the next 200"),
    ])
}
