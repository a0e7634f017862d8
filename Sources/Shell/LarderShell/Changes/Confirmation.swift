import ShellLanguage

enum BulkOptions {
  static let dryRun = OptionSpec.flag("--dry-run", "show what would change, and change nothing")
  static let yes = OptionSpec.flag("--yes", short: "-y", "confirm the change")
  static let verbose = OptionSpec.flag("--verbose", "list the keys, in JSON")
  static let all = [dryRun, yes, verbose]
  static let save = OptionSpec.value("--save", .file, "first export the entries to this file")
  static let plain: KeyValuePairs = ["": "verb namespace entries bytes"]
}

/// The one rule for bulk changes: a change needs confirmation if the words of its command do not list the keys.
struct Confirmation {
  let call: Invocation
  let session: Session
  /// Whether the change applies to whole namespaces or the store. If so, the shell asks even under `option confirm off`.
  var isSweeping = false

  /// Whether `--yes` was given to the command or to the program.
  var isGiven: Bool { call.has("--yes") || session.settings.answersYes }

  /// Whether the shell can ask: a person typed the command, and there is a terminal. The setting `confirm` is not tested here.
  private var asks: Bool { session.canAsk && session.host.ask != nil }

  /// Throws `declined` or `needs_yes` if the change is not confirmed. With `confirm off`, the prompt asks only if `isSweeping`.
  func require(_ change: SafeText, question: () -> SafeText) throws {
    if isGiven || asks && !session.settings.confirmsBulkChanges && !isSweeping { return }
    // Whether a script needs `--yes` must not depend on the content of the store, so even a change of 0 entries is refused.
    guard asks, let ask = session.host.ask else { throw refusal(to: change) }
    guard try ask(question()) else { throw ShellError.declined }
  }

  /// Requires confirmation of a change whose entries were counted. If no entry would change, a person is not asked.
  func require(_ summary: ChangeSummary, note: SafeText = "", losesValues: Bool = true) throws {
    if asks, summary.total.entries == 0 { return }
    let isLasting =
      session.undo.isRecording && UndoLog.isTooLarge(summary.total, losesValues: losesValues)
    try require("\(summary.verb) \(summary.total.inBrackets)") {
      note + (isLasting ? "This is too large to be undone. " : "") + Self.question(summary)
    }
  }

  func refusal(to change: SafeText) -> ShellError {
    let preview = call.command.option(named: "--dry-run") == nil ? "" : ", `--dry-run` to preview"
    return ShellError(
      .needsYes, "refusing to \(change) without confirmation",
      hint: "pass `--yes` to confirm\(preview)")
  }

  /// The most namespaces that a question names, so that a person can read the whole question.
  private static let mostNamed = 8

  /// A question such as `Evict 40 entries (31 kB) in departures, such as "a", "b", "c"?`
  static func question(_ summary: ChangeSummary) -> SafeText {
    let verb = summary.phrase.prefix(1).uppercased() + summary.phrase.dropFirst()
    let changed = summary.tallies.filter { $0.tally.entries > 0 }
    let (named, others) = (changed.prefix(mostNamed), changed.dropFirst(mostNamed))
    var counts = named.map { "\(Wording.count($0.tally.entries)) in \($0.namespace)" as SafeText }
    if !others.isEmpty {
      let entries = others.reduce(0) { $0 + $1.tally.entries }
      let spaces = Wording.count(others.count, "more namespace", "more namespaces")
      counts.append("\(Wording.count(entries)) in \(spaces)")
    }
    let places: SafeText =
      changed.count == 1 ? " in \(changed[0].namespace)" : ": " + counts.joined()
    let samples = summary.samples.map { SafeText(quoting: $0) }.joined()
    let examples: SafeText = summary.samples.isEmpty ? "" : ", such as \(samples)"
    return "\(verb) \(summary.total.inBrackets)\(places)\(examples)?"
  }
}
