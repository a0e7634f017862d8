/// The exit codes of the program, each with its errors. Help and documents come from this table.
package enum ExitCode {
  package static let all: [(code: Int32, meaning: String, errors: [ShellError.Code])] = [
    (0, "success, also for an empty list", []),
    (
      1, "the answer is no: no such key or namespace; diff or verify found something",
      [.noSuchKey, .noSuchNamespace, .noSuchField]
    ),
    (
      2, "usage or syntax",
      [
        .usage, .unknownCommand, .unknownOption, .badTime, .badSize, .badPattern, .badExpression,
        .badJSON, .undefinedArgument, .promptOnly,
      ]
    ),
    (3, "the store cannot be opened", [.cannotOpen, .noSuchStore, .foreignOwner]),
    (
      4, "the store or the system failed: busy, disk full, input or output, damaged, encrypted",
      [.busy, .full, .io, .damaged, .unreadable]
    ),
    (
      5, "refused, nothing changed: read-only, needs --yes, declined, over a limit, exists",
      [.readOnly, .needsYes, .declined, .overLimit, .exists, .changedMeanwhile]
    ),
    (entryExists, "set --if-absent: the entry exists, and nothing changed", []),
    (130, "interrupted", [.interrupted]),
  ]

  /// The exit code of `set --if-absent` if the entry exists. A script expects this case, so the program prints no error.
  package static let entryExists: Int32 = 6

  package static var list: String {
    "exit codes:\n" + DisplayWidth.list(all.map { ("\($0.code)", $0.meaning) })
  }
}

extension ShellError.Code {
  package var exitCode: Int32 { ExitCode.all.first { $0.errors.contains(self) }!.code }
}
