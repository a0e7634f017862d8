import ShellLanguage

/// The result of a command that ran.
package enum Outcome: Sendable, Hashable {
  case done
  /// It answered, and the answer has an exit code, such as `no`.
  case told(Int32)
  /// The session is to end.
  case quit(Int32)
}
