extension CommandSpec {
  static let exists = CommandSpec(
    "exists", .looking, .reads, "Says of each key whether it is there; exit code 1 if one is not.",
    namespaces: .one, parameters: [.many("KEY", .key)],
    examples: [
      Example("exists @articles 000017", "yes or no"),
      Example("exists @articles 000017 000018", "of several"),
    ])
}
