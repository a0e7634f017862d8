extension CommandSpec {
  static let stats = CommandSpec(
    "stats", .store, .reads, "Shows space, hits and misses, and who reads.",
    namespaces: .one,
    options: [.value("--every", .duration, "again and again")],
    examples: [
      Example("stats", "the store"),
      Example("stats @departures --every 2s", "a namespace as it changes"),
    ])
}
