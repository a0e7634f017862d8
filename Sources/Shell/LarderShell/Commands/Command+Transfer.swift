import Larder
import ShellLanguage

extension Command {
  static let export = CommandSpec(
    "export", .store, .reads, "Writes entries with all their facts; - is standard output.",
    parameters: [.one("FILE", .file)], selection: .optional,
    options: [
      .value(
        "--format", .choice(ExportFormat.allCases.map(\.rawValue)),
        "jsonl, with the rules of namespaces, or csv; default: csv for FILE.csv"),
      .flag("--force", "replace an existing file; as CSV also to a terminal"),
      .value("--show", .columns, "with csv: fields of the values as columns: `help where`"),
    ],
    plain: ["": "entries bytes file"],
    examples: [
      "export backup.jsonl @*": "everything", "export - @departures --newer 1h": "into a pipe",
      "export sizes.csv @articles --force": "for other programs",
    ]
  ).running { call, session in
    let path = call.bytes("FILE")!
    let isPipe = session.isOutput(path)
    // If neither the line nor `use` names a namespace, the export has the whole store.
    let scope = try Scope(of: call, in: session, wholeByDefault: true)
    let format =
      call.choice("--format").flatMap(ExportFormat.init)
      ?? (path.suffix(4).elementsEqual(".csv".utf8) ? .csv : .jsonl)
    let shown = call.columns("--show") ?? []
    guard shown.isEmpty || format == .csv else {
      throw ShellError(.usage, "--show requires `--format csv`", hint: "import reads whole values")
    }
    // CSV does not escape control characters. A terminal would act on these characters, so CSV on a terminal needs `--force`.
    if isPipe, format == .csv { try session.output.requireHarmless(unless: call.has("--force")) }
    let writer = try session.writer(to: path, replaces: call.has("--force"))
    let (done, walked) = try scope.export(
      as: format, showing: shown, to: writer,
      unfinished: isPipe ? "the output ends with a whole line" : "the file was not created")
    try walked.noteAbsent(session.host)
    let fields: KeyValuePairs<Column, Cell> = [
      "entries": .number(done.entries), "bytes": .size(done.bytes),
      Column("file", holdsBytes: true): .bytes(isPipe ? Array("-".utf8) : path),
    ]
    guard isPipe else {
      return try session.output.acknowledge(
        fields, sentences: ["exported \(done.words) to \(path)"])
    }
    // The next program of the pipe would read the summary as an entry, so the summary goes to standard error.
    if session.settings.isQuiet { return }
    let json = JSON.object(fields.map { $0.value.jsonField($0.key.name) })
    let isJSON = [.json, .jsonl].contains(session.output.presentation.mode)
    try session.host.notify(isJSON ? "\(json.text)" : "exported \(done.words)")
  }

  static let `import` = CommandSpec(
    "import", .store, .changes,
    "Stores the entries of an export, or of CSV with a header; - is standard input.",
    namespaces: .one, parameters: [.one("FILE", .file)],
    options: [
      .value(
        "--on-conflict", .choice(Import.Conflict.allCases.map(\.rawValue)),
        "the entry to keep where a key exists; default: newer"),
      BulkOptions.dryRun, BulkOptions.yes,
    ],
    plain: BulkOptions.plain,
    examples: [
      "import backup.jsonl": "entries newer than the existing ones",
      "import - --on-conflict keep": "from a pipe, only absent keys",
      "import backup.jsonl --dry-run": "a preview",
      "import prices.csv @prices": "columns key and value, all in one namespace",
    ]
  ).running { call, session in
    let path = call.bytes("FILE")!
    let conflict = call.choice("--on-conflict").flatMap(Import.Conflict.init) ?? .newer
    let isDry = call.has("--dry-run")
    let namespace: String? =
      if case .named(let names) = call.namespaces { names[0].text } else { session.current }
    let lines = try ExportReader(
      path, in: session, namespace: namespace, requiresCSV: call.namespaces != .unnamed)
    if conflict == .replace, !isDry {
      try Confirmation(call: call, session: session, isSweeping: true)
        .require("replace existing entries") {
          "More than 64 MB cannot be undone. Replace existing entries, also newer ones?"
        }
    }
    var run = Import(
      lines: lines, conflict: conflict, isDry: isDry, session: session, began: session.clock.now)
    try run.run()
    for (name, tally) in run.counts.done.tallies where !isDry && tally.entries > 0 {
      try session.afterCommit {
        try session.unknownTransforms.note(
          session.store.namespace(name), stored: "the imported ones are not",
          missed: "these entries")
      }.map(session.host.notify)
    }
    let counts = run.counts
    let fields: [ChangeSummary.Field] = [
      ("added", .number(counts.added.entries)), ("replaced", .number(counts.replaced.entries)),
      ("skipped", .number(counts.skipped + counts.shared)), ("expired", .number(counts.expired)),
      ("bytes", .size(counts.added.bytes + counts.replaced.bytes)),
    ]
    try isDry
      ? session.output.answer(run.counts.done.preview(fields, run.words))
      : session.output.acknowledge(run.counts.done.reply(only: fields, run.words))
    for remark in run.remarks { try session.host.notify(remark) }
  }
}
