import Larder
import ShellLanguage

extension Command {
  static let evict = Command(
    "evict", aliases: ["delete", "del", "rm"], .changing, .changes, "Removes entries.",
    selection: .required,
    options: [
      .flag("--dry-run", "say what would go, and leave it"),
      .flag("--yes", "do not ask"),
      .flag("--verbose", "name the keys"),
    ],
    examples: [
      Example("evict 'Malm\u{F6} C:'*", "what keys lists with the same words"),
      Example("evict @articles --older 7d --larger 10kB --dry-run", "a preview"),
      Example("evict @articles --stdin -0", "the keys another command wrote"),
    ],
    run: evictEntries)

  private static func evictEntries(_ call: Invocation, in session: Session) throws -> Outcome {
    let selection = call.selection!
    let namespaces = try session.namespaces(selection.namespaces)
    let mode = session.presentation.mode
    if call.has("--dry-run") {
      let (found, _) = try session.preview(selection, in: namespaces, verb: "would evict")
      let total = found.total
      try session.answer(
        found.reply(
          found.counts,
          "would evict \(Wording.entries(total.entries)) (\(Wording.size(total.bytes)))", for: mode)
      )
      return .done
    }
    guard try call.has("--yes") || confirms(selection, in: namespaces, of: session) else {
      return .done
    }
    var keys: [JSON] = []
    let done = try session.change(selection, in: namespaces, verb: "evict", done: "evicted") {
      batch, namespace, entry in
      if call.has("--verbose") { keys.append(.key(entry)) }
      try batch.remove(entry.key, from: namespace)
      return true
    }
    var fields = done.counts
    if call.has("--verbose") { fields.append(("keys", .json(.array(keys)))) }
    let left = try namespaces.map { try $0.count() }.reduce(0, +)
    try session.acknowledge(
      done.reply(
        fields, "evicted \(done.total.words), \(Wording.count(left)) left", for: mode))
    return .done
  }

  /// Keys that were written out are known; what a pattern or a filter found is shown first.
  private static func confirms(
    _ selection: Selection, in namespaces: [Store.Namespace], of session: Session
  ) throws -> Bool {
    guard session.host.ask != nil, !session.settings.answersYes, !selection.isOfKeys,
      selection.input == nil
    else { return true }
    let (found, keys) = try session.preview(selection, in: namespaces, verb: "evict")
    guard found.total.entries > 0 else { return true }
    let total = found.total
    let some = keys.map { SafeText(quoting: $0.bytes) }.joined()
    return try session.confirms(
      "Evict \(Wording.entries(total.entries)) (\(Wording.size(total.bytes))), such as \(some)?",
      isVital: false)
  }
}

extension Command {
  static let purge = Command(
    "purge", .changing, .changes, "Removes what has expired and is still in the file.",
    namespaces: .oneOrAll,
    options: [.flag("--dry-run", "say what would go, and leave it")],
    examples: [
      Example("purge @*", "in all namespaces"),
      Example("purge @departures --dry-run", "a preview"),
    ],
    run: purgeExpired)

  private static func purgeExpired(_ call: Invocation, in session: Session) throws -> Outcome {
    // What has expired is of no use to anybody, so that without a name it is the whole store.
    let isWhole = call.namespaces == .all || call.namespaces == .unnamed && session.current == nil
    let namespaces = try session.namespaces(isWhole ? .all : call.namespaces)
    let name = isWhole ? "@*" : namespaces[0].name
    let mode = session.presentation.mode
    if call.has("--dry-run") {
      var expired = Selection(namespaces: call.namespaces)
      expired.filters = [.expired]
      let (preview, _) = try session.preview(expired, in: namespaces, verb: "would purge")
      var found = Acknowledgement("would purge")
      found.add(preview.total, in: name)
      try session.answer(found.reply(found.counts, words("would purge", found.total), for: mode))
      return .done
    }
    var isStopped = false
    let removal = try session.withSteps("purging", unit: Wording.entries) { shouldContinue in
      try session.store.purge(only: isWhole ? nil : namespaces[0]) { removal in
        isStopped = !shouldContinue(removal.entries, nil)
        return !isStopped
      }
    }
    var done = Acknowledgement("purge")
    done.add(Tally(removal), in: name)
    guard !isStopped else {
      throw ShellError(
        .interrupted, "interrupted: \(words("purged", done.total))", hint: "the rest is as it was")
    }
    if removal.skippedAfterClockJump {
      try session.host.notify(
        "note: nothing was purged, as the clock seems to have jumped ahead by more than a day; if the time is right, purge again in a minute"
      )
    }
    let fields = done.counts + [("postponed", .bool(removal.skippedAfterClockJump))]
    try session.acknowledge(done.reply(fields, words("purged", done.total), for: mode))
    return .done
  }

  private static func words(_ verb: String, _ tally: Tally) -> SafeText {
    let entries = Wording.count(tally.entries, "expired entry", "expired entries")
    return "\(verb) \(entries), \(Wording.size(tally.bytes))"
  }
}
