import Larder
import ShellLanguage

extension Command {
  static let pin = Command(
    "pin", .changing, .changes, "Protects entries from eviction; they still expire.",
    selection: .required, options: BulkOptions.all,
    plain: BulkOptions.plain,
    examples: [
      Example("pin @articles 000017", "one key"),
      Example("pin @articles --tag front", "all with a tag"),
    ]
  ) { call, session in try change(call, in: session, isPinned: true) }

  static let unpin = Command(
    "unpin", .changing, .changes, "Lets entries be evicted again.",
    selection: .required, options: BulkOptions.all,
    plain: BulkOptions.plain,
    examples: [
      Example("unpin @articles 000017", "one key"),
      Example("unpin @* --yes", "everything"),
    ]
  ) { call, session in try change(call, in: session, isPinned: false) }

  static let invalidate = Command(
    "invalidate", .changing, .changes, "Removes every entry that has one of the tags.",
    namespaces: .oneOrAll, parameters: [.many("TAG", .text)], options: BulkOptions.all,
    plain: BulkOptions.plain,
    examples: [
      Example("invalidate front --yes", "in all namespaces"),
      Example("invalidate @articles sport weather --dry-run", "in one, with either tag"),
    ],
    run: invalidateTags)

  private static func change(
    _ call: Invocation, in session: Session, isPinned: Bool
  ) throws -> Outcome {
    let (verb, past) = isPinned ? ("pin", "pinned") : ("unpin", "unpinned")
    var change = try EntryChange(verb, past: past, call, in: session)
    var unchanged = 0
    func wouldChange(_ entry: Store.Entry) -> Bool {
      entry.isPinned != isPinned && entry.state != .expired
    }
    func count(_ isChange: Bool) -> Bool {
      if !isChange { unchanged += 1 }
      return isChange
    }
    func fields() -> [ChangeSummary.Field] { [("unchanged", .number(unchanged))] }
    guard
      try !change.isPreview(where: { count(wouldChange($0)) }, fields: fields)
    else { return .done }
    try change.confirm(where: wouldChange)
    try change.apply { batch, namespace, entry -> Bool? in
      guard wouldChange(entry) else { return false }
      return isPinned
        ? try batch.pin(entry.key, in: namespace) : try batch.unpin(entry.key, in: namespace)
    } record: {
      count($0)
    }
    let changed = change.summary.total.entries
    let rest: SafeText = unchanged == 0 ? "" : "; \(Wording.count(unchanged)) unchanged"
    try change.answer(
      change.summary.counts + fields(), "\(past) \(Wording.entries(changed))\(rest)",
      unmatched: changed + unchanged == 0)
    return .done
  }

  private static func invalidateTags(_ call: Invocation, in session: Session) throws -> Outcome {
    let tags = try call.allBytes("TAG").map(tag)
    let isWhole = session.isWhole(call.namespaces)
    let namespaces = try session.namespaces(isWhole ? .all : call.namespaces)
    let confirmation = Confirmation(call: call, session: session, isSweeping: isWhole)
    // A value that is written from here on was not part of the question.
    let horizon = try WriteHorizon(of: session.store)
    // Counting reads every entry; a confirmed invalidation need not.
    let isCounted = call.has("--dry-run") || call.has("--verbose") || !confirmation.isGiven
    let (found, keys) =
      try isCounted
      ? tagged(tags, in: namespaces, listsKeys: call.has("--verbose"), of: session)
      : (ChangeSummary("invalidate"), [])
    let verbose: [ChangeSummary.Field] =
      call.has("--verbose") ? [("keys", .json(.array(keys)))] : []
    if call.has("--dry-run") {
      try session.output.answer(
        found.preview(found.counts + verbose, for: session.output.presentation))
      return .done
    }
    try confirmation.require(found)
    var done = ChangeSummary("invalidate")
    let name = isWhole ? "@*" : namespaces[0].name
    done.begin(name)
    for tag in tags {
      if session.host.isInterrupted() {
        throw ShellError(
          .interrupted,
          "interrupted: invalidated \(done.total.words); \(tag) and the tags after it are unchanged",
          hint: nil)
      }
      let removal = try session.store.invalidate(
        tag: tag, in: isWhole ? nil : namespaces[0].name, asOf: horizon)
      done.add(Tally(removal), in: name)
    }
    let words: SafeText =
      done.total.entries == 0 ? "no entries matched" : "invalidated \(done.total.words)"
    try session.output.acknowledge(
      done.reply(done.counts + verbose, words, for: session.output.presentation))
    return .done
  }

  private static func tag(_ bytes: [UInt8]) throws(ShellError) -> String {
    guard let tag = String(validating: bytes, as: UTF8.self) else {
      throw ShellError(.usage, "\(bytes) is not a tag", hint: "tags are UTF-8")
    }
    return tag
  }

  /// The entries that have one of the tags, each once; an invalidation removes those that have expired, too.
  private static func tagged(
    _ tags: [String], in namespaces: [Store.Namespace], listsKeys: Bool, of session: Session
  ) throws -> (ChangeSummary, keys: [JSON]) {
    var found = ChangeSummary("invalidate")
    var keys: [JSON] = []
    for namespace in namespaces { found.begin(namespace.name) }
    for (index, tag) in tags.enumerated() {
      var selection = Selection(namespaces: .all)
      selection.filters = [.tag(Array(tag.utf8))]
      let earlier = tags.prefix(index)
      // A walk gives tags, which batches leave out.
      var walk = try SelectionWalk(
        selection, in: namespaces, for: session, includingExpired: true)
      try walk.advance(readingValues: false) { entry, _ in
        guard !entry.tags.contains(where: earlier.contains) else { return true }
        found.add(entry)
        if listsKeys { keys.append(.key(entry)) }
        return true
      }
    }
    return (found, keys)
  }
}
