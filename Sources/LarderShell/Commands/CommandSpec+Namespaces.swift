extension CommandSpec {
  static let namespaces = CommandSpec(
    "namespaces", aliases: ["ns", "ls"], .looking, .reads,
    "Lists the namespaces with their entries, size and limit.",
    options: [.value("--sort", .choice(["size", "entries", "name"]), "the order")],
    examples: [
      Example("namespaces", "all of them, by name"),
      Example("ns --sort size", "the largest first"),
    ])
}
