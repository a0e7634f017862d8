extension CommandSpec {
  static let keys = CommandSpec(
    "keys", aliases: ["list"], .looking, .reads,
    "Lists the entries of a selection: key, size and expiry.",
    selection: .optional,
    options: [.flag("--long", "every field, also where output is plain")],
    examples: [
      Example("keys @departures", "the first of a namespace"),
      Example("keys 'Malm\u{F6} C:'* --expiring 1h", "a pattern and a filter"),
      Example("keys @* --larger 1MB --sort size", "the large ones of all namespaces"),
      Example("keys @articles --limit all", "all of them, for a pipe"),
    ],
    run: listKeys)

  private static func listKeys(_ call: Invocation, in session: Session) throws -> Outcome {
    let selection = call.selection!
    let namespaces = try session.namespaces(selection.namespaces)
    try session.list(
      selection, in: namespaces,
      as: .record(namesNamespaces: namespaces.count > 1, isLong: call.has("--long")))
    return .done
  }
}
