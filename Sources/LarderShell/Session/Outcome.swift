import ShellLanguage

/// What became of a command that ran.
package enum Outcome: Sendable, Hashable {
  case done
  /// It answered, and the answer is one that a script's exit code tells, such as a key that is not
  /// there.
  case told(Int32)
  /// The session is to end.
  case quit(Int32)
}
