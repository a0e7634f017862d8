import Larder
import ShellLanguage

extension Command {
  static let undo = CommandSpec(
    "undo", .changing, .changes,
    "Takes the last change back, as far as nobody has changed the entries since.",
    plain: BulkOptions.plain,
    examples: [
      "undo": "after evict, clear, expire, touch, persist, set, edit, import, pin or unpin",
      "UNDO": "commands may be written in capitals",
    ]
  ).running { _, session -> Outcome in
    let log = session.undo
    guard !log.isTooLarge else {
      let command = CommandTable.standard.command(named: log.command)
      throw ShellError(
        .overLimit,
        "\(log.command) replaced more than \(Wording.size(UndoLog.most)), which the shell does not hold",
        hint: command?.option(named: "--save") == nil
          ? "`export FILE` before the command"
          : "`--save FILE` on the command writes an export first")
    }
    guard !log.items.isEmpty else {
      let reason: SafeText = log.command.isEmpty ? "" : ": undo cannot take back \(log.command)"
      throw ShellError(
        .usage, "there is no change to take back\(reason)",
        hint:
          "undo works at the prompt, for the last command that changed entries; scripts pass `--save FILE`"
      )
    }
    var done = ChangeSummary("undo")
    // The log keeps only the items that wait, so that the next `undo` goes on after an interruption.
    let (all, lostBefore) = (log.items.count, log.lost)
    try ShellError.reporting {
      let entries = done.total.entries
      return (entries, "took back \(log.command) of \(Wording.entries(entries))")
    } rest: {
      "`undo` takes back the rest"
    } _: {
      for part in Array(log.items.reversed()).batches(\.size) {
        try session.host.checkInterruption()
        let restored = try session.write { batch in try part.map { try restore($0, &batch) } }
        log.items.removeLast(part.count)
        log.lost += restored.count { $0 == nil }
        for (item, isRestored) in zip(part, restored) where isRestored == true {
          let size = (item.before?.entry ?? item.after)?.valueSize ?? 0
          done.add(Tally(entries: 1, bytes: size), in: item.namespace.name)
        }
      }
    }
    let (command, lost) = (log.command, log.lost)
    let changed = all - done.total.entries - (lost - lostBefore)
    log.forget()
    var rest: SafeText = changed == 0 ? "" : "; \(Wording.count(changed)) changed meanwhile"
    if lost > 0 { rest = rest + "; \(Wording.count(lost)) could not be read" }
    let words: SafeText = "took back \(command) of \(Wording.entries(done.total.entries))\(rest)"
    let fields: [ChangeSummary.Field] = [
      ("command", .text(command)), ("changed_meanwhile", .number(changed)), ("lost", .number(lost)),
    ]
    try session.output.acknowledge(done.reply(words, fields))
    return changed + lost == 0 ? .done : .exitCode(ShellError.Code.changedMeanwhile.exitCode)
  }

  /// Restores an entry. Returns false if the entry has changed or expired since, or was a copy of a shared tier. Returns nil if
  /// its value is unknown (encrypted).
  private static func restore(_ item: UndoLog.Item, _ batch: inout WriteBatch) throws -> Bool? {
    let (namespace, key) = (item.namespace, item.key)
    let present = try batch.entry(for: key, in: namespace)
    guard item.isStill(present) else { return false }
    guard let (before, value) = item.before else {
      try batch.remove(key, from: namespace)
      return true
    }
    let isKept = present?.version == before.version && present?.state != .expired
    guard let present, isKept,
      (present.timeToIdle, present.staleUntil) == (before.timeToIdle, before.staleUntil)
    else {
      var value = value
      do throws(LarderError) {
        if isKept { value = try batch.value(for: key, in: namespace) ?? value }
      } catch {
        guard error.code == .unreadable else { throw error }
        return nil
      }
      guard let value else { return isKept ? nil : false }
      if try !isKept && namespace.isOfTier(before.metadata) { return false }
      var attributes = EntryAttributes(keeping: before, expires: nil)
      (attributes.written, attributes.isPinned) = (before.written, before.isPinned)
      (attributes.isNegative, attributes.awaitsOwners) = (before.isNegative, true)
      try batch.set(value, for: key, in: namespace, attributes)
      return true
    }
    if present.expires != before.expires {
      try batch.touch(key, in: namespace, expires: before.expires.map { .at($0) } ?? .never)
    }
    if present.isPinned != before.isPinned {
      _ = try before.isPinned ? batch.pin(key, in: namespace) : batch.unpin(key, in: namespace)
    }
    return true
  }
}
