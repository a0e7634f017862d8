extension CommandSpec {
  static let verify = CommandSpec(
    "verify", aliases: ["check"], .store, .reads,
    "Checks the store; exit code 1 if it finds a fault.",
    options: [.flag("--deep", "read every value")],
    examples: [
      Example("verify", "the structure"),
      Example("verify --deep", "every byte"),
    ])
}
