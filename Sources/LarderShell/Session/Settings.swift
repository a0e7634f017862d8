package import ShellLanguage

/// How a session answers.
package struct Settings {
  package var mode = OutputMode.auto
  /// Answers go to a terminal.
  package var isTerminal = false
  package var hasColor = false
  /// Box and block characters can be drawn.
  package var hasUnicode = true
  /// A NUL ends each key.
  package var endsWithNUL = false
  /// Every question is answered yes.
  package var answersYes = false
  /// What a change did is not said.
  package var isQuiet = false
  /// Answers longer than the screen go through a pager.
  package var usesPager = true
  /// Each command says how long it took.
  package var showsTiming = false
  /// What may come next is shown while a person types.
  package var showsHints = true
  /// How many rows a list shows at once; nil is what fits.
  package var rowLimit: Int?
  /// Times are read and shown in UTC, whatever the zone here.
  package var isUTC = false
  /// The zone here.
  package var localZone = Zone.utc
  package var zone: Zone { isUTC ? .utc : localZone }

  package init() {}
}
