import Larder
import ShellLanguage

extension Command {
  static let mark = Command(
    "mark", .looking, .reads, "Remembers what the store holds, for diff; until the shell ends.",
    parameters: [.optional("NAME", .text)],
    examples: [
      Example("mark", "before a change"),
      Example("mark before", "by a name, to have several"),
    ],
    run: markEntries)

  static let diff = Command(
    "diff", .looking, .reads,
    "Shows what has changed since a mark or an export; exit code 1 if anything has.",
    parameters: [.optional("NAME|FILE", .file)],
    examples: [
      Example("diff", "since the last mark"),
      Example("diff before", "since the one of that name"),
      Example("diff backup.jsonl", "since an export"),
    ],
    run: showChanges)

  /// What a mark without a name is called.
  private static let standard = "last"

  private static func markEntries(_ call: Invocation, in session: Session) throws -> Outcome {
    let name = call.bytes("NAME") ?? Array(standard.utf8)
    let marked: StoreMark
    do {
      marked = try StoreMark(session)
    } catch is Interruption {
      throw ShellError(.interrupted, "interrupted: nothing was marked", hint: nil)
    }
    session.marks[name] = marked
    session.marks[Array(standard.utf8)] = marked
    try session.acknowledge(
      Reply(
        .object(
          [Column("mark", holdsBytes: true), Column("entries")],
          [.bytes(name), .number(marked.count)]),
        sentences: ["marked \(Wording.entries(marked.count)) as \(name)"]))
    return .done
  }

  private static func showChanges(_ call: Invocation, in session: Session) throws -> Outcome {
    let name = call.bytes("NAME|FILE") ?? Array(standard.utf8)
    let before: StoreMark
    var names: Set<String>?
    if let marked = session.marks[name] {
      before = marked
    } else {
      let path = String(validating: name, as: UTF8.self)
      guard call.has("NAME|FILE"), let path, LocalFile.exists(path) else {
        throw ShellError(
          .usage, "there is no mark \(name)",
          hint: session.marks.isEmpty
            ? "mark makes one; diff also takes a file of export"
            : "there is \(session.marks.keys.sorted { $0.lexicographicallyPrecedes($1) }.map { SafeText(quoting: $0) }.joined())"
        )
      }
      before = try StoreMark(LocalFile(name, of: session), for: session)
      // An export of some namespaces says nothing of the others.
      names = Set(before.entries.keys)
    }
    let changes = before.changes(to: try StoreMark(session, only: names), now: session.clock.now)
    try session.answer(reply(changes, session.presentation))
    return changes.isEmpty ? .done : .told(1)
  }

  private static func reply(_ changes: [StoreMark.Change], _ presentation: Presentation) -> Reply {
    guard presentation.mode != .table || !changes.isEmpty else {
      return Reply(.text("nothing has changed\n"))
    }
    let arrow = presentation.hasUnicode ? "\u{2192}" : "->"
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
