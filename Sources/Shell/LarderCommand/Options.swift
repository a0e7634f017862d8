import LarderShell
import ShellLanguage

/// The arguments of the program: the options of the program, the store, and the words of a command. The first word that is
/// neither an option of the program nor the value of an option is STORE. The next word of this kind is COMMAND. COMMAND and all
/// words after COMMAND belong to the command, and are not parsed here.
struct Options {
  /// A command or file to run. The steps run in the order of the arguments.
  enum Step: Equatable {
    case command(String)
    case file(String)
  }

  private(set) var steps: [Step] = []
  private(set) var mode = OutputMode.auto
  private(set) var namespace: String?
  /// A text that the program prints instead of running commands.
  private(set) var document: String?
  private(set) var variables = Variables()
  private var flags: Set<String> = []
  private(set) var store: String?
  private(set) var words: [[UInt8]] = []
  /// The first error of the arguments. The other properties describe the arguments that have no error.
  private(set) var error: ShellError?
  /// The unread arguments. Their first index is the number of the arguments that were read.
  private var rest: ArraySlice<[UInt8]>

  init(_ arguments: [[UInt8]]) {
    rest = arguments[...]
    var optionsEnded = false
    while let word = rest.popFirst() {
      let isOption = !optionsEnded && word.first == UInt8(ascii: "-") && word.count > 1
      if !isOption, store != nil {
        words = [word] + rest
        break
      }
      do throws(ShellError) {
        let text = try self.text(of: word, isStore: !isOption)
        if !isOption {
          store = text
        } else if text == "--" {
          optionsEnded = true
        } else {
          try take(text)
        }
      } catch { self.error = self.error ?? error }
    }
    error = error ?? contradiction
  }

  private var contradiction: ShellError? {
    if has("--create"), has("--read-only") {
      return ShellError(
        .usage, "--create and --read-only exclude each other", hint: "remove one of them")
    }
    if has("--null"), ![.auto, .plain, .raw].contains(mode) {
      return ShellError(
        .usage, "-0 and -o \(mode.rawValue) exclude each other",
        hint: "-0 is for plain output; that of --stdin goes behind the command")
    }
    if !words.isEmpty, !steps.isEmpty || has("--interactive") {
      return ShellError(
        .usage, "a command and \(has("--interactive") ? "-i" : "-e or -f") exclude each other",
        hint: "use -e for each command")
    }
    return nil
  }

  func has(_ flag: String) -> Bool { flags.contains(flag) }

  /// Reads `--name`, `--name=value`, or short options such as `-kq`, `-o json` and `-ojson`.
  private mutating func take(_ word: String) throws(ShellError) {
    if word.hasPrefix("--") {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let option = ProgramOptions.option(named: parts[0]) else {
        throw Self.unknown(String(parts[0]))
      }
      try take(option, written: parts[0], parts.dropFirst().first)
      return
    }
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = ProgramOptions.option(named: "-\(letter)") else {
        throw Self.unknown(word)
      }
      var joined: Substring?
      if option.placeholder != nil, !letters.isEmpty {
        joined = letters.first == "=" ? letters.dropFirst() : letters
        letters = ""
      }
      try take(option, written: "-\(letter)", joined)
    }
  }

  private mutating func take(
    _ option: OptionSpec, written name: Substring, _ joined: Substring?
  ) throws(ShellError) {
    guard let placeholder = option.placeholder else {
      guard joined == nil else {
        throw ShellError(.usage, "\(String(name)) takes no value", hint: "write `\(String(name))`")
      }
      switch option.name {
      case "--help": document = Self.help
      case "--man": document = ManualPage(.standard, version: LarderCommand.version).text
      case "--version": document = "larder \(LarderCommand.version)\n"
      default: flags.insert(option.name)
      }
      return
    }
    guard let value = joined.map({ Array($0.utf8) }) ?? rest.popFirst() else {
      throw ShellError(
        .usage, "\(String(name)) needs a value", hint: "write `\(String(name)) \(placeholder)`")
    }
    // The value of a variable need not be UTF-8, so the exact bytes are used.
    if ["--arg", "--argjson"].contains(option.name) {
      return try variables.define(value, isJSON: option.name == "--argjson")
    }
    let text = try text(of: value)
    let word = Word(value, isBare: true, at: 0..<0)
    switch (option.name, try option.kind?.value(of: word, Self.clock)) {
    case ("--eval", _): steps.append(.command(text))
    case ("--file", _): steps.append(.file(text))
    case ("--output", let name as String): mode = OutputMode(rawValue: name)!
    case ("--completions", let name as String): document = CompletionScript.text(for: name)
    default: namespace = text
    }
  }

  /// A clock for parsing options. No option of the program is a time, so the time of this clock does not matter.
  static let clock = WallClock(now: UnixTime(milliseconds: 0), zone: .utc)

  private func text(of word: [UInt8], isStore: Bool = false) throws(ShellError) -> String {
    if let text = String(validating: word, as: UTF8.self) { return text }
    throw ShellError(
      .usage, "argument \(rest.startIndex) is not UTF-8",
      hint: isStore
        ? "rename the directory so that its whole path is valid UTF-8"
        : "pass such a key behind the command: larder STORE get @ns -- KEY")
  }

  private static func unknown(_ option: String) -> ShellError {
    let near = Suggestions.question(option, among: ProgramOptions.all.map(\.name))
    let owner = CommandTable.standard.commands.first { command in
      command.options.contains { $0.name == option }
    }
    let behind: SafeText? = owner.map {
      "an option of a command goes behind it: `larder STORE \($0.name) \(option)`"
    }
    return ShellError(
      .unknownOption, "unknown option \(Array(option.utf8))",
      hint: option == "--json"
        ? "use `-o json`" : near ?? behind ?? "`larder --help` lists the options")
  }
}
