import LarderSystem

extension ArgumentReader {
  /// The error for an option that the command does not have. `next` is the word after the option if this word is plain.
  func unknown(_ option: OptionWord, before next: Word?) -> ShellError {
    ShellError(
      .unknownOption, "\(command.name) has no option \(Array(option.spelling.utf8))",
      at: option.range, hint: hint(for: option, before: next))
  }

  private func hint(for option: OptionWord, before next: Word?) -> SafeText {
    let value = (option.value ?? next).map { Quoting.typed($0.bytes) }
    if line.source == .command, let moved = ProgramOptions.option(named: option.spelling),
      !ProgramOptions.excludingCommand.contains(moved.name), moved.kind == nil || value != nil
    {
      let word = moved.kind == nil || option.value != nil ? nil : next
      return programOptionsFirst([option.range] + [word?.range].compactMap(\.self))
    }
    if option.spelling == "--ttl", command.selection != nil {
      return "use `--expiring\(value.map { " " + $0 } ?? "")`"
    }
    if ["--help", "-h"].contains(option.spelling) { return "`help \(command.name)`" }
    if option.spelling == "--output" { return "use `output \(value ?? "MODE")` before the command" }
    if option.spelling == "--json" { return "use `-o json` before the command, or `output json`" }
    let own = command.ownOptions.map(\.name)
    if !option.spelling.hasPrefix("--") {
      // Other tools have short options such as `-l` for `--long` and `-f` for `--yes`, so the hint names the long option.
      let long =
        own.first { $0.hasPrefix("-" + option.spelling) }
        ?? own.first { option.spelling == "-f" && $0 == "--yes" }
      if let long { return "did you mean `\(long)`?" }
    } else if let near = Suggestions.question(option.spelling, among: command.options.map(\.name)) {
      return near
    }
    let key: SafeText =
      line.source == .command
      ? "a key that begins with - goes behind --" : "quote a key that begins with -"
    return own.isEmpty
      ? "`help \(command.name)`; \(key)" : "it has \(own.joined(separator: " ")); \(key)"
  }

  /// The hint for program options that follow the command: `keys @a -o json` becomes `larder STORE -o json keys @a`.
  ///
  /// - Parameter moved: The ranges of these options and of their values.
  func programOptionsFirst(_ moved: [Range<Int>]) -> SafeText {
    let rest = line.arguments.map(\.range).filter { !moved.contains($0) }
    let words = (moved + rest).map { String(decoding: line.text(at: $0), as: UTF8.self).shellWord }
    return "put program options before the command: `larder STORE \(words.joined(separator: " "))`"
  }
}
