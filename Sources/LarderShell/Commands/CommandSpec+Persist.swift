import Larder

extension CommandSpec {
  static let persist = CommandSpec(
    "persist", .changing, .changes, "Makes entries never expire.",
    selection: .required,
    examples: [
      Example("persist \"Kiruna:07\"", "one key"),
      Example("persist @articles --tag front", "all with a tag"),
    ],
    run: keepEntries)

  private static func keepEntries(_ call: Invocation, in session: Session) throws -> Outcome {
    let selection = call.selection!
    let namespaces = try session.namespaces(selection.namespaces)
    try session.checkKeys(of: selection, in: namespaces)
    let done = try session.change(
      selection, in: namespaces, verb: "persist", done: "never expire now"
    ) { batch, namespace, entry in
      try batch.touch(entry.key, in: namespace, expires: .never)
    }
    try session.acknowledge(
      done.reply(
        [("count", .number(done.total.entries))], .neverExpire(done.total.entries),
        for: session.presentation.mode))
    return .done
  }
}
