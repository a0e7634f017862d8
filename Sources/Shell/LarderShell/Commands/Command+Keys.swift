import Larder
import ShellLanguage

extension Command {
  /// The columns of a list in place of size and expiry.
  static let showOption = OptionSpec.value(
    "--show", .columns, "show fields of the values: `help where`")

  static let keys = Command(
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
      "--show EXPR,...": "[namespace] key EXPR...",
    ],
    examples: [
      Example("keys @departures", "the first of a namespace"),
      Example("keys 'Malm\u{F6} C:'* --expiring 1h", "a pattern and a filter"),
      Example("keys @* --larger 1MB --sort size", "the large ones of all namespaces"),
      Example("keys @articles --limit all", "all of them, for a pipe"),
    ],
    run: listKeys)

  private static func listKeys(_ call: Invocation, in session: Session) throws -> Outcome {
    let scope = try Scope(of: call, in: session)
    if scope.namespaces.count == 1, session.output.presentation.mode == .plain, !call.has("--long"),
      !call.has("--show"), scope.selection.needsKeysOnly
    {
      try scope.listKeys()
      return .done
    }
    try scope.list(
      as: call.columns("--show").map { .show($0, namesNamespaces: scope.namesNamespaces) }
        ?? .record(namesNamespaces: scope.namesNamespaces, isLong: call.has("--long")))
    return .done
  }
}

extension Command {
  static let more = Command(
    "more", aliases: ["m"], .looking, .reads, "Continues the last list.",
    parameters: [.optional("N", .count)],
    examples: [
      Example("more", "the next page"),
      Example("more 200", "the next 200"),
    ],
    run: goOn)

  private static func goOn(_ call: Invocation, in session: Session) throws -> Outcome {
    guard let list = session.listing else {
      if call.line.source == .command {
        throw ShellError(
          .promptOnly, "more continues a list of the prompt",
          hint: "`keys --limit all` lists everything")
      }
      throw ShellError(.usage, "nothing to continue", hint: "run `keys` first")
    }
    try list.show(most: call.number("N") ?? session.output.rows(nil), in: session)
    return .done
  }
}

extension Command {
  static let ttl = Command(
    "ttl", aliases: ["expiry"], .looking, .reads, "Shows when entries expire.",
    selection: .optional,
    plain: ["": "key expires expires_in"],
    examples: [
      Example("ttl @departures \"Malm\u{F6} C:07\"", "one key"),
      Example("ttl 'Kiruna:'*", "all that match"),
    ],
    run: showExpiry)

  private static func showExpiry(_ call: Invocation, in session: Session) throws -> Outcome {
    let scope = try Scope(of: call, in: session)
    try scope.checkKeys(verb: call.command.name)
    try scope.list(
      as: .expiry(namesNamespaces: scope.namesNamespaces),
      includingExpired: scope.selection.isOfKeys)
    return .done
  }
}

extension Command {
  static let exists = Command(
    "exists", .looking, .reads, "Checks whether keys exist; exit code 1 if one does not.",
    namespaces: .one, parameters: [.many("KEY", .key)],
    plain: ["": "exists"],
    examples: [
      Example("exists @articles 000017", "yes or no"),
      Example("exists @articles 000017 000018", "of several"),
    ],
    run: sayWhetherThere)

  private static func sayWhetherThere(_ call: Invocation, in session: Session) throws -> Outcome {
    let namespace = try session.namespace(call.namespaces)
    let answers = try call.allBytes("KEY").map { key in
      (key: key, isThere: try namespace.entry(for: key).map(\.hasValue) ?? false)
    }
    try session.output.answer(
      Reply(
        .rows(
          [
            Column("namespace", in: .data),
            Column("key", title: "", in: [.table, .data], holdsBytes: true),
            Column("exists", title: ""),
          ],
          answers.map { [.text(namespace.name), .bytes($0.key), .bool($0.isThere)] })))
    let missing = answers.filter { !$0.isThere }.map(\.key)
    guard !missing.isEmpty else { return .done }
    // At the prompt the answer is enough; a script that ends here says why.
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
