import Larder
import ShellLanguage

extension Command {
  static let `import` = Command(
    "import", .store, .changes, "Stores what export has written; - is standard input.",
    parameters: [.one("FILE", .file)],
    options: [
      .value(
        "--on-conflict", .choice(Import.Conflict.allCases.map(\.rawValue)),
        "what becomes of a key that is there: newer, unless said"),
      .flag("--dry-run", "say what would be done, and do nothing"),
      .flag("--yes", "do not ask before what is there is replaced"),
    ],
    examples: [
      Example("import backup.jsonl", "what is newer than what is there"),
      Example("import - --on-conflict keep", "from a pipe, only what is missing"),
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
    if conflict == .replace, !isDry, !call.has("--yes") {
      let question: SafeText = "Replace entries that are there, even newer ones?"
      guard try session.confirms(question, isVital: true) else { return .done }
    }
    let name: SafeText =
      path == Array("-".utf8) ? "stdin" : "\(String(decoding: path, as: UTF8.self))"
    var run = Import(lines, named: name, conflict, isDry: isDry, into: session)
    try run.run()
    let counts = run.counts
    try session.acknowledge(
      run.done.reply(
        [
          ("added", .number(counts.added.entries)), ("replaced", .number(counts.replaced.entries)),
          ("skipped", .number(counts.skipped)), ("expired", .number(counts.expired)),
          ("bytes", .size(counts.added.bytes + counts.replaced.bytes)),
        ], run.words, for: session.presentation.mode))
    return .done
  }
}
