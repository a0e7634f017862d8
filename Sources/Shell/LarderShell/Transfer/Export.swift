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

  /// The lines before the first entry. JSON lines begin with the format and the rules of each namespace, CSV with the header.
  func head(_ namespaces: [NamespaceInfo], _ shown: [QueryColumn]) throws -> [UInt8] {
    switch self {
    case .csv: return CSV.line(CSV.header(Self.columns) + shown.map(\.label))
    case .jsonl:
      var lines = [JSON.object([.init("larder_export", .number(Self.version))])]
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
  }

  func line(_ entry: Store.Entry, _ value: Span<UInt8>, _ shown: [(Column, Cell)]) -> [UInt8] {
    let cells = Self.cells(entry, value.bytes)
    switch self {
    case .csv:
      return CSV.line((Array(zip(Self.columns, cells)) + shown).flatMap { CSV.fields($1, of: $0) })
    case .jsonl:
      let fields = zip(Self.columns, cells).filter { $1 != .null }
      return Array((JSON.object(fields.map { $1.jsonField($0.name) }).text + "\n").utf8)
    }
  }

  static let columns = [
    Column("namespace"), Column("key", holdsBytes: true), Column("value", holdsBytes: true),
    Column("codec"), Column("written"), Column("expires"), Column("stale_until"), Column("idle"),
    Column("pinned"), Column("owners"), Column("tags"), Column("etag", holdsBytes: true),
    Column("last_modified", holdsBytes: true), Column("metadata", holdsBytes: true),
  ]

  private static func cells(_ entry: Store.Entry, _ value: [UInt8]) -> [Cell] {
    [
      .text(entry.namespace), .bytes(entry.key.bytes), .bytes(value), .text(entry.codec.name),
      moment(entry.written), entry.expires == nil ? .text(never) : moment(entry.expires),
      moment(entry.staleUntil), .optional(entry.timeToIdle?.milliseconds, Cell.span),
      entry.isPinned ? .bool(true) : .null, list(entry.owners.map(Cell.owner)),
      list(entry.tags.map { .text($0) }), .optional(entry.entityTag, Cell.bytes),
      .optional(entry.lastModified, Cell.bytes), .optional(entry.metadata, Cell.bytes),
    ]
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
    do {
      try writer.write(format.head(namespaces.map { try session.info(of: $0.name) }, shown))
      let walked = try walk(showing: "exporting", readingValues: true) { entry, value in
        (entry: entry.withoutExtras, line: line(of: entry, value, format, shown))
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

  /// The line of an entry; nil for a negative entry, because such an entry has no value.
  private func line(
    of entry: Store.Entry, _ value: Span<UInt8>, _ format: ExportFormat, _ shown: [QueryColumn]
  ) -> [UInt8]? {
    let values = shown.isEmpty ? [] : session.queries.columns(shown.map(\.operand), entry, value)
    let columns = zip(shown, values).map { (Column($0.label), $1.cell) }
    return entry.isNegative ? nil : format.line(entry, value, columns)
  }
}
