/// The exit codes of the program, each with its errors. The help, the manual page and the page about the shell come from
/// this table.
package struct ExitCode: Sendable {
  package let code: Int32
  package let meaning: String
  package let errors: [ShellError.Code]

  private init(_ code: Int32, _ meaning: String, _ errors: [ShellError.Code] = []) {
    self.code = code
    self.meaning = meaning
    self.errors = errors
  }

  package static let all = [
    ExitCode(0, "success, also for an empty list"),
    ExitCode(
      1, "the answer is no: no such key or namespace; diff or verify found something",
      [.noSuchKey, .noSuchNamespace, .noSuchField]),
    ExitCode(
      2, "usage or syntax",
      [
        .usage, .unknownCommand, .unknownOption, .badTime, .badSize, .badPattern, .badExpression,
        .badJSON, .undefinedArgument, .promptOnly,
      ]),
    ExitCode(3, "the store cannot be opened", [.cannotOpen, .noSuchStore, .foreignOwner]),
    ExitCode(
      4, "the store or the system failed: busy, disk full, input or output, damaged, encrypted",
      [.busy, .full, .io, .damaged, .unreadable]),
    ExitCode(
      5, "refused, nothing changed: read-only, needs --yes, declined, over a limit, exists",
      [.readOnly, .needsYes, .declined, .overLimit, .exists, .changedMeanwhile]),
    ExitCode(entryExists, "set --if-absent: the entry exists, and nothing changed"),
    ExitCode(130, "interrupted", [.interrupted]),
  ]

  /// The exit code of `set --if-absent` if the entry exists. This is not an error, so a script prints nothing.
  package static let entryExists: Int32 = 6

  /// The title, then a line for each code.
  package static var list: String {
    "exit codes:\n"
      + all.map { "  \(DisplayWidth.pad("\($0.code)", to: 3))  \($0.meaning)\n" }.joined()
  }
}

extension ShellError.Code {
  /// The exit code of a process that ends with this error.
  package var exitCode: Int32 {
    guard let exit = ExitCode.all.first(where: { $0.errors.contains(self) }) else {
      preconditionFailure("\(rawValue) has no exit code")
    }
    return exit.code
  }
}
