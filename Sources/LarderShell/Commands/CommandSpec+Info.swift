extension CommandSpec {
  static let info = CommandSpec(
    "info", aliases: ["meta"], .looking, .reads, "Shows all facts about a key, one a line.",
    namespaces: .one, parameters: [.many("KEY", .key)],
    examples: [
      Example("info @departures \"Malm\u{F6} C:07\"", "one entry"),
      Example("info hex:00ff", "a key that is not text"),
    ])
}
