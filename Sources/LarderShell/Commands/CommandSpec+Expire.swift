extension CommandSpec {
  static let expire = CommandSpec(
    "expire", .changing, .changes, "Sets when entries expire; the time is the last word.",
    selection: .required, trailing: [.one("TIME", .deadline)],
    examples: [
      Example("expire 'Kiruna:'* midnight", "at the next midnight"),
      Example("expire @articles 000017 1h30m", "from now"),
      Example("expire @articles --larger 1MB now", "the large ones at once"),
    ])
}
