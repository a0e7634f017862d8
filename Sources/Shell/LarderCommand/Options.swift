import LarderShell
import ShellLanguage

/// The arguments of the program: its own options, the store, and the words of a command.
///
/// The first word that is no program option is STORE and the next one is COMMAND. Every word from
/// COMMAND on belongs to the command and is not parsed here.
struct Options {
  /// Something to run, in the order in which it was written.
  enum Step: Equatable {
    case command(String)
    case file(String)
  }

  /// Something to print in place of running.
  enum Document {
    case help, manual, version
    case completions(String)
  }

  var steps: [Step] = []
  var interactive = false
  private(set) var mode = OutputMode.auto
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
  var document: Document?
  /// The values of --arg and --argjson.
  var variables = Variables()
  /// The directory of the store.
  private(set) var store: String?
  /// The words from COMMAND on.
  private(set) var words: [[UInt8]] = []

  init(_ arguments: [[UInt8]]) throws(ShellError) {
    var mode = OutputMode.auto
    try self.init(arguments, mode: &mode)
  }

  /// - Parameter mode: Becomes the form of output that the arguments select, also if some of them are wrong.
  init(_ arguments: [[UInt8]], mode: inout OutputMode) throws(ShellError) {
    defer { mode = self.mode }
    var rest = arguments[...]
    var optionsEnded = false
    var wrong: ShellError?
    while let word = rest.popFirst() {
      let isOption = !optionsEnded && word.first == UInt8(ascii: "-") && word.count > 1
      if !isOption, store != nil {
        words = [word] + rest
        break
      }
      do throws(ShellError) {
        let text = try Self.text(word, at: arguments.count - rest.count, isStore: !isOption)
        if !isOption {
          store = text
        } else if text == "--" {
          optionsEnded = true
        } else {
          try take(text, from: &rest, of: arguments.count)
        }
      } catch {
        wrong = wrong ?? error
      }
    }
    if let wrong { throw wrong }
    if create, readOnly {
      throw ShellError(
        .usage, "--create and --read-only exclude each other", hint: "remove one of them")
    }
    if null, ![.auto, .plain, .raw].contains(self.mode) {
      throw ShellError(
        .usage, "-0 and -o \(self.mode.rawValue) exclude each other",
        hint: "-0 is for plain output; that of --stdin goes behind the command")
    }
    if !words.isEmpty, !steps.isEmpty || interactive {
      throw ShellError(
        .usage, "a command and \(interactive ? "-i" : "-e or -f") exclude each other",
        hint: "use -e for each command")
    }
  }

  mutating func set(mode name: String) throws(ShellError) {
    guard let mode = OutputMode(rawValue: name.lowercased()) else {
      let near = Suggestions.question(name, among: ProgramOption.modeNames)
      throw ShellError(
        .usage, "unknown form of output \(Array(name.utf8))",
        hint: near ?? "use one of \(ProgramOption.modeNames.joined(separator: ", "))")
    }
    self.mode = mode
  }

  /// Takes `--name`, `--name=value`, or short options such as `-kq`, `-o json` and `-ojson`.
  private mutating func take(
    _ word: String, from rest: inout ArraySlice<[UInt8]>, of count: Int
  ) throws(ShellError) {
    if word.hasPrefix("--") {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let option = ProgramOption.all.first(where: { $0.name == parts[0] }) else {
        throw Self.unknown(String(parts[0]))
      }
      try take(option, written: parts[0], parts.dropFirst().first, from: &rest, of: count)
      return
    }
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = ProgramOption.all.first(where: { $0.short == letter }) else {
        throw Self.unknown(word)
      }
      var joined: Substring?
      if option.placeholder != nil, !letters.isEmpty {
        joined = letters.first == "=" ? letters.dropFirst() : letters
        letters = ""
      }
      try take(option, written: "-\(letter)", joined, from: &rest, of: count)
    }
  }

  private mutating func take(
    _ option: ProgramOption, written name: Substring, _ joined: Substring?,
    from rest: inout ArraySlice<[UInt8]>, of count: Int
  ) throws(ShellError) {
    guard let placeholder = option.placeholder else {
      guard joined == nil else {
        throw ShellError(.usage, "\(String(name)) takes no value", hint: "write `\(String(name))`")
      }
      if case .flag(let set) = option.action { set(&self) }
      return
    }
    guard let value = joined.map({ Array($0.utf8) }) ?? rest.popFirst() else {
      throw ShellError(
        .usage, "\(String(name)) needs a value", hint: "write `\(String(name)) \(placeholder)`")
    }
    switch option.action {
    case .flag: break
    case .bytes(let set): try set(&self, value)
    case .text(let set): try set(&self, Self.text(value, at: count - rest.count))
    }
  }

  private static func text(
    _ word: [UInt8], at position: Int, isStore: Bool = false
  ) throws(ShellError) -> String {
    if let text = String(validating: word, as: UTF8.self) { return text }
    throw ShellError(
      .usage, "argument \(position) is not UTF-8",
      hint: isStore
        ? "rename the directory so that its whole path is valid UTF-8"
        : "pass such a key behind the command: larder STORE get @ns -- KEY")
  }

  private static func unknown(_ option: String) -> ShellError {
    ShellError(
      .unknownOption, "unknown option \(Array(option.utf8))",
      hint: hint(for: option) ?? "`larder --help` lists the options")
  }

  /// The words to type in place of an option that the program does not have.
  private static func hint(for option: String) -> SafeText? {
    if option == "--json" { return "use `-o json`" }
    if let near = Suggestions.question(option, among: ProgramOption.all.map(\.name)) { return near }
    let owner = CommandTable.standard.commands.first { command in
      command.options.contains { $0.name == option }
    }
    return owner.map {
      "an option of a command goes behind it: `larder STORE \($0.name) \(option)`"
    }
  }
}
