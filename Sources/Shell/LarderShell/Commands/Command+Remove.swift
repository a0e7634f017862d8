import Larder
import ShellLanguage

extension Command {
  static let clear = CommandSpec(
    "clear", .changing, .changes, "Removes every entry of a namespace, or of all.",
    namespaces: .required, options: BulkOptions.all + [BulkOptions.save], plain: BulkOptions.plain,
    examples: ["clear @thumbs --dry-run": "a preview", "clear @* --yes": "everything, in a script"]
  ).running { call, session in
    let namespaces = try session.namespacesToChange(call.namespaces)
    let confirmation = Confirmation(call: call, session: session, isSweeping: true)
    // The question, the export and `undo` know only the present values, so values written during the command are not removed.
    let horizon =
      confirmation.isGiven && !call.has("--save") && !session.undo.isRecording
      ? nil : try WriteHorizon(of: session.store)
    let facts = try namespaces.compactMap { try $0.info() }
    let all = facts.tally
    let whole = call.namespaces == .all ? "every namespace" : namespaces[0].name
    let scope = Scope(all: namespaces, in: session)
    if call.isPreview {
      let listsKeys = call.has("--verbose")
      var found = ChangeSummary("clear", in: facts.map(\.name), listsKeys: listsKeys)
      if listsKeys {
        try scope.visitEntries(includingExpired: true) { found.add($0) }
      } else {
        for facts in facts { found.add(Tally(facts), in: facts.name) }
      }
      return try session.output.answer(found.preview())
    }
    let isTooLarge = session.undo.isRecording && UndoLog.isTooLarge(all)
    try confirmation.require("remove \(all.inBrackets)") {
      let note = isTooLarge ? "This is too large to be undone. " : ""
      return "\(note)Remove all \(all.inBrackets) of \(whole)?"
    }
    try scope.save(call)
    let kept = try session.undo.isRecording && !isTooLarge ? itemsToUndo(scope) : []
    // After an interruption, `undo` restores the entries that were removed.
    defer { if session.undo.hasChanged { session.undo.add(kept) } }
    let done = try cleared(namespaces, isWhole: call.namespaces == .all, asOf: horizon, in: session)
    try session.output.acknowledge(done.reply("cleared \(whole): \(done.total.words)"))
  }

  private static func itemsToUndo(_ scope: Scope) throws -> [UndoLog.Item] {
    // A store can hold compressed values, so the values may need much more memory than the store. The log drops too large items.
    var (items, room) = ([UndoLog.Item](), UndoLog.most)
    do {
      try scope.walk(readingValues: true) { entry, value in
        UndoLog.Item(
          namespace: scope.session.store.namespace(entry.namespace), key: entry.key,
          before: (entry, value.bytes))
      } _: {
        items += $0
        for item in $0 { room -= item.before?.value?.count ?? 0 }
      } while: {
        room >= 0
      }
    } catch let error as LarderError where error.code == .unreadable {
      try scope.session.host.notify("note: this cannot be undone: \(error.message)")
      return []
    }
    return items
  }

  /// Removes all values of namespaces in one transaction. But if a namespace has values that were written after the moment
  /// `horizon`, removes only the older values, in a transaction for each batch.
  private static func cleared(
    _ namespaces: [Store.Namespace], isWhole: Bool, asOf horizon: WriteHorizon?, in session: Session
  ) throws -> ChangeSummary {
    let removals = try session.write { batch in
      if isWhole { batch.refuseEarlierLoads(in: nil) }
      return try namespaces.map { namespace -> RemovalResult? in
        guard let horizon else { return try batch.clear(namespace) }
        return try batch.clear(namespace, asOf: horizon)
      }
    }
    session.undo.hasChanged = removals.contains { $0?.entries != 0 }
    var done = ChangeSummary("clear")
    for (namespace, removal) in zip(namespaces, removals) {
      done.add(removal.map { Tally($0) } ?? Tally(), in: namespace.name)
    }
    let partly = zip(namespaces, removals).filter { $1 == nil }.map(\.0)
    guard let horizon, !partly.isEmpty else { return done }
    try ShellError.reporting {
      (done.total.entries, "cleared \(done.total.words)")
    } _: {
      try Scope(all: partly, in: session).walk { entry, _ in
        entry.withoutExtras
      } _: { entries in
        let removed = try session.write { batch in
          try entries.filter { entry in
            let namespace = session.store.namespace(entry.namespace)
            guard let present = try batch.entry(for: entry.key, in: namespace) else { return false }
            return try horizon.covers(present) && batch.remove(entry.key, from: namespace)
          }
        }
        for entry in removed { done.add(entry) }
        try session.host.checkInterruption()
      }
    }
    return done
  }

