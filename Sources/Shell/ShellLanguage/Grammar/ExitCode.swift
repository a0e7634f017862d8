/// The exit codes of the program, each with its errors. The help and the documentation use this table.
package enum ExitCode {
  package static let all: [(code: Int32, meaning: String, errors: [ShellError.Code])] = [
    (0, "success, also if the list is empty", []),
    (
      1, "a key, namespace or field does not exist, diff found a difference, or verify a fault",
      [.noSuchKey, .noSuchNamespace, .noSuchField]
    ),
    (
      2, "a command or an option has a wrong name, use or syntax",
      [
        .usage, .unknownCommand, .unknownOption, .badTime, .badSize, .badPattern, .badExpression,
        .badJSON, .undefinedArgument, .promptOnly,
      ]
    ),
    (3, "the store cannot be opened", [.cannotOpen, .noSuchStore, .foreignOwner]),
    (
      4, "the store is busy, full or damaged, a value is unreadable, or reading or writing failed",
      [.busy, .full, .io, .damaged, .unreadable]
    ),
    (
      5, "the store is read-only, nobody confirmed, a limit is too low, or an entry or file exists",
      [.readOnly, .needsYes, .declined, .overLimit, .exists, .changedMeanwhile]
    ),
    (entryExists, "set --if-absent found an entry, and changed nothing", []),
    (130, "the command was interrupted", [.interrupted]),
  ]

  /// The exit code of `set --if-absent` if the entry exists. A script expects this case, so the program prints no error.
  package static let entryExists: Int32 = 6
}

extension ShellError.Code {
  package var exitCode: Int32 { ExitCode.all.first { $0.errors.contains(self) }!.code }
}
