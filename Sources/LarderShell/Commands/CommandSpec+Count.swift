import Larder

extension CommandSpec {
  static let count = CommandSpec(
    "count", .looking, .reads, "Counts the entries of a selection and their bytes.",
    selection: .optional,
    examples: [
      Example("count @departures", "a namespace"),
      Example("count @* --older 30d", "what was written a month ago or more"),
    ],
    run: countEntries)

  private static func countEntries(_ call: Invocation, in session: Session) throws -> Outcome {
    let selection = call.selection!
    var walk = try SelectionWalk(
      selection, in: session.namespaces(selection.namespaces), for: session,
      includingExpired: true)
    var counted = Tally()
    var expired = 0
    while case let entries = try walk.next(1000), !entries.isEmpty {
      for entry in entries {
        if entry.state == .expired { expired += 1 }
        if entry.state != .expired || selection.wantsExpired { counted.add(entry) }
      }
    }
    let words: SafeText = "\(Wording.entries(counted.entries)), \(Wording.size(counted.bytes))"
    try session.answer(
      Reply(
        .object(
          [Column("entries"), Column("bytes"), Column("expired")],
          [.number(counted.entries), .size(counted.bytes), .number(expired)]),
        sentences: [expired == 0 ? words : "\(words), \(Wording.count(expired)) expired"]))
    return .done
  }
}
