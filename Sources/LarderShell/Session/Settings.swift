package import ShellLanguage

/// How a session reads commands and writes answers.
package struct Settings {
  package var mode = OutputMode.auto
  /// Answers go to a terminal.
  package var isTerminal = false
  package var hasColor = false
  /// Box and block characters can be drawn.
  package var hasUnicode = true
  /// NUL ends each key.
  package var endsWithNUL = false
  /// Every bulk change is confirmed: `larder --yes`.
  package var answersYes = false
  /// A person at the prompt is asked before a bulk change.
  package var confirmsBulkChanges = true
  /// Changes are not acknowledged.
  package var isQuiet = false
  /// Answers longer than the screen go through a pager.
  package var usesPager = true
  /// The duration of each command is printed.
  package var showsTiming = false
  /// Lines typed at the prompt are kept in the history file.
  package var keepsHistory = true
  /// Hints appear behind the line while a person types.
  package var showsHints = true
  /// The rows of a list that appear at once; nil for what fits the window.
  package var rowLimit: Int?
  /// Times are read and shown in UTC instead of the local zone.
  package var isUTC = false
  /// The time zone of this computer.
  package var localZone = Zone.utc
  package var zone: Zone { isUTC ? .utc : localZone }

  package init() {}
}
