import Larder
import LarderShell
import LarderTerminal
import ShellLanguage

extension Program {
  /// The text that `larder` prints without arguments and without LARDER_STORE.
  static let introduction = """
    larder STORE     open a store
    larder demo      create a small store to try
    larder --help    options and examples

    """

  /// Answers `larder help [COMMAND|TOPIC]`, which needs no store. A store with the name `help` is `./help`.
  static func runHelp(_ options: Options, _ environment: [String: String]) throws -> Int32 {
    guard options.words.count <= 1 else {
      throw ShellError(
        .usage, "`larder help` takes one command or topic",
        hint: "`larder help [COMMAND|TOPIC]`; a store named help is opened as `larder ./help`")
    }
    let presentation = presentation(options, environment)
    let reply = try Help(.standard).reply(about: options.words.first, for: presentation)
    try Terminal.write(presentation.bytes(of: reply).span)
    return 0
  }

  /// Answers `salvage DIRECTORY` for a store that cannot be opened.
  static func runSalvage(
    of store: String, to target: String, _ storeOptions: Store.Options, _ options: Options,
    _ environment: [String: String]
  ) throws -> Int32 {
    let salvage = try Salvage.run(store, target, storeOptions) { _ in !Interrupts.isPending }
    guard !options.has("--quiet") else { return 0 }
    try Terminal.write(presentation(options, environment).bytes(of: salvage.reply).span)
    return 0
  }

  /// The form of an answer without a session. Such an answer has no times.
  private static func presentation(
    _ options: Options, _ environment: [String: String]
  ) -> Presentation {
    let settings = Settings(options, environment)
    return Presentation(
      settings.mode, isTerminal: settings.isTerminal, width: Terminal.size()?.columns,
      hasUnicode: settings.hasUnicode, clock: Options.clock)
  }

  /// The directory that `larder demo [DIRECTORY]` creates; nil if the arguments are not this command. A store with the name
  /// `demo` is `./demo`.
  static func demoDirectory(_ words: [[UInt8]]) throws(ShellError) -> String? {
    guard words.first == Array("demo".utf8) else { return nil }
    guard words.count > 1 else { return DemoStore.directory }
    guard words.count == 2, words[1].first != UInt8(ascii: "-"),
      let path = String(validating: words[1], as: UTF8.self), !path.isEmpty
    else {
      throw ShellError(
        .usage, "`larder demo` takes a directory and nothing else",
        hint: "`larder demo [DIRECTORY]`; a store named demo is opened as `larder ./demo`")
    }
    return path
  }

  /// Creates the store, then opens the prompt or, without a terminal, prints the path.
  static func runDemo(at path: String, _ environment: [String: String]) throws -> Int32 {
    do {
      try DemoStore.create(at: path)
    } catch let error as LarderError {
      throw ShellError(error)
    }
    guard Terminal.isTerminal(.input), Terminal.isTerminal(.output) else {
      try Terminal.write("\(SafeText(path))\n")
      return 0
    }
    try Terminal.write(
      "created \(SafeText(path)). Commands to try:\n\n"
        + DemoStore.suggestions.map { "  \($0)\n" }.joined() + "\n")
    return try run(Options([Array(path.utf8)]), environment)
  }
}
