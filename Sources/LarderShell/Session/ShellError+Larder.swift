package import Larder
package import ShellLanguage

extension ShellError {
  /// An error of a store that is open.
  package init(_ error: LarderError) {
    let (code, hint): (Code, SafeText?) =
      switch error.code {
      case .notFound: (.noSuchStore, nil)
      case .cannotOpen, .foreign, .newerFormat, .needsRecovery: (.cannotOpen, nil)
      case .damaged: (.damaged, "`verify` lists the damage")
      case .undecodable: (.damaged, nil)
      case .unreadable: (.unreadable, Self.unreadableHint)
      case .busy: (.busy, nil)
      case .full: (.full, nil)
      case .failed, .closed, .forked, .insideWrite, .timedOut, .notStored, .loadCycle,
        .unreachable, .unanswered, .pending:
        (.io, nil)
      case .readOnly: (.readOnly, Self.readOnlyHint)
      case .overLimit: (.overLimit, nil)
      case .exists: (.exists, nil)
      case .noSuchNamespace: (.noSuchNamespace, "`namespaces` lists them")
      case .badCursor, .invalidArgument, .noSuchOwner, .unencodable: (.usage, nil)
      }
    self.init(code, "\(error.message)", hint: hint ?? error.hint.map { SafeText($0) })
  }

  /// The library's own hint is for the program that opens the store with the key.
  static let unreadableHint: SafeText =
    "`keys`, `info`, `count`, `sizes`, `expire`, `evict` and others that read no value work; the application that wrote the values can read them"

  static let readOnlyHint: SafeText =
    "start the shell without --read-only, as the user that owns the store"

  /// A command that changes a store which may only be looked at.
  static func readOnly(_ command: String) -> ShellError {
    ShellError(
      .readOnly, "the store is open read-only, and \(command) changes it",
      hint: readOnlyHint)
  }

  /// An error of a store that could not be opened.
  package static func opening(_ error: LarderError) -> ShellError {
    ShellError(.cannotOpen, "\(error.message)", hint: error.hint.map { SafeText($0) })
  }
}
