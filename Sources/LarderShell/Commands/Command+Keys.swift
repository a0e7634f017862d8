import Larder
import ShellLanguage

extension Command {
  static let keys = Command(
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

extension Command {
  static let more = Command(
    "more", aliases: ["m"], .looking, .reads, "Goes on where the last list was cut.",
    parameters: [.optional("N", .count)],
    examples: [
      Example("more", "the next page"),
      Example("more 200", "the next 200"),
    ],
    run: goOn)

  private static func goOn(_ call: Invocation, in session: Session) throws -> Outcome {
    guard let list = session.listing else {
      throw ShellError(.usage, "there is no list to go on with", hint: "keys begins one")
    }
    try session.show(list, most: call.number("N") ?? session.rows(nil))
    return .done
  }
}

extension Command {
  static let ttl = Command(
    "ttl", aliases: ["expiry"], .looking, .reads, "Shows when entries expire.",
    selection: .optional,
    examples: [
      Example("ttl @departures \"Malm\u{F6} C:07\"", "one key"),
      Example("ttl 'Kiruna:'*", "all that match"),
    ],
    run: showExpiry)

  private static func showExpiry(_ call: Invocation, in session: Session) throws -> Outcome {
    let selection = call.selection!
    let namespaces = try session.namespaces(selection.namespaces)
    try session.checkKeys(of: selection, in: namespaces)
    try session.list(
      selection, in: namespaces, as: .expiry(namesNamespaces: namespaces.count > 1),
      includingExpired: selection.isOfKeys)
    return .done
  }
}

extension Command {
  static let exists = Command(
    "exists", .looking, .reads, "Says of each key whether it is there; exit code 1 if one is not.",
    namespaces: .one, parameters: [.many("KEY", .key)],
    examples: [
      Example("exists @articles 000017", "yes or no"),
      Example("exists @articles 000017 000018", "of several"),
    ],
    run: sayWhetherThere)

  private static func sayWhetherThere(_ call: Invocation, in session: Session) throws -> Outcome {
    let namespace = try session.namespace(call.namespaces)
    let answers = try call.allBytes("KEY").map { key in
      (key: key, isThere: try namespace.entry(for: key).map(\.hasValue) ?? false)
    }
    try session.answer(
      Reply(
        .rows(
          [
            Column("namespace", in: .data),
            Column("key", title: "", in: [.table, .data], holdsBytes: true),
            Column("exists", title: ""),
          ],
          answers.map { [.text(namespace.name), .bytes($0.key), .bool($0.isThere)] })))
    return answers.allSatisfy(\.isThere) ? .done : .told(ShellError.Code.noSuchKey.exitCode)
  }
}

extension Command {
  static let count = Command(
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
