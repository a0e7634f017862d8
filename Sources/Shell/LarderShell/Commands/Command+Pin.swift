import Larder
import ShellLanguage

extension Command {
  static let pin = pinning(
    "pin", past: "pinned", true, "Protects entries from eviction; they still expire.",
    "pin @articles --tag front", "all with a tag")
  static let unpin = pinning(
    "unpin", past: "unpinned", false, "Lets entries be evicted again.",
    "unpin @* --yes", "everything")

  private static func pinning(
    _ verb: String, past: String, _ isPinned: Bool, _ summary: String, _ example: String,
    _ about: String
  ) -> Command {
    CommandSpec(
      verb, .changing, .changes, summary, selection: .required, options: BulkOptions.all,
      plain: BulkOptions.plain, examples: ["\(verb) @articles 000017": "one key", example: about]
    ).running { call, session in
      var change = try EntryChange(verb, past: past, call, in: session)
      func wouldChange(_ entry: Store.Entry) -> Bool {
        entry.isPinned != isPinned && entry.state != .expired
      }
      func fields(_ summary: ChangeSummary) -> [ChangeSummary.Field] {
        [("unchanged", .number(summary.unchanged))]
      }
      guard try change.prepare(fields: fields, where: wouldChange) else { return }
      try change.apply { batch, namespace, entry -> Bool? in
        guard wouldChange(entry) else { return false }
        return isPinned
          ? try batch.pin(entry.key, in: namespace) : try batch.unpin(entry.key, in: namespace)
      } record: {
        $0
      }
      let done = change.summary
      let rest: SafeText = done.unchanged == 0 ? "" : "; \(Wording.count(done.unchanged)) unchanged"
      try change.answer("\(past) \(Wording.entries(done.total.entries))\(rest)", fields(done))
    }
  }

  static let invalidate = CommandSpec(
    "invalidate", .changing, .changes, "Removes every entry that has one of the tags.",
    namespaces: .oneOrAll, parameters: [.many("TAG", .text)],
    options: BulkOptions.all + [BulkOptions.save], plain: BulkOptions.plain,
    examples: [
      "invalidate front --yes": "in all namespaces",
      "invalidate @articles sport weather --dry-run": "in one, with either tag",
    ]
  ).running { call, session in
    let tags = try call.allBytes("TAG").map(tag)
    let isWhole = session.isWhole(call.namespaces)
    let namespaces = try session.namespaces(isWhole ? .all : call.namespaces)
    let confirmation = Confirmation(call: call, session: session, isSweeping: isWhole)
    // The question counts only the present values, so values that are written during the command are not removed.
    let horizon = try WriteHorizon(of: session.store)
    var scope = Scope(all: namespaces, in: session)
    scope.selection.filters = [.any(tags.map { .hasTag(Array($0.utf8)) })]
    if tags.count == 1 { scope.selection.filters = [.hasTag(Array(tags[0].utf8))] }
    // The count is only for the question, `--dry-run` and `--verbose`, so a confirmed invalidation skips the count.
    var found = ChangeSummary(
      "invalidate", in: namespaces.map(\.name), listsKeys: call.has("--verbose"))
    if call.has("--dry-run") || call.has("--verbose") || !confirmation.isGiven {
      // An invalidation also removes expired entries, so the count includes expired entries.
      try scope.visitEntries(includingExpired: true) { found.add($0) }
    }
    if call.has("--dry-run") { return try session.output.answer(found.preview()) }
    try confirmation.require(found)
    try scope.save(call)
    let name = isWhole ? "@*" : namespaces[0].name
    var done = ChangeSummary("invalidate", in: [name])
    var rest = tags[...]
    try ShellError.reporting {
      (done.total.entries, "invalidated \(done.total.words)")
    } rest: {
      "\(rest[rest.startIndex]) and the tags after it are unchanged"
    } _: {
      while let tag = rest.first {
        try session.host.checkInterruption()
        // If the invalidation fails, its first commits stay.
        session.undo.hasChanged = true
        let removal = try session.store.invalidate(
          tag: tag, in: isWhole ? nil : namespaces[0].name, asOf: horizon)
        done.add(Tally(removal), in: name)
        session.undo.hasChanged = done.total.entries > 0
        rest.removeFirst()
      }
    }
    let words: SafeText =
      done.total.entries == 0 ? "no entries matched" : "invalidated \(done.total.words)"
    try session.output.acknowledge(done.reply(words, found.keyFields))
  }

  private static func tag(_ bytes: [UInt8]) throws(ShellError) -> String {
    guard let tag = String(validating: bytes, as: UTF8.self) else {
      throw ShellError(.usage, "\(bytes) is not a tag", hint: "tags are UTF-8")
    }
    return tag
  }
}
