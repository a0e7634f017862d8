package import ShellLanguage

struct Command: Sendable {
  let spec: CommandSpec
  let run: Action

  typealias Action = @Sendable (Invocation, Session) throws -> Outcome

  static let all: [Command] = [
    .namespaces, .keys, .browse, .count, .sumUp, .minimum, .maximum, .average, .get, .info,
    .exists, .ttl, .expiring, .search, .sizes, .plot, .watch, .diff, .set, .edit, .touch, .expire,
    .persist, .evict, .purge, .clear, .invalidate, .pin, .unpin, .undo, .stats, .limits, .rename,
    .export, .import, .report, .compact, .sync, .verify, .salvage, .use, .output, .option, .source,
    .history, .echo, .help, .quit,
  ]

  private static let runs = [String: Action](
    uniqueKeysWithValues: all.map { ($0.spec.name, $0.run) })

  static func run(_ call: Invocation, in session: Session) throws -> Outcome {
    try runs[call.command.name]!(call, session)
  }
}

extension CommandSpec {
  /// - Parameter run: Returns nothing, or an ``Outcome`` if the command can have an exit code of its own.
  func running<Result: Sendable>(
    _ run: @escaping @Sendable (Invocation, Session) throws -> Result
  ) -> Command {
    Command(spec: self) { call, session in try run(call, session) as? Outcome ?? .done }
  }
}

extension CommandTable { package static let standard = CommandTable(Command.all.map(\.spec)) }

package enum Outcome: Sendable, Hashable {
  case done
  /// The command gave its answer. The answer has an exit code, for example for `no`.
  case exitCode(Int32)
  case quit(Int32)
}
