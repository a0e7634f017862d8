extension CommandSpec {
  static let clear = CommandSpec(
    "clear", .changing, .changes, "Removes every entry of a namespace, or of all.",
    namespaces: .required,
    options: [.flag("--yes", "do not ask")],
    examples: [
      Example("clear @thumbs", "asks first"),
      Example("clear @* --yes", "everything, in a script"),
    ])
}
