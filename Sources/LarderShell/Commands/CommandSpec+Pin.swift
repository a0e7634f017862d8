import Larder

extension CommandSpec {
  static let pin = CommandSpec(
    "pin", .changing, .changes, "Keeps entries from being evicted; they still expire.",
    selection: .required,
    examples: [
      Example("pin @articles 000017", "one key"),
      Example("pin @articles --tag front", "all with a tag"),
    ]
  ) { call, session in try change(call, in: session, isPinned: true) }

  static let unpin = CommandSpec(
    "unpin", .changing, .changes, "Lets entries be evicted again.",
    selection: .required,
    examples: [
      Example("unpin @articles 000017", "one key"),
      Example("unpin @*", "everything"),
    ]
  ) { call, session in try change(call, in: session, isPinned: false) }

  private static func change(
    _ call: Invocation, in session: Session, isPinned: Bool
  ) throws -> Outcome {
    let selection = call.selection!
    let namespaces = try session.namespaces(selection.namespaces)
    try session.checkKeys(of: selection, in: namespaces)
    let (verb, past) = isPinned ? ("pin", "pinned") : ("unpin", "unpinned")
    let done = try session.change(selection, in: namespaces, verb: verb, done: "\(past)") {
      batch, namespace, entry in
      isPinned
        ? try batch.pin(entry.key, in: namespace) : try batch.unpin(entry.key, in: namespace)
    }
    try session.acknowledge(
      done.reply(
        [("count", .number(done.total.entries))],
        "\(past) \(Wording.count(done.total.entries))", for: session.presentation.mode))
    return .done
  }
}
