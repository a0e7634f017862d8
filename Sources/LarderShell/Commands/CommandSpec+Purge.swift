extension CommandSpec {
  static let purge = CommandSpec(
    "purge", .changing, .changes, "Removes what has expired and is still in the file.",
    namespaces: .oneOrAll,
    options: [.flag("--dry-run", "say what would go, and leave it")],
    examples: [
      Example("purge @*", "in all namespaces"),
      Example("purge @departures --dry-run", "a preview"),
    ])
}
