/// The options of the program. Parsing, `--help`, the manual page, completions and hints use the same table.
package enum ProgramOptions {
  package static let shells = ["zsh", "bash", "fish"]

  package static let all: [OptionSpec] = [
    .value("--eval", short: "-e", .subject, "run a command; repeatable", placeholder: "COMMAND"),
    .value("--file", short: "-f", .file, "run a file, - is standard input; repeatable"),
    .flag("--interactive", short: "-i", "the prompt, after -e and -f"),
    .value(
      "--output", short: "-o", .choice(modes),
      "form of output: \(modes.joined(separator: ", "))", placeholder: "MODE"),
    .flag("--null", short: "-0", "end each key with NUL instead of a newline"),
    .value("--namespace", short: "-n", .text, "the namespace to use", placeholder: "NAME"),
    .flag("--read-only", short: "-r", "refuse every change"),
    .flag("--create", "create the store if it does not exist"),
    .flag("--yes", short: "-y", "confirm every bulk change"),
    .flag("--keep-going", short: "-k", "continue after an error"),
    .flag("--quiet", short: "-q", "do not acknowledge changes"),
    .value(
      "--arg", .text, "the value of :NAME in commands, as text; repeatable",
      placeholder: "NAME=VALUE"),
    .value(
      "--argjson", .text, "the value of :NAME in expressions, as JSON; repeatable",
      placeholder: "NAME=JSON"),
    .flag("--allow-foreign-owner", "open a store of another user, to read it"),
    .flag("--utc", "read and show times in UTC"),
    .flag("--no-color", "use no colors"),
    .flag("--no-pager", "do not page long answers"),
    .flag("--no-rc", "do not run the rc file at the prompt"),
    .flag("--timing", "print the duration of each command"),
    .value(
      "--completions", .choice(shells),
      "print completions for a shell: \(shells.joined(separator: ", "))", placeholder: "SHELL"),
    .flag("--man", "print the manual page"),
    .flag("--version", "show the version"),
    .flag("--help", short: "-h", "show the options and examples"),
  ]

  private static let modes = OutputMode.allCases.map(\.rawValue)
  static let excludingCommand: Set = [
    "--eval", "--file", "--interactive", "--completions", "--man", "--version", "--help",
  ]

  package static func option(named name: some StringProtocol) -> OptionSpec? {
    all.first { $0.name == name || $0.short.map { $0 == name } == true }
  }

  package static var list: String {
    DisplayWidth.list(
      all.map { option in
        let short = option.short.map { "\($0), " } ?? "    "
        return (short + option.name + (option.placeholder.map { " \($0)" } ?? ""), option.summary)
      })
  }
}
