import ArgumentParser
import LarderShell
import ShellLanguage

extension ShellError {
  /// An error of the option parser in the form of every other error.
  static func usage(_ error: any Error) -> ShellError {
    let text = OptionSyntax.message(for: error).replacing("'", with: "\"")
    // The parser's own suggestion is any option, however different.
    let parts = text.split(separator: ". Did you mean ", maxSplits: 1)
    let message = parts[0].prefix(1).lowercased() + parts[0].dropFirst()
    guard message.hasPrefix("unknown option") else {
      return ShellError(
        .usage, SafeText(String(message)), hint: "`larder --help` lists the options")
    }
    let words = message.split(separator: "\"", omittingEmptySubsequences: false)
    let hint = words.count > 1 ? hint(for: String(words[1])) : nil
    return ShellError(
      .unknownOption, SafeText(String(message)), hint: hint ?? "`larder --help` lists the options")
  }

  /// The words to type in place of an option that the program does not have.
  private static func hint(for option: String) -> SafeText? {
    if option == "--json" { return "use `-o json`" }
    let names = OptionSyntax.names
    if let near = Suggestions.question(option, among: names) { return near }
    let owner = CommandTable.standard.commands.first { command in
      command.options.contains { $0.name == option }
    }
    return owner.map {
      "an option of a command goes behind it: `larder STORE \($0.name) \(option)`"
    }
  }
}

extension Options {
  /// Reads the arguments; an error in them is like any other error.
  static func reading(_ arguments: ProgramArguments) throws -> Options {
    var options =
      arguments.options.isEmpty ? Options() : Options(try OptionSyntax.parse(arguments.options))
    options.store = arguments.store
    options.words = arguments.command
    options.variables = arguments.variables
    if options.create, options.readOnly {
      throw ShellError(
        .usage, "--create and --read-only exclude each other", hint: "remove one of them")
    }
    if !options.words.isEmpty, !options.steps.isEmpty || options.interactive {
      throw ShellError(
        .usage, "a command and \(options.interactive ? "-i" : "-e or -f") exclude each other",
        hint: "use -e for each command")
    }
    return options
  }
}
