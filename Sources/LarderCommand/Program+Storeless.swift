import Larder
import LarderShell
import LarderTerminal
import ShellLanguage

extension Program {
  /// `larder` without a store.
  static let introduction = """
    larder STORE     open a store
    larder demo      create a small store to try
    larder --help    options and examples

    """

  /// The text of `larder help [COMMAND|TOPIC]`, which needs no store; nil if the arguments say something else. A store of
  /// that name is `./help`.
  static func help(_ words: [[UInt8]]) throws(ShellError) -> String? {
    guard words.first == Array("help".utf8) else { return nil }
    let help = Help(.standard)
    switch words.count {
    case 1: return help.overview
    case 2: return try help.text(about: words[1])
    default:
      throw ShellError(
        .usage, "`larder help` takes one command or topic",
        hint: "`larder help [COMMAND|TOPIC]`; a store named help is opened as `larder ./help`")
    }
  }

  /// The directory that `larder demo [DIRECTORY]` creates; nil if the arguments say something else. A store of that
  /// name is `./demo`.
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

  /// Creates the store and opens the prompt; without a terminal it prints the path.
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
