import Larder
import ShellLanguage

struct FaultReport {
  private static let shown = 20
  private static let checks: [(kind: String, parts: Set<Verification.Part>, words: String)] = [
    ("damagedEntry", [.entries], "entries are readable and their checksums fit"),
    ("damagedChunks", [.entries], "large values are whole"),
    ("deadlines", [.entries, .deadlines], "the index of deadlines agrees with the entries"),
    ("queue", [.entries, .queue], "the queue agrees with the entries"),
    ("tags", [.entries, .tags], "the index of tags agrees with the entries"),
    ("chunks", [.entries, .chunks], "every chunk belongs to an entry"),
    ("counters", [.entries, .counts], "the counts are what is there"),
    (
      "metadata", [.garbage, .counterRecords],
      "the records of namespaces and counters fit together"
    ),
    ("pages", [], "the pages of the file are whole"),
  ]

  let found: Verification
  let faults: [Inconsistency]
  /// The number of faults that are left after a repair; nil if no repair was made.
  let staying: Int?

  var reply: Reply {
    let warnings = found.warnings.map {
      cells(Inconsistency(kind: "warning", namespace: $0.namespace, key: nil, detail: $0.detail))
    }
    let rows = Reply.Body.rows(Self.columns, faults.map(cells) + warnings)
    func list(_ rows: [[Cell]]) -> Cell {
      .json(.array(rows.map { JSON.object(zip(Self.columns, $0).map { $1.jsonField($0.name) }) }))
    }
    var fields: [(name: String, cell: Cell)] = [
      ("entries", .number(found.entries)), ("bytes", .size(found.bytes)),
      ("namespaces", .number(found.namespaces)), ("cleared", .number(found.garbage)),
      ("faults", list(faults.map(cells))), ("warnings", list(warnings)),
    ]
    let unchecked = Self.checks.filter { isUnfinished($0.parts) }.map { Cell.text($0.kind) }
    if !unchecked.isEmpty { fields.append(("unchecked", .list(unchecked))) }
    if let staying { fields.append(("staying", .number(staying))) }
    return Reply(
      .object(fields.map { Column($0.name, in: .data) }, fields.map(\.cell)),
      in: [.plain: rows, .csv: rows], sentences: sentences)
  }

  private static let columns = [
    Column("kind"), Column("namespace"), Column("key", holdsBytes: true), Column("detail"),
  ]

  private func cells(_ fault: Inconsistency) -> [Cell] {
    [
      .text(fault.kind), .optional(fault.namespace, Cell.text), .optional(fault.key, Cell.bytes),
      .text(fault.detail),
    ]
  }

  /// The command that helps against the faults that are left; nil if no fault is left, or none of these commands helps.
  var remedy: SafeText? {
    if found.isSound || staying == 0 { return nil }
    return staying == nil && !found.faults.contains { $0.kind == .pages }
      ? "`verify --repair` mends the faults, and removes damaged entries"
      : "`salvage DIRECTORY` saves what is whole"
  }

  private func isUnfinished(_ parts: Set<Verification.Part>) -> Bool {
    !parts.isDisjoint(with: found.unfinished)
  }

  private var sentences: [SafeText] {
    let (good, bad) = ("\u{2713}", "\u{2717}")
    var lines = Self.checks.map { check -> SafeText in
      let count = faults.count { $0.kind == check.kind }
      guard count == 0 else {
        return "\(bad) \(check.words): \(Wording.count(count, "fault", "faults"))"
      }
      return isUnfinished(check.parts)
        ? "? \(check.words): not checked, because pages are damaged" : "\(good) \(check.words)"
    }
    lines += faults.prefix(Self.shown).map { fault in
      let place = [fault.namespace.map { "\($0)" }, fault.key.map { SafeText(quoting: $0) }]
        .compactMap(\.self).joined(separator: " ")
      return "  \(place.description.isEmpty ? "" : "\(place): ")\(fault.detail)"
    }
    if faults.count > Self.shown {
      lines.append("  and \(Wording.count(faults.count - Self.shown)) more: verify in JSON has all")
    }
    lines += found.warnings.map { "warning: \($0.namespace): \($0.detail)" }
    let entries = Wording.entries(found.entries)
    let namespaces = Wording.count(found.namespaces, "namespace", "namespaces")
    let verdict = faults.isEmpty ? "sound" : Wording.count(faults.count, "fault", "faults")
    let read = found.unfinished.isEmpty ? "" : " could be read"
    lines.append("\(entries) in \(namespaces), \(Wording.size(found.bytes))\(read): \(verdict)")
    if let staying, !found.isSound {
      let mended = Wording.count(found.faults.count - staying, "fault", "faults")
      lines.append(staying == 0 ? "mended \(mended)" : "mended \(mended); \(staying) stay")
    }
    return lines
  }
}

struct Inconsistency {
  /// The name that the library gives to the fault, or `undecodable` for a value that its codec cannot decode.
  let kind: String
  let namespace: String?
  let key: [UInt8]?
  let detail: String

  /// Decodes every value that has not expired. Gives `report` an inconsistency for each value that its codec cannot decode.
  static func findUndecodable(
    in session: Session, _ report: ([Inconsistency]) throws -> Void
  ) throws {
    let namespaces = try session.namespaces(.all)
    try Scope(all: namespaces, in: session).walk(showing: "decoding", readingValues: true) {
      entry, value in
      DecodedValue.problem(of: value, codec: entry.codec).map {
        Inconsistency(
          kind: "undecodable", namespace: entry.namespace, key: entry.key.bytes, detail: $0)
      }
    } _: {
      try report($0)
    }
  }
}
