import Larder
import ShellLanguage

extension Command {
  static let showOption = OptionSpec.value(
    "--show", .columns, "show these and nothing else, such as key,.name: `help where`")

  static let keys = CommandSpec(
    "keys", aliases: ["list"], .looking, .reads,
    "Lists the entries of a selection: key, size and expiry.",
    selection: .optional,
    options: [
      .flag("--long", "more fields; in plain output all of them"),
      showOption,
    ],
    plain: [
      "": "key",
      "--long": "namespace key size stored written used expires expires_in state",
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
      !call.has("--long"),
      scope.selection.needsKeysOnly
    {
      try scope.listKeys()
    } else {
      try scope.list(
        as: .record(namesNamespaces: scope.namesNamespaces, isLong: call.has("--long")))
    }
  }

  static let ttl = CommandSpec(
    "ttl", aliases: ["expiry"], .looking, .reads, "Shows when entries expire.",
    selection: .optional,
    plain: ["": "key expires expires_in"],
    examples: [
      "ttl @departures \"Malm\u{F6} C:07\"": "one key",
      "ttl 'Kiruna:'*": "all that match",
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
    options: [
      .flag(
        "--stdin", "read keys from standard input, one on each line, escaped as in plain output"),
      .flag("-0", "with --stdin: keys end with NUL and are raw bytes"),
    ],
    rules: [.exactlyOne(["KEY", "--stdin"]), .needs("-0", "--stdin")],
    plain: ["": "exists", "--stdin": "key exists"],
    examples: [
      "exists @articles 000017": "yes or no",
      "exists @articles 000017 000018": "of several",
    ]
  ).running { call, session -> Outcome in
    let namespace = try session.namespace(call.namespaces)
    func answer(_ key: [UInt8]) throws -> (key: [UInt8], isThere: Bool) {
      try session.host.checkInterruption()
      return (key, try namespace.entry(for: key).map(\.hasValue) ?? false)
    }
    var answers = try call.allBytes("KEY").map(answer)
    if call.has("--stdin") {
      var input = try IncomingKeys(call.has("-0") ? .nulSeparated : .lines, from: session.host)
      while let item = try input.next() { answers.append(try answer(item.key)) }
    }
    try session.output.answer(
      .rows(
        [
          Column("namespace", in: .data),
          Column(
            "key", title: "", in: call.has("--stdin") ? .everywhere : [.table, .data],
            holdsBytes: true),
          Column("exists", title: ""),
        ],
        answers.map { [.text(namespace.name), .bytes($0.key), .bool($0.isThere)] }))
    let missing = answers.filter { !$0.isThere }.map(\.key)
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
}
