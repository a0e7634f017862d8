extension CommandSpec {
  static let use = CommandSpec(
    "use", .shell, .reads, "Sets the namespace that commands mean when they name none.",
    parameters: [.optional("NS", .namespace)],
    examples: [
      Example("use departures", "keys, get and the others now mean departures"),
      Example("use", "none again"),
    ])
}
