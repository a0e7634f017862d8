import ArgumentParser
import LarderShell
import ShellLanguage

extension ShellError {
  /// What the parser of options says, in the form of every other error.
  static func usage(_ error: any Error) -> ShellError {
    let text = Options.message(for: error)
    let parts = text.split(separator: ". Did you mean ", maxSplits: 1)
    let message = parts[0].prefix(1).lowercased() + parts[0].dropFirst()
    let hint = parts.count > 1 ? "did you mean \(parts[1])" : "larder --help lists the options"
    return ShellError(.usage, SafeText(message), hint: SafeText(hint))
  }
}

extension Options {
  /// Reads the arguments; what is wrong with them is an error like any other.
  static func reading(_ arguments: [String]) throws -> Options {
    let options = try parse(arguments)
    if let word = options.surplus.first {
      throw ShellError(
        .usage, "\(word) follows the store, and commands are no arguments",
        hint: "larder \(options.store ?? "STORE") -e '\(options.surplus.joined(separator: " "))'")
    }
    if options.create, options.readOnly {
      throw ShellError(
        .usage, "--create and --read-only exclude each other", hint: "leave one out")
    }
    return options
  }
}
