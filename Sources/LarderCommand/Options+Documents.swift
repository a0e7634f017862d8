import ArgumentParser
import LarderShell
import ShellLanguage

extension Options {
  /// The document to print instead of running: the manual page, or completions for a shell; nil if none
  /// is requested.
  var document: String? {
    get throws(ShellError) {
      if man {
        return ManualPage(
          .standard, version: LarderCommand.version, options: Self.optionsHelp
        ).text
      }
      guard let name = completions else { return nil }
      let shells = CompletionShell.allCases.map(\.rawValue)
      guard let shell = CompletionShell(rawValue: name.lowercased()) else {
        throw ShellError(
          .usage, "there are no completions for \(Array(name.utf8))",
          hint: "use one of \(shells.joined(separator: ", "))")
      }
      return OptionSyntax.completionScript(for: shell) + "\n"
    }
  }

  /// The lines of `--help` that list the options.
  private static var optionsHelp: String {
    let lines = OptionSyntax.helpMessage(columns: 78).split(
      separator: "\n", omittingEmptySubsequences: false)
    let start = lines.firstIndex { $0.hasPrefix("OPTIONS") }.map { $0 + 1 } ?? lines.startIndex
    return lines[start...].joined(separator: "\n")
  }
}
