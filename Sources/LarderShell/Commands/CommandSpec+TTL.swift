extension CommandSpec {
  static let ttl = CommandSpec(
    "ttl", aliases: ["expiry"], .looking, .reads, "Shows when entries expire.",
    selection: .optional,
    examples: [
      Example("ttl @departures \"Malm\u{F6} C:07\"", "one key"),
      Example("ttl 'Kiruna:'*", "all that match"),
    ])
}
