import ArgumentParser
import LarderShell
import ShellLanguage
import Synchronization

/// What the program is told when it is started.
struct Options: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "larder",
    abstract: "Looks into a Larder store and changes it.",
    usage: "larder [options] [STORE]",
    discussion: """
      STORE is the directory of a store; without it, $LARDER_STORE. Without --eval and --file it is \
      the prompt at a terminal, and otherwise the commands come from standard input. The first error \
      ends a script, with its exit code: 1 no such key, 2 wrong command, 3 no store, 4 store failed, \
      5 refused, 130 interrupted.

        larder cache                                the prompt; help lists the commands
        larder cache -e 'get @articles 000017'      the bytes of a value
        larder cache -0 -e 'keys @thumbs' | xargs -0 -n1 echo
        larder cache -o jsonl -e 'keys @* --expiring 1h' | jq -r .key
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

  @Flag(name: [.customShort("0"), .long], help: "A NUL behind each key instead of a newline.")
  var null = false

  @Option(name: .shortAndLong, help: ArgumentHelp("The namespace to use.", valueName: "name"))
  var namespace: String?

  @Flag(name: .shortAndLong, help: "Refuse every change.")
  var readOnly = false

  @Flag(help: "Make the store if there is none.")
  var create = false

  @Flag(name: .shortAndLong, help: "Answer every question with yes.")
  var yes = false

  @Flag(name: .shortAndLong, help: "Go on after an error.")
  var keepGoing = false

  @Flag(name: .shortAndLong, help: "Do not say what was changed.")
  var quiet = false

  @Flag(help: "Read and show times in UTC.")
  var utc = false

  @Flag(help: "Use no colour.")
  var noColor = false

  @Flag(help: "Use no pager for long answers.")
  var noPager = false

  @Flag(help: "Do not run the rc file at the prompt.")
  var noRc = false

  @Flag(help: "Say how long each command took.")
  var timing = false

  @Option(
    help: ArgumentHelp("Print the completions for a shell: bash, zsh, fish.", valueName: "shell"))
  var completions: String?

  @Flag(help: "Print the manual page.")
  var man = false

  @ArgumentParser.Argument(
    help: ArgumentHelp("The directory of the store.", valueName: "STORE"), completion: .directory)
  var store: String?

  @ArgumentParser.Argument(help: .hidden)
  var surplus: [String] = []

  /// Commands and files in the order in which they were written.
  var steps: [Step] { (commands + files).sorted { $0.number < $1.number } }

  var mode: OutputMode {
    get throws(ShellError) {
      if let mode = OutputMode(rawValue: output.lowercased()) { return mode }
      let near = Suggestions.near(output, among: Self.modeNames)
      throw ShellError(
        .usage, "there is no form of output \(Array(output.utf8))",
        hint: near.map { "did you mean \($0)?" }
          ?? "say one of \(Self.modeNames.joined(separator: ", "))")
    }
  }

  private static let modeNames = OutputMode.allCases.map(\.rawValue)
}

/// Something to run. The parser keeps one list for each option, so steps are numbered as they are read.
struct Step: Sendable {
  enum Action: Sendable {
    case command(String)
    case file(String)
  }

  let action: Action
  let number: Int

  private static let count = Atomic(0)

  init(_ action: Action) {
    self.action = action
    number = Self.count.add(1, ordering: .relaxed).newValue
  }

  var readsInput: Bool {
    if case .file("-") = action { true } else { false }
  }
}
