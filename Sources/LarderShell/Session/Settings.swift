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
  package var zone = Zone.utc

  package init() {}
}
