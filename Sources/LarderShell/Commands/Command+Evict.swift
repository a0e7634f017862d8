import Larder
import ShellLanguage

extension Command {
  static let evict = Command(
    "evict", aliases: ["delete", "del", "rm"], .changing, .changes, "Removes entries.",
    selection: .required, options: BulkOptions.all,
    plain: BulkOptions.plain,
    examples: [
      Example("evict 'Malm\u{F6} C:'*", "what keys lists with the same words"),
      Example("evict @articles --older 7d --larger 10kB --dry-run", "a preview"),
      Example("evict @articles --stdin -0 --yes", "keys that another command wrote"),
    ],
    run: evictEntries)

  static let purge = Command(
    "purge", .changing, .changes, "Removes entries that have expired and are still in the file.",
    namespaces: .oneOrAll,
    options: [BulkOptions.dryRun],
    plain: BulkOptions.plain,
    examples: [
      Example("purge @*", "in all namespaces"),
      Example("purge @departures --dry-run", "a preview"),
    ],
    run: purgeExpired)

  private static func evictEntries(_ call: Invocation, in session: Session) throws -> Outcome {
    var change = try EntryChange("evict", past: "evicted", call, in: session)
    guard try !change.isPreview() else { return .done }
    try change.confirm()
    try change.apply { batch, namespace, entry in
      try batch.remove(entry.key, from: namespace)
      return true
    }
    let left = try change.namespaces.map { try $0.count() }.reduce(0, +)
    try change.answer(
      change.summary.counts,
      "evicted \(change.summary.total.words), \(Wording.count(left)) left")
    return .done
  }

  private static func purgeExpired(_ call: Invocation, in session: Session) throws -> Outcome {
    let isWhole = call.namespaces == .all || call.namespaces == .unnamed && session.current == nil
    let namespaces = try session.namespaces(isWhole ? .all : call.namespaces)
    let name = isWhole ? "@*" : namespaces[0].name
    if call.has("--dry-run") {
      var expired = Selection(namespaces: call.namespaces)
      expired.filters = [.expired]
      var found = ChangeSummary("purge")
      var total = Tally()
      try session.forEachEntries(of: expired, in: namespaces) { entries in
        for entry in entries { total.add(entry) }
      }
      found.add(total, in: name)
      try session.answer(found.preview(found.counts, for: session.presentation))
      return .done
    }
    var isStopped = false
    let removal = try session.withSteps("purging", unit: Wording.entries) { shouldContinue in
      try session.store.purge(only: isWhole ? nil : namespaces[0]) { removal in
        isStopped = !shouldContinue(removal.entries, nil)
        return !isStopped
      }
    }
    var done = ChangeSummary("purge")
    done.add(Tally(removal), in: name)
    let entries = Wording.count(done.total.entries, "expired entry", "expired entries")
    let words: SafeText = "purged \(entries), \(Wording.size(done.total.bytes))"
    guard !isStopped else {
      throw ShellError(
        .interrupted, "interrupted: \(words); the rest is unchanged", hint: nil)
    }
    if removal.skippedAfterClockJump {
      try session.host.notify(
        "note: nothing was purged: the clock jumped ahead by more than a day; if the time is right, purge again in a minute"
      )
    }
    let fields = done.counts + [("postponed", .bool(removal.skippedAfterClockJump))]
    try session.acknowledge(done.reply(fields, words, for: session.presentation))
    return .done
  }
}
