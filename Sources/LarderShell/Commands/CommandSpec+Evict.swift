extension CommandSpec {
  static let evict = CommandSpec(
    "evict", aliases: ["delete", "del", "rm"], .changing, .changes, "Removes entries.",
    selection: .required,
    options: [
      .flag("--dry-run", "say what would go, and leave it"),
      .flag("--yes", "do not ask"),
      .flag("--verbose", "name the keys"),
    ],
    examples: [
      Example("evict 'Malm\u{F6} C:'*", "what keys lists with the same words"),
      Example("evict @articles --older 7d --idle 2d --dry-run", "a preview"),
      Example("evict @articles --stdin -0", "the keys another command wrote"),
    ])
}