  static let evict = CommandSpec(
    "evict", aliases: ["delete", "del", "rm"], .changing, .changes, "Removes entries.",
    selection: .required, options: BulkOptions.all + [BulkOptions.save], plain: BulkOptions.plain,
    examples: [
      "evict 'Malm\u{F6} C:'*": "what keys lists with the same words",
      "evict @articles --older 7d --larger 10kB --dry-run": "a preview",
      "evict @articles --stdin -0 --yes": "keys that another command wrote",
    ]
  ).running { call, session in
    var change = try EntryChange("evict", past: "evicted", skipsMissing: true, call, in: session)
    guard try change.prepare() else { return }
    let scope = change.scope
    let areListed = scope.selection.listsKeys || scope.input != nil
    try change.save()
    // A load (a call to the origin) that runs now must not store its value after the removal. A pattern or filter may also mean
    // keys that are absent now, so loads of all keys are refused, even if no entry matches.
    if !areListed {
      let all: [Store.Namespace?] = scope.selection.namespaces == .all ? [nil] : scope.namespaces
      try session.write { batch in for namespace in all { batch.refuseEarlierLoads(in: namespace) }
      }
    }
    try change.apply(losesValues: true) { batch, namespace, entry in
      try batch.remove(entry.key, from: namespace)
      return true
    }
    let left = try session.afterCommit { try change.scope.total() }
      .map { ", \(Wording.count($0)) left" }
    try change.answer("evicted \(change.summary.total.words)\(left ?? "")")
  }

  static let purge = CommandSpec(
    "purge", .changing, .changes, "Removes entries that have expired and are still in the file.",
    namespaces: .oneOrAll, options: [BulkOptions.dryRun], plain: BulkOptions.plain,
    examples: ["purge @*": "in all namespaces", "purge @departures --dry-run": "a preview"]
  ).running { call, session in
    let isWhole = session.isWhole(call.namespaces)
    let namespaces = try session.namespaces(isWhole ? .all : call.namespaces)
    let name = isWhole ? "@*" : namespaces[0].name
    if call.has("--dry-run") {
      let expired = try Scope(all: namespaces, in: session).expired()
      return try session.output.answer(ChangeSummary("purge", expired, in: name).preview())
    }
    var isStopped = false
    let removal = try ProgressLine.showSteps("purging", unit: Wording.entries, in: session) {
      shouldContinue in
      try session.store.purge(only: isWhole ? nil : namespaces[0]) { removal in
        isStopped = !shouldContinue(removal.entries, nil)
        return !isStopped
      }
    }
    session.undo.hasChanged = removal.entries > 0
    let done = ChangeSummary("purge", Tally(removal), in: name)
    let entries = Wording.count(done.total.entries, "expired entry", "expired entries")
    let words: SafeText = "purged \(entries), \(Wording.size(done.total.bytes))"
    guard !isStopped else { throw ShellError.interrupted("\(words); the rest is unchanged") }
    if removal.skippedAfterClockJump {
      try session.host.notify(
        "note: nothing was purged: the clock jumped ahead by more than a day; if the time is right, purge again in a minute"
      )
    }
    try session.output.acknowledge(
      done.reply(words, [("skipped_after_clock_jump", .bool(removal.skippedAfterClockJump))]))
  }
}
