import ArgumentParser
import LarderShell
import ShellLanguage

extension ShellError {
  /// An error of the option parser in the form of every other error.
  static func usage(_ error: any Error) -> ShellError {
    let text = Options.message(for: error).replacing("'", with: "\"")
    let parts = text.split(separator: ". Did you mean ", maxSplits: 1)
    let message = parts[0].prefix(1).lowercased() + parts[0].dropFirst()
    var hint = "`larder --help` lists the options"
    if message.hasPrefix("unknown option"), message.contains("\"--json\"") {
      hint = "use `-o json`"
    } else if parts.count > 1 {
      hint = "did you mean " + parts[1].replacing("\"", with: "`")
    }
    let isUnknown = message.hasPrefix("unknown option")
    return ShellError(
      isUnknown ? .unknownOption : .usage, SafeText(String(message)), hint: SafeText(hint))
  }
}

extension Options {
  /// Reads the arguments; an error in them is like any other error.
  static func reading(_ arguments: ProgramArguments) throws -> Options {
    var options = try parse(arguments.options)
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
