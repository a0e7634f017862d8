import Larder
import ShellLanguage

extension Command {
  static let `import` = Command(
    "import", .store, .changes, "Stores the entries of an export; - is standard input.",
    parameters: [.one("FILE", .file)],
    options: [
      .value(
        "--on-conflict", .choice(Import.Conflict.allCases.map(\.rawValue)),
        "the entry to keep where a key exists; default: newer"),
      BulkOptions.dryRun, BulkOptions.yes,
    ],
    plain: BulkOptions.plain,
    examples: [
      Example("import backup.jsonl", "entries newer than the existing ones"),
      Example("import - --on-conflict keep", "from a pipe, only absent keys"),
      Example("import backup.jsonl --dry-run", "a preview"),
    ],
    run: importEntries)

  private static func importEntries(_ call: Invocation, in session: Session) throws -> Outcome {
    let path = call.bytes("FILE")!
    let conflict = call.choice("--on-conflict").flatMap(Import.Conflict.init) ?? .newer
    let isDry = call.has("--dry-run")
    let lines: LineSource
    if path == Array("-".utf8) {
      guard let input = session.host.input else { throw ShellError.inputIsTaken }
      lines = LineSource(input)
    } else {
      lines = try LineSource(LocalFile(path, of: session))
    }
    if conflict == .replace, !isDry {
      try Confirmation(call: call, session: session, isSweeping: true)
        .require("replace existing entries") { "Replace existing entries, also newer ones?" }
    }
    let name: SafeText =
      path == Array("-".utf8) ? "stdin" : "\(String(decoding: path, as: UTF8.self))"
    var run = Import(lines, named: name, conflict, isDry: isDry, into: session)
    try run.run()
    for (name, tally) in run.done.tallies where !isDry && tally.entries > 0 {
      try session.noteTransform(
        of: session.store.namespace(name), stored: "the imported ones are not",
        missed: "these entries")
    }
    let counts = run.counts
    let fields: [ChangeSummary.Field] =
      [
        ("added", .number(counts.added.entries)), ("replaced", .number(counts.replaced.entries)),
        ("skipped", .number(counts.skipped)), ("expired", .number(counts.expired)),
        ("bytes", .size(counts.added.bytes + counts.replaced.bytes)),
      ]
    try isDry
      ? session.answer(run.preview(fields, for: session.presentation))
      : session.acknowledge(run.done.reply(fields, run.words, for: session.presentation))
    return .done
  }
}
