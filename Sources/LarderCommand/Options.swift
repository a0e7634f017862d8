import LarderShell
import ShellLanguage
import Synchronization

/// The values of the program's options.
///
/// The parser's own declaration, ``OptionSyntax``, can only be read after parsing. That takes up to two milliseconds, a quarter of
/// the time of a process that looks one key up, so it runs only if there are options, and the values have this list of their own.
struct Options {
  var commands: [Step] = []
  var files: [Step] = []
  var interactive = false
  var output = OutputMode.auto.rawValue
  var null = false
  var namespace: String?
  var readOnly = false
  var create = false
  var yes = false
  var keepGoing = false
  var quiet = false
  var allowForeignOwner = false
  var utc = false
  var noColor = false
  var noPager = false
  var noRc = false
  var timing = false
  var completions: String?
  var man = false
  /// The directory of the store.
  var store: String?
  /// The words after STORE.
  var words: [[UInt8]] = []
  /// The values of --arg and --argjson.
  var variables = Variables()

  init() {}

  init(_ syntax: OptionSyntax) {
    commands = syntax.commands
    files = syntax.files
    interactive = syntax.interactive
    output = syntax.output
    null = syntax.null
    namespace = syntax.namespace
    readOnly = syntax.readOnly
    create = syntax.create
    yes = syntax.yes
    keepGoing = syntax.keepGoing
    quiet = syntax.quiet
    allowForeignOwner = syntax.allowForeignOwner
    utc = syntax.utc
    noColor = syntax.noColor
    noPager = syntax.noPager
    noRc = syntax.noRc
    timing = syntax.timing
    completions = syntax.completions
    man = syntax.man
  }

  /// Commands and files in the order in which they were written.
  var steps: [Step] { (commands + files).sorted { $0.number < $1.number } }

  var mode: OutputMode {
    get throws(ShellError) {
      if let mode = OutputMode(rawValue: output.lowercased()) { return mode }
      let near = Suggestions.near(output, among: OptionSyntax.modeNames)
      throw ShellError(
        .usage, "unknown form of output \(Array(output.utf8))",
        hint: near.map { "did you mean `\($0)`?" }
          ?? "use one of \(OptionSyntax.modeNames.joined(separator: ", "))")
    }
  }
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
