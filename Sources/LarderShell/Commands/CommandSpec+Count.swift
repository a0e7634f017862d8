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
    let namespaces = try session.namespaces(selection.namespaces)
    let all = try namespaces.map { try $0.count() }.reduce(0, +)
    let most = if case .count(let count) = selection.limit { count } else { Int.max }
    var list = try Listing(
      selection, in: namespaces, for: session, as: .expiry(namesNamespaces: false),
      includingExpired: true)
    var counted = Tally()
    var expired = 0
    try session.withProgress("counting", of: all) { progress in
      while counted.entries < most, case let entries = try list.next(1000), !entries.isEmpty {
        for entry in entries where counted.entries < most {
          if entry.state == .expired { expired += 1 }
          // What has expired is counted apart, and no part of the limit unless it is asked for.
          if entry.state != .expired || selection.wantsExpired { counted.add(entry) }
        }
        try progress.advance(by: entries.count)
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
