import ArgumentParser
import LarderShell
import ShellLanguage

/// The options of the program as the option parser reads them; ``Options`` holds their values.
struct OptionSyntax: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "larder",
    abstract: "Inspects and modifies a Larder store.",
    usage: "larder [options] STORE [options] [COMMAND [WORD...]]",
    discussion: """
      STORE is the directory of a store; with -e and -f, $LARDER_STORE is the default. Every word from \
      COMMAND on belongs to the command and is not parsed again: after -- it is exact data. Without \
      COMMAND, --eval and --file, larder shows a prompt at a terminal and reads commands from standard \
      input elsewhere. The first error ends a script with its exit code: 1 no such key, 2 usage, 3 no \
      store, 4 store failed, 5 refused, 130 interrupted.

        larder demo                           a small store to try
        larder cache                          the prompt; help lists commands
        larder cache get @articles -- "$key"  the bytes of a value
        larder cache -e 'evict @web :k' --arg k="$key"
        larder cache -0 keys @thumbs | xargs -0 -n1 echo
        larder cache -o jsonl keys '@*' --expiring 1h | jq -r .key
      """,
    version: "larder \(LarderCommand.version)")

  @Option(
    name: [.customShort("e"), .customLong("eval")], parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Run a command; repeatable.", valueName: "command"),
    completion: .list(CommandTable.standard.commands.map(\.name)),
    transform: { Step(.command($0)) })
  var commands: [Step] = []

  @Option(
    name: [.customShort("f"), .customLong("file")], parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Run a file, - is standard input; repeatable.", valueName: "file"),
    completion: .file(),
    transform: { Step(.file($0)) })
  var files: [Step] = []

  @Flag(name: .shortAndLong, help: "The prompt, after -e and -f.")
  var interactive = false

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Form of output: \(modeNames.joined(separator: ", ")).", valueName: "mode"),
    completion: .list(modeNames))
  var output = OutputMode.auto.rawValue

  @Flag(name: [.customShort("0"), .long], help: "End each key with NUL instead of a newline.")
  var null = false

  @Option(name: .shortAndLong, help: ArgumentHelp("The namespace to use.", valueName: "name"))
  var namespace: String?

  @Flag(name: .shortAndLong, help: "Refuse every change.")
  var readOnly = false

  @Flag(help: "Create the store if it does not exist.")
  var create = false

  @Flag(name: .shortAndLong, help: "Confirm every bulk change.")
  var yes = false

  @Flag(name: .shortAndLong, help: "Continue after an error.")
  var keepGoing = false

  @Flag(name: .shortAndLong, help: "Do not acknowledge changes.")
  var quiet = false

  @Option(
    help: ArgumentHelp(
      "The value of :NAME in commands, as text; repeatable.", valueName: "NAME=VALUE"))
  var arg: [String] = []

  @Option(
    help: ArgumentHelp(
      "The value of :NAME in expressions, as JSON; repeatable.", valueName: "NAME=JSON"))
  var argjson: [String] = []

  @Flag(help: "Open a store of another user, to read it.")
  var allowForeignOwner = false

  @Flag(help: "Read and show times in UTC.")
  var utc = false

  @Flag(help: "Use no colors.")
  var noColor = false

  @Flag(help: "Do not page long answers.")
  var noPager = false

  @Flag(help: "Do not run the rc file at the prompt.")
  var noRc = false

  @Flag(help: "Print the duration of each command.")
  var timing = false

  @Option(
    help: ArgumentHelp("Print completions for a shell: bash, zsh, fish.", valueName: "shell"))
  var completions: String?

  @Flag(help: "Print the manual page.")
  var man = false

  @ArgumentParser.Argument(
    help: ArgumentHelp("The directory of the store.", valueName: "STORE"), completion: .directory)
  var store: String?

  static let modeNames = OutputMode.allCases.map(\.rawValue)
}

extension OptionSyntax {
  /// The long options, from the help text.
  static var names: [String] {
    helpMessage(columns: 200).split(separator: "\n").flatMap { line in
      line.split(whereSeparator: { " ,".contains($0) }).prefix(2).map(String.init)
        .filter { $0.hasPrefix("--") }
    }
  }
}
