import Larder
import ShellLanguage

extension Command {
  static let showOption = OptionSpec.value(
    "--show", .columns, "show these and nothing else, such as key,.name: `help where`")

  static let keys = CommandSpec(
    "keys", aliases: ["list"], .looking, .reads,
    "Lists the entries of a selection: key, size and expiry.", selection: .optional,
    options: [.flag("--long", "more fields; in plain output all of them"), showOption],
    plain: [
      "": "key", "--long": "namespace key size stored written used expires expires_in state",
      "--show EXPR,...": "EXPR...",
    ],
    examples: [
      "keys @departures": "the first of a namespace",
      "keys 'Malm\u{F6} C:'* --expiring 1h": "a pattern and a filter",
      "keys @* --larger 1MB --sort size": "the large ones of all namespaces",
      "keys @articles --limit all": "all of them, for a pipe",
    ],
  ).running { call, session in
    let scope = try Scope(of: call, in: session)
    if let columns = call.columns("--show") {
      try scope.list(as: .show(columns))
    } else if scope.namespaces.count == 1, session.output.presentation.mode == .plain,
      !call.has("--long"), scope.selection.needsKeysOnly
    {
      try scope.listKeys()
    } else {
      try scope.list(
        as: .record(namesNamespaces: scope.namesNamespaces, isLong: call.has("--long")))
    }
  }

  static let ttl = CommandSpec(
    "ttl", aliases: ["expiry"], .looking, .reads, "Shows when entries expire.",
    selection: .optional, plain: ["": "key expires expires_in"],
    examples: [
      "ttl @departures \"Malm\u{F6} C:07\"": "one key", "ttl 'Kiruna:'*": "all that match",
    ],
  ).running { call, session in
    let scope = try Scope(of: call, in: session)
    try scope.checkKeys(verb: call.command.name)
    try scope.list(
      as: .expiry(namesNamespaces: scope.namesNamespaces),
      includingExpired: scope.selection.isOfKeys)
  }

  static let exists = CommandSpec(
    "exists", .looking, .reads, "Checks whether keys exist; exit code 1 if one does not.",
    namespaces: .one, parameters: [.any("KEY", .key)],
    options: Selection.options.filter { ["--stdin", "-0"].contains($0.name) },
    rules: [.exactlyOne(["KEY", "--stdin"]), .needs("-0", "--stdin")],
    plain: ["": "exists", "--stdin": "key exists"],
    examples: [
      "exists @articles 000017": "yes or no", "exists @articles 000017 000018": "of several",
    ]
  ).running { call, session -> Outcome in
    let namespace = try session.namespace(call.namespaces)
    /// Nil for a damaged entry, because it may have had a value.
    func answer(_ key: [UInt8]) throws -> (key: [UInt8], isThere: Bool?) {
      try session.host.checkInterruption()
      let isThere = try namespace.entry(for: key).map(\.hasValue) ?? false
      return (key, try !isThere && namespace.isDamaged(key) ? nil : isThere)
    }
    var answers = try call.allBytes("KEY").map(answer)
    if call.has("--stdin") {
      var input = try IncomingKeys(call.has("-0") ? .nulSeparated : .lines, from: session.host)
      while let item = try input.next() { answers.append(try answer(item.key)) }
    }
    let missing = answers.filter { $0.isThere == false }.map(\.key)
    let shown: Column.Visibility = call.has("--stdin") ? .everywhere : [.table, .data]
    let columns = Column.untitled(
      Column("namespace", in: .data), Column("key", in: shown, holdsBytes: true), "exists")
    let rows = answers.map { key, isThere -> [Cell] in
      [.text(namespace.name), .bytes(key), .optional(isThere, Cell.bool)]
    }
    try session.output.answer(.rows(columns, rows))
    let damaged = answers.filter { $0.isThere == nil }.map(\.key)
    if let error = try session.damage(of: damaged, in: [namespace]) { throw error }
    guard !missing.isEmpty else { return .done }
    // At the prompt, the answer shows which keys are missing. A script may stop at this error, so the error shows the reason.
    if call.line.source == .prompt { return .exitCode(ShellError.Code.noSuchKey.exitCode) }
    let list = missing.prefix(3).map { SafeText(quoting: $0) }.joined()
    throw ShellError(
      .noSuchKey,
      answers.count == 1
        ? "key not found: \(list)"
        : "\(missing.count) of \(Wording.count(answers.count, "key", "keys")) not found: \(list)",
      hint: nil)
  }

