import Larder
import ShellLanguage

/// The format of entries in a file: JSON lines with all facts, or CSV with some facts.
enum ExportFormat: String, CaseIterable {
  case jsonl
  /// The format for other programs. CSV does not contain the rules of namespaces.
  case csv

  static let version = 1

  /// The word for an entry that never expires. If the field were absent, an import would apply the rules of the namespace.
  static let never = "never"

  /// The lines before the entries in JSON lines: the format, and the rules of each namespace.
  static func head(_ namespaces: [NamespaceInfo]) throws -> [UInt8] {
    var lines = [JSON.object([.init("larder_export", .number(version))])]
    for facts in namespaces {
      var fields = [
        JSON.Field("namespace", .string(facts.name)),
        JSON.Field("rules", try LineFields.json(of: facts.declared)),
      ]
      if !facts.overrides.isEmpty {
        fields.append(JSON.Field("overrides", try LineFields.json(of: facts.overrides)))
      }
      lines.append(.object(fields))
    }
    return lines.flatMap { Array(($0.text + "\n").utf8) }
  }

  static let columns = [
    Column("namespace"), Column("key", holdsBytes: true), Column("value", holdsBytes: true),
    Column("codec"), Column("written"), Column("expires"), Column("stale_until"), Column("idle"),
    Column("pinned"), Column("owners"), Column("tags"), Column("etag", holdsBytes: true),
    Column("last_modified", holdsBytes: true), Column("metadata", holdsBytes: true),
  ]

  /// The cells of an entry. An absent fact is blank, so that JSON has no field for the fact.
  static func cells(_ entry: Store.Entry, _ value: [UInt8]) -> [Cell] {
    let cells: [Cell] = [
      .text(entry.namespace), .bytes(entry.key.bytes), .bytes(value), .text(entry.codec.name),
      moment(entry.written), entry.expires == nil ? .text(never) : moment(entry.expires),
      moment(entry.staleUntil), .optional(entry.timeToIdle?.milliseconds, Cell.span),
      entry.isPinned ? .bool(true) : .null, list(entry.owners.map(Cell.owner)),
      list(entry.tags.map { .text($0) }), .optional(entry.entityTag, Cell.bytes),
      .optional(entry.lastModified, Cell.bytes), .optional(entry.metadata, Cell.bytes),
    ]
    return cells.map { $0 == .null ? .blank : $0 }
  }

  private static func list(_ cells: [Cell]) -> Cell { cells.isEmpty ? .null : .list(cells) }

  /// A time as RFC 3339 text. If RFC 3339 cannot write the time, milliseconds after 1970.
  private static func moment(_ time: Timestamp?) -> Cell {
    guard let time = time?.unix else { return .null }
    return (0...UnixTime.last.milliseconds).contains(time.milliseconds)
      ? .time(time) : .json(.verbatim(String(time.milliseconds)))
  }
}

extension Scope {
  /// Writes the entries of the selection, each on its own line.
  ///
  /// - Parameters:
  ///   - unfinished: Words that say in which state an interruption leaves the output.
  ///   - note: Gets each entry, also the negative entries, which the output omits.
  func export(
    as format: ExportFormat, showing shown: [QueryColumn] = [], to writer: Host.Sink,
    unfinished: SafeText, noting note: (Store.Entry) -> Void = { _ in }
  ) throws -> (done: Tally, walked: Walked) {
    var (done, negative) = (Tally(), 0)
    var last: Store.Entry?
    var rows = RowWriter(
      Presentation(format == .csv ? .csv : .jsonl, clock: session.wallClock),
      columns: ExportFormat.columns + shown.map { Column($0.label) })
    do {
      let facts = try namespaces.map { try session.info(of: $0.name) }
      try writer.write(format == .csv ? rows.begin() : ExportFormat.head(facts))
      let walked = try walk(showing: "exporting", readingValues: true) { entry, value in
        (entry: entry.withoutExtras, line: row(entry, value, shown).map { rows.write([$0]) })
      } _: { items in
        for item in items {
          if let line = item.line {
            try writer.write(line)
            done.add(item.entry)
          } else {
            negative += 1
          }
          note(item.entry)
          last = item.entry
        }
      }
      _ = try writer.finish(true)
      try walked.noteDamage(session.host)
      if negative > 0 {
        let entries = Wording.count(negative, "negative entry was", "negative entries were")
        try session.host.notify("note: \(entries) left out: there is no value")
      }
      return (done, walked)
    } catch is Interruption {
      let place: SafeText = last.map { ", the last \($0.namespace) \($0.key.bytes)" } ?? ""
      throw ShellError.interrupted("\(done.words) written\(place)", hint: unfinished)
    }
  }

  /// The row of an entry; nil for a negative entry, because such an entry has no value.
  private func row(_ entry: Store.Entry, _ value: Span<UInt8>, _ shown: [QueryColumn]) -> [Cell]? {
    let values = shown.isEmpty ? [] : session.queries.columns(shown.map(\.operand), entry, value)
    return entry.isNegative ? nil : ExportFormat.cells(entry, value.bytes) + values.map(\.cell)
  }
}
