import LarderShell
import LarderTerminal
import ShellLanguage

/// Standard error: everything that is no answer.
struct Messages {
  /// Errors are read by a program.
  var isJSON: Bool

  /// Writes an error and gives its exit code.
  func tell(_ error: ShellError) -> Int32 {
    write(isJSON ? error.json : error.scripted)
    return error.code.exitCode
  }

  /// A message that cannot be written has nobody to tell that to.
  func write(_ text: String) {
    do throws(TerminalError) {
      try Terminal.write(text, to: .error)
    } catch {
      return
    }
  }

  /// Whether arguments that could not be read ask for JSON.
  static func isJSON(_ arguments: [String]) -> Bool {
    let modes = ["json", "jsonl"]
    return zip(arguments, arguments.dropFirst()).contains { option, value in
      ["-o", "--output"].contains(option) && modes.contains(value)
    } || arguments.contains { argument in modes.contains { argument == "--output=\($0)" } }
  }
}
