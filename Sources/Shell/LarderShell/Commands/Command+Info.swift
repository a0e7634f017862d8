import Larder
import ShellLanguage

extension Command {
  static let info = CommandSpec(
    "info", aliases: ["meta"], .looking, .reads,
    "Shows all fields of an entry, each on its own line.",
    namespaces: .one, parameters: [.many("KEY", .key)],
    plain: ["": "fact value", "KEY KEY...": "key fact value"],
    examples: [
      "info @departures \"Malm\u{F6} C:07\"": "one entry",
      "info hex:00ff": "a key that is not text",
    ]
  ).running { call, session in
    let namespace = try session.namespace(call.namespaces)
    let entries = try call.allBytes("KEY").map { key in
      // An expired entry stays in the file until a purge, so its facts are still shown.
      guard let entry = try namespace.entry(for: key) else {
        throw try session.noSuchKey(key, in: [namespace])
      }
      return entry
    }
    let clock = session.wallClock
    let addition = try session.additions.entryFacts(namespace)
    let bodies = entries.map { ResponseBody(of: $0) }
    let hasBodies = bodies.contains { $0 != nil }
    let added = addition.map { add in entries.map { add($0) } }
    let columns =
      factColumns + (added?.first ?? []).map { Column($0.name) }
      + (hasBodies ? [Column("body")] : [])
    let rows = entries.indices.map { index in
      facts(entries[index], clock) + (added?[index] ?? []).map(\.cell)
        + (hasBodies ? [bodies[index].map { .text($0.summary) } ?? .null] : [])
    }
    // In plain output a line names its fact. If there are several entries, the line names its key, too.
    let lines = zip(entries, rows).flatMap { entry, row in
      zip(columns, row).map { column, cell -> [Cell] in
        (entries.count > 1 ? [.bytes(entry.key.bytes)] : []) + [.text(column.name), cell]
      }
    }
    let plain = Reply.Body.rows(
      (entries.count > 1 ? [Column("key", holdsBytes: true)] : []) + ["fact", "value"], lines)
    guard session.output.isTable || entries.count == 1 else {
      try session.output.answer(Reply(.rows(columns, rows), in: [.plain: plain], isLong: true))
      return
    }
    for (index, (entry, row)) in zip(entries, rows).enumerated() {
      if index > 0 { try session.output.write([.newline]) }
      try session.output.answer(
        Reply(
          .object(columns, row), in: [.plain: plain],
          notes: entry.isNegative ? ["a negative entry: it records that there is no value"] : [],
          isLong: true))
    }
  }

  private static var factColumns: [Column] {
    EntryForm.record(namesNamespaces: true).columns.map { column in
      Column(all: column, except: column.name == "expires_in" ? .table : [])
    }
      + [
        "negative", "idle", "stale_until", "codec", "version", "tags", "pinned",
      ].map { Column($0) }
      + [Column("owners"), Column("etag", holdsBytes: true)]
      + [Column("last_modified", holdsBytes: true), Column("metadata")]
  }

  private static func facts(_ entry: Store.Entry, _ clock: WallClock) -> [Cell] {
    let further: [Cell] = [
      .bool(entry.isNegative), .optional(entry.timeToIdle?.milliseconds, Cell.span),
      entry.staleUntil.map { .expiry($0.unix) } ?? .null,
      .text(([entry.codec.name] + entry.transforms.map(\.name)).joined(separator: ", ")),
      .number(Int(clamping: entry.version)), .list(entry.tags.map { .text($0) }),
      .bool(entry.isPinned), .list(entry.owners.map(Cell.owner)),
      .optional(entry.entityTag, Cell.bytes), .optional(entry.lastModified, Cell.bytes),
      .optional(entry.metadata?.count, Cell.size),
    ]
    return EntryForm.facts(entry, clock) + further
  }
}
