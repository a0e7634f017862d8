import Larder

extension CommandSpec {
  static let purge = CommandSpec(
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
