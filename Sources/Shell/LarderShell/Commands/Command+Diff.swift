import Larder
import LarderSystem
import ShellLanguage

extension Command {
  static let diff = CommandSpec(
    "diff", .looking, .reads,
    "Compares keys and values with an export, or one value with another; exit code 1 if they differ.",
    namespaces: .one, parameters: [.many("FILE|KEY KEY", .fileOrKey)],
    plain: [
      "FILE": "change namespace key size_before size", "KEY KEY": "change place before after",
    ],
    examples: [
      "diff backup.jsonl": "since an export",
      "diff @articles 000017 000018": "two values, by field, line or byte",
    ]
  ).running { call, session -> Outcome in
    let words = call.words("FILE|KEY KEY")
    if words.count == 2 { return try compare(words.map { try $0.key() }, call, in: session) }
    guard words.count == 1, call.namespaces == .unnamed else {
      throw ShellError(
        .usage, "diff compares two keys, or the store with one file",
        hint: "usage: `\(call.command.usage)`")
    }
    let export = try ExportContent(of: words[0].bytes, for: session)
    // An export may have only some namespaces of the store, so only these namespaces are compared.
    let changes = try export.changes(in: session)
    let others = try session.store.namespaces().filter {
      !export.names.contains(ExactString($0.name))
    }
    if let other = others.first {
      try session.host.notify(
        "note: the file has nothing of \(Wording.count(others.count, "namespace", "namespaces")) of the store, such as \(other.name)"
      )
    }
    try session.output.answer(reply(changes, session.output.presentation.arrow))
    return changes.isEmpty ? .done : .exitCode(1)
  }

  private static func compare(
    _ keys: [[UInt8]], _ call: Invocation, in session: Session
  ) throws -> Outcome {
    let values = try keys.map { key in
      try session.value(key, call.namespaces).reading(most: nil, in: session).bytes
    }
    let difference = ValueDifference(values[0], values[1])
    let arrow = session.output.presentation.arrow
    let columns = Column.untitled(
      Column("mark", in: .table), Column("change", in: [.plain, .data]), "place",
      Column("values", in: .table), Column("before", in: [.plain, .data]),
      Column("after", in: [.plain, .data]))
    let rows = difference.changes.map { change -> [Cell] in
      let texts = [change.before, change.after].compactMap(\.self)
      return [
        .text(change.kind.mark), .text(change.kind.rawValue), .text(change.place),
        .text(texts.joined(separator: " \(arrow) ")),
        .optional(change.before, Cell.text), .optional(change.after, Cell.text),
      ]
    }
    try session.output.answer(
      Reply(.rows(columns, rows), sentences: rows.isEmpty ? ["no differences"] : []))
    if difference.isCut {
      try session.host.notify(
        "note: more than \(Wording.count(ValueDifference.mostLines)) lines lie between the first difference and the last; this is the first"
      )
    }
    return rows.isEmpty ? .done : .exitCode(1)
  }

  private static func reply(_ changes: [ExportContent.Change], _ arrow: String) -> Reply {
    let columns = Column.untitled(
      Column("mark", in: .table), Column("change", in: [.plain, .data]), "namespace",
      Column("key", holdsBytes: true), Column("size_before", in: [.plain, .data]),
      Column("size", in: [.plain, .data]), Column("sizes", in: .table),
      Column("remark", in: .table))
    let rows = changes.map { change -> [Cell] in
      let sizes = [change.before, change.after].compactMap { $0.map(Wording.size) }
      return [
        .text(change.kind.mark), .text(change.kind.rawValue), .text(change.id.namespace.string),
        .bytes(change.id.key), .optional(change.before, Cell.size),
        .optional(change.after, Cell.size), .text(sizes.joined(separator: " \(arrow) ")),
        change.kind == .expired ? .text("(expired)") : .blank,
      ]
    }
    return Reply(
      .rows(columns, rows), sentences: rows.isEmpty ? ["no changes"] : [],
      notes: rows.isEmpty ? [] : ["\(Wording.count(rows.count, "change", "changes"))"])
  }
}
