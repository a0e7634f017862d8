extension CommandSpec {
  static let touch = CommandSpec(
    "touch", .changing, .changes, "Starts the lifetime of entries anew.",
    selection: .required,
    options: [.value("--ttl", .duration, "how long they live now; else what their rule says")],
    examples: [
      Example("touch @departures", "a whole namespace"),
      Example("touch 'Kiruna:'* --ttl 2h", "with another lifetime"),
    ])
}
