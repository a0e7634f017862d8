import Larder
import LarderSystem
import ShellLanguage

extension Command {
  static let mark = Command(
    "mark", .looking, .reads, "Remembers the content of the store for diff, until the shell ends.",
    parameters: [.optional("NAME", .text)],
    plain: ["": "mark entries"],
    examples: [
      Example("mark", "before a change"),
      Example("mark before", "with a name, for several marks"),
    ],
    run: markEntries)

  static let diff = Command(
    "diff", .looking, .reads,
    "Compares the store with a mark or an export, or two values; exit code 1 if they differ.",
    namespaces: .one, parameters: [.any("NAME|FILE|KEY KEY", .file)],
    plain: [
      "": "change namespace key size_before size", "KEY KEY": "change place before after",
    ],
    examples: [
      Example("diff", "since the last mark"),
      Example("diff before", "since the one of that name"),
      Example("diff backup.jsonl", "since an export"),
      Example("diff @articles 000017 000018", "two values, by field, line or byte"),
    ],
    run: showChanges)

  /// The name of a mark without one.
  private static let standard = "last"

  private static func markEntries(_ call: Invocation, in session: Session) throws -> Outcome {
    let name = call.bytes("NAME") ?? Array(standard.utf8)
    let marked: StoreMark
    do {
      marked = try StoreMark(session)
    } catch is Interruption {
      throw ShellError(.interrupted, "interrupted: no mark was made", hint: nil)
    }
    session.marks[name] = marked
    session.marks[Array(standard.utf8)] = marked
    try session.output.acknowledge(
      Reply(
        [Column("mark", holdsBytes: true): .bytes(name), "entries": .number(marked.count)],
        sentences: ["marked \(Wording.entries(marked.count)) as \(name)"]))
    return .done
  }

  private static func showChanges(_ call: Invocation, in session: Session) throws -> Outcome {
    let words = call.allBytes("NAME|FILE|KEY KEY")
    if words.count == 2 { return try compare(words, call, in: session) }
    guard words.count < 2, call.namespaces == .unnamed else {
      throw ShellError(
        .usage, "diff compares two keys, or the store with one mark or file",
        hint: "usage: `\(call.command.usage)`")
    }
    let name = words.first ?? Array(standard.utf8)
    let before: StoreMark
    var names: Set<ExactString>?
    if let marked = session.marks[name] {
      before = marked
    } else {
      let path = String(validating: name, as: UTF8.self)
      guard !words.isEmpty, let path, LocalFile.exists(path) else {
        throw ShellError(
          .noSuchMark, "no mark \(name)",
          hint: session.marks.isEmpty
            ? "`mark` makes one; diff also takes an export file"
            : "marks: \(session.marks.keys.sorted { $0.lexicographicallyPrecedes($1) }.map { SafeText(quoting: $0) }.joined())"
        )
      }
      before = try StoreMark(LocalFile(name, of: session), for: session)
      // An export of some namespaces is compared with these only.
      names = Set(before.entries.keys)
    }
    let changes = before.changes(to: try StoreMark(session, only: names), now: session.clock.now)
    try session.output.answer(reply(changes, session.output.presentation))
    return changes.isEmpty ? .done : .exitCode(1)
  }

  private static func compare(
    _ keys: [[UInt8]], _ call: Invocation, in session: Session
  ) throws -> Outcome {
    let values = try keys.map { key in
      try session.value(key, call.namespaces).reading(most: nil, in: session).bytes
    }
    let difference = try ValueDifference(
      values[0], values[1], pause: session.host.checkInterruption)
    let arrow = session.output.presentation.arrow
    func text(_ value: String?) -> Cell { value.map { .text($0) } ?? .null }
    try session.output.answer(
      difference.changes.isEmpty && session.output.presentation.mode.isForPerson
        ? Reply(.text("no differences\n"))
        : Reply(
          .rows(
            [
              Column("mark", title: "", in: .table), Column("change", in: [.plain, .data]),
              Column("place", title: ""), Column("values", title: "", in: .table),
              Column("before", in: [.plain, .data]), Column("after", in: [.plain, .data]),
            ],
            difference.changes.map { change in
              [
                .text(change.mark), .text(change.kind.rawValue), .text(change.place),
                .text(
                  [change.before, change.after].compactMap(\.self).joined(separator: " \(arrow) ")),
                text(change.before), text(change.after),
              ]
            })))
    if difference.isCut {
      try session.host.notify(
        "note: the values differ in more than \(Wording.count(ValueDifference.mostLines)) lines; this is the first"
      )
    }
    return difference.changes.isEmpty ? .done : .exitCode(1)
  }

  private static func reply(_ changes: [StoreMark.Change], _ presentation: Presentation) -> Reply {
    guard presentation.mode != .table || !changes.isEmpty else {
      return Reply(.text("no changes\n"))
    }
    let arrow = presentation.arrow
    func sizes(_ change: StoreMark.Change) -> String {
      let words = [change.before, change.after].compactMap { $0.map(Wording.size) }
      return words.joined(separator: " \(arrow) ")
    }
    let rows = changes.map { change -> [Cell] in
      [
        .text(change.kind.mark), .text(change.kind.rawValue), .text(change.namespace),
        .bytes(change.key), change.before.map { .size($0) } ?? .null,
        change.after.map { .size($0) } ?? .null, .text(sizes(change)),
        change.kind == .expired ? .text("(expired)") : .blank,
      ]
    }
    return Reply(
      .rows(
        [
          Column("mark", title: "", in: .table), Column("change", in: [.plain, .data]),
          Column("namespace", title: ""), Column("key", title: "", holdsBytes: true),
          Column("size_before", in: [.plain, .data]), Column("size", in: [.plain, .data]),
          Column("sizes", title: "", in: .table), Column("remark", title: "", in: .table),
        ], rows),
      notes: ["\(Wording.count(changes.count, "change", "changes"))"])
  }
}

extension StoreMark.Change.Kind {
  fileprivate var mark: String {
    switch self {
    case .added: "+"
    case .changed: "~"
    case .removed, .expired: "-"
    }
  }
}
