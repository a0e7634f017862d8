import LarderShell
import ShellLanguage

/// An option of the program. Parsing, `--help`, the manual page and completions use the same table.
struct ProgramOption: Sendable {
  enum Action: Sendable {
    case flag(@Sendable (inout Options) -> Void)
    case text(@Sendable (inout Options, String) throws(ShellError) -> Void)
    /// The value may be any bytes.
    case bytes(@Sendable (inout Options, [UInt8]) throws(ShellError) -> Void)
  }

  /// The values that a shell completes.
  enum Completion: Sendable {
    case none, files, commands
    case words([String])
  }

  /// With its dashes.
  let name: String
  let short: Character?
  /// The name of its value; nil for a flag.
  let placeholder: String?
  let summary: String
  let completion: Completion
  let action: Action

  private static func flag(
    _ name: String, short: Character? = nil, _ summary: String,
    _ set: @escaping @Sendable (inout Options) -> Void
  ) -> ProgramOption {
    ProgramOption(
      name: name, short: short, placeholder: nil, summary: summary, completion: .none,
      action: .flag(set))
  }

  private static func value(
    _ name: String, short: Character? = nil, _ placeholder: String, _ summary: String,
    completes completion: Completion = .none, _ action: Action
  ) -> ProgramOption {
    ProgramOption(
      name: name, short: short, placeholder: placeholder, summary: summary,
      completion: completion, action: action)
  }

  /// `-e, --eval COMMAND`
  var usage: String {
    (short.map { "-\($0), " } ?? "    ") + name + (placeholder.map { " \($0)" } ?? "")
  }

  static let modeNames = OutputMode.allCases.map(\.rawValue)

  static let all: [ProgramOption] = [
    .value(
      "--eval", short: "e", "COMMAND", "run a command; repeatable", completes: .commands,
      .text { $0.steps.append(.command($1)) }),
    .value(
      "--file", short: "f", "FILE", "run a file, - is standard input; repeatable",
      completes: .files,
      .text { $0.steps.append(.file($1)) }),
    .flag("--interactive", short: "i", "the prompt, after -e and -f") { $0.interactive = true },
    .value(
      "--output", short: "o", "MODE", "form of output: \(modeNames.joined(separator: ", "))",
      completes: .words(modeNames),
      .text { (options, name) throws(ShellError) in try options.set(mode: name) }
    ),
    .flag("--null", short: "0", "end each key with NUL instead of a newline") { $0.null = true },
    .value("--namespace", short: "n", "NAME", "the namespace to use", .text { $0.namespace = $1 }),
    .flag("--read-only", short: "r", "refuse every change") { $0.readOnly = true },
    .flag("--create", "create the store if it does not exist") { $0.create = true },
    .flag("--yes", short: "y", "confirm every bulk change") { $0.yes = true },
    .flag("--keep-going", short: "k", "continue after an error") { $0.keepGoing = true },
    .flag("--quiet", short: "q", "do not acknowledge changes") { $0.quiet = true },
    .value(
      "--arg", "NAME=VALUE", "the value of :NAME in commands, as text; repeatable",
      .bytes { (options, value) throws(ShellError) in
        try options.variables.define(value, isJSON: false)
      }),
    .value(
      "--argjson", "NAME=JSON", "the value of :NAME in expressions, as JSON; repeatable",
      .bytes { (options, value) throws(ShellError) in
        try options.variables.define(value, isJSON: true)
      }),
    .flag("--allow-foreign-owner", "open a store of another user, to read it") {
      $0.allowForeignOwner = true
    },
    .flag("--utc", "read and show times in UTC") { $0.utc = true },
    .flag("--no-color", "use no colors") { $0.noColor = true },
    .flag("--no-pager", "do not page long answers") { $0.noPager = true },
    .flag("--no-rc", "do not run the rc file at the prompt") { $0.noRc = true },
    .flag("--timing", "print the duration of each command") { $0.timing = true },
    .value(
      "--completions", "SHELL",
      "print completions for a shell: \(CompletionScript.shells.joined(separator: ", "))",
      completes: .words(CompletionScript.shells),
      .text { $0.document = .completions($1) }),
    .flag("--man", "print the manual page") { $0.document = .manual },
    .flag("--version", "show the version") { $0.document = .version },
    .flag("--help", short: "h", "show the options and examples") { $0.document = .help },
  ]
}
