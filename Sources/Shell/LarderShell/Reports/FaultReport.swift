import Larder
import ShellLanguage

struct FaultReport {
  private static let shown = 20
  private static let checks: [(kind: String, words: String)] = [
    ("damagedEntry", "entries are readable and their checksums fit"),
    ("damagedChunks", "large values are whole"),
    ("deadlines", "the index of deadlines agrees with the entries"),
    ("queue", "the queue agrees with the entries"),
    ("tags", "the index of tags agrees with the entries"),
    ("chunks", "every chunk belongs to an entry"),
    ("counters", "the counts are what is there"),
    ("metadata", "the records of namespaces and counters fit together"),
    ("pages", "the pages of the file are whole"),
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
      .text(fault.kind), fault.namespace.map { .text($0) } ?? .null,
      fault.key.map { .bytes($0) } ?? .null, .text(fault.detail),
    ]
  }

  private var sentences: [SafeText] {
    let (good, bad) = ("\u{2713}", "\u{2717}")
    var lines = Self.checks.map { check -> SafeText in
      let count = faults.count { $0.kind == check.kind }
      return count == 0
        ? "\(good) \(check.words)"
        : "\(bad) \(check.words): \(Wording.count(count, "fault", "faults"))"
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
    lines.append("\(entries) in \(namespaces), \(Wording.size(found.bytes)): \(verdict)")
    if let staying, !found.isSound {
      let mended = Wording.count(found.faults.count - staying, "fault", "faults")
      lines.append(
        staying == 0
          ? "mended \(mended)"
          : "mended \(mended); \(staying) stay: `salvage DIRECTORY` saves what is whole")
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

  /// Decodes every value that has not expired. Returns an inconsistency for each value that its codec cannot decode.
  static func undecodable(in session: Session) throws -> [Inconsistency] {
    let namespaces = try session.namespaces(.all)
    var faults: [Inconsistency] = []
    try Scope(all: namespaces, in: session).walk(showing: "decoding", readingValues: true) {
      entry, value in
      DecodedValue.problem(of: value, codec: entry.codec).map {
        Inconsistency(
          kind: "undecodable", namespace: entry.namespace, key: entry.key.bytes, detail: $0)
      }
    } _: {
      faults += $0
    }
    return faults
  }
}