  static let info = CommandSpec(
    "info", aliases: ["meta"], .looking, .reads,
    "Shows all fields of an entry, each on its own line.", namespaces: .one,
    parameters: [.many("KEY", .key)], plain: ["": "fact value", "KEY KEY...": "key fact value"],
    examples: [
      "info @departures \"Malm\u{F6} C:07\"": "one entry",
      "info hex:00ff": "a key that is not text",
    ]
  ).running { call, session in
    let namespace = try session.namespace(call.namespaces)
    let entries = try call.allBytes("KEY").map { key in
      // An expired entry stays in the file until a purge, so its facts are still shown.
      guard let entry = try namespace.entry(for: key) else {
        throw try session.noSuchKey(key, in: [namespace])
      }
      return entry
    }
    let clock = session.wallClock
    let bodies = entries.map { ResponseBody(of: $0)?.summary }
    let hasBodies = bodies.contains { $0 != nil }
    let additions = try session.host.entryFacts(namespace) ?? { _ in [] }
    let added = zip(entries, bodies).map { entry, body -> [Host.Fact] in
      additions(entry) + (hasBodies ? [(name: "body", cell: Cell.optional(body, Cell.text))] : [])
    }
    let columns = factColumns + added[0].map { Column($0.name) }
    let rows = zip(entries, added).map { facts($0, clock) + $1.map(\.cell) }
    // In plain output each line names a fact. If there are several entries, each line also names the key.
    let key = Column("key", in: entries.count > 1 ? .everywhere : [], holdsBytes: true)
    let lines = zip(entries, rows).flatMap { entry, row in
      zip(columns, row).map { [.bytes(entry.key.bytes), .text($0.name), $1] as [Cell] }
    }
    let plain = Reply.Body.rows([key, "fact", "value"], lines)
    guard session.output.isTable || entries.count == 1 else {
      try session.output.answer(Reply(.rows(columns, rows), in: [.plain: plain], isLong: true))
      return
    }
    for (index, (entry, row)) in zip(entries, rows).enumerated() {
      if index > 0 { try session.output.write([.newline]) }
      let notes: [SafeText] =
        entry.isNegative ? ["a negative entry: it records that there is no value"] : []
      try session.output.answer(
        Reply(.object(columns, row), in: [.plain: plain], notes: notes, isLong: true))
    }
  }

  private static var factColumns: [Column] {
    let further: [Column] = [
      "negative", "idle", "stale_until", "codec", "version", "tags", "pinned", "owners",
      Column("etag", holdsBytes: true), Column("last_modified", holdsBytes: true), "metadata",
    ]
    return EntryForm.record(namesNamespaces: true).columns.map { column in
      Column(
        column.name, in: column.name == "expires_in" ? [.plain, .data] : .everywhere,
        holdsBytes: column.holdsBytes)
    } + further
  }

  private static func facts(_ entry: Store.Entry, _ clock: WallClock) -> [Cell] {
    let further: [Cell] = [
      .bool(entry.isNegative), .optional(entry.timeToIdle?.milliseconds, Cell.span),
      entry.staleUntil.map { .expiry($0.unix) } ?? .null,
      .text(([entry.codec.name] + entry.transforms.map(\.name)).joined(separator: ", ")),
      .number(Int(clamping: entry.version)), .list(entry.tags.map { .text($0) }),
      .bool(entry.isPinned), .list(entry.owners.map(Cell.owner)),
      .optional(entry.entityTag, Cell.bytes), .optional(entry.lastModified, Cell.bytes),
      .optional(entry.metadata?.count, Cell.size),
    ]
    return EntryForm.facts(entry, clock) + further
  }
}
