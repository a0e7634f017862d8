import LarderSystem

/// The error for an option that a command does not have.
struct UnknownOption {
  private let option: OptionWord
  private let next: Argument?
  private let command: CommandSpec
  private let line: CommandLine

  init(_ option: OptionWord, next: Argument?, _ command: CommandSpec, _ line: CommandLine) {
    self.option = option
    self.next = next
    self.command = command
    self.line = line
  }

  /// The options of the program that people write behind a command, and those that take a value.
  private static let program: [String: Bool] = [
    "-o": true, "--output": true, "-e": true, "--eval": true, "-f": true, "--file": true,
    "-n": true, "--namespace": true, "--arg": true, "--argjson": true, "-r": false,
    "--read-only": false, "-k": false, "--keep-going": false, "-q": false, "--quiet": false,
    "--create": false, "--utc": false, "--no-color": false, "--no-pager": false,
    "--timing": false, "--null": false, "-y": false, "--allow-foreign-owner": false,
  ]

  var error: ShellError {
    let message: SafeText = "\(command.name) has no option \(Array(option.spelling.utf8))"
    return ShellError(.unknownOption, message, at: option.range, hint: hint)
  }

  private var hint: SafeText {
    if line.source == .command, let takesValue = Self.program[option.spelling] {
      return "put program options before the command: `\(reordered(takesValue))`"
    }
    if option.spelling == "--ttl", command.selection != nil {
      return "use `--expiring\(text(of: option.value.map(\.bytes) ?? nextWord))`"
    }
    if option.spelling == "--help" { return "`help \(command.name)`" }
    if ["-o", "--output"].contains(option.spelling) {
      let mode = option.value.map(\.bytes) ?? nextWord ?? Array("MODE".utf8)
      return "use `output\(text(of: mode))` before the command"
    }
    if option.spelling == "--json" { return "use `-o json` before the command, or `output json`" }
    let names = command.options.map(\.name)
    if let near = Suggestions.question(option.spelling, among: names) { return near }
    return command.ownOptions.isEmpty
      ? "`help \(command.name)`; quote a key that begins with -"
      : "it has \(command.ownOptions.map(\.name).joined(separator: " ")); quote a key that begins with -"
  }

  private var nextWord: [UInt8]? {
    if case .word(let word) = next { word.bytes } else { nil }
  }

  private func text(of value: [UInt8]?) -> SafeText {
    value.map { " \(Quoting.typed($0))" } ?? ""
  }

  /// `larder S -o json keys @a` for `larder S keys @a -o json`.
  private func reordered(_ takesValue: Bool) -> String {
    var moved = [option.range]
    if takesValue, option.value == nil, case .word(let word) = next { moved.append(word.range) }
    func text(_ ranges: [Range<Int>]) -> String {
      ranges.map { String(decoding: line.text[$0], as: UTF8.self).shellWord }.joined(separator: " ")
    }
    let rest = line.arguments.map(\.range).filter { !moved.contains($0) }
    return "larder STORE \(text(moved)) \(text(rest))"
  }
}
