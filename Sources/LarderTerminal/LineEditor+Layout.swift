import CEditline

extension LineEditor {
  /// A place in the rows that the prompt and the line take, as libedit lays them out.
  struct Place: Equatable {
    var row = 0
    var column = 0

    /// The place behind the scalars in a window that is so many cells wide.
    init(after scalars: some Sequence<Unicode.Scalar>, columns: Int) {
      for scalar in scalars { advance(over: scalar, columns: columns) }
    }

    private mutating func advance(over scalar: Unicode.Scalar, columns: Int) {
      switch scalar {
      case "\n":
        self.row += 1
        self.column = 0
      case "\t": step(8 - column % 8, columns)
      default:
        let width = Terminal.width(of: CollectionOfOne(scalar))
        // Control characters are drawn as ^X, a cell each.
        guard let width else {
          for _ in "^X" { step(1, columns) }
          return
        }
        if column + width > columns { step(columns - column, columns) }
        step(width, columns)
      }
    }

    /// A full row is left at once: libedit makes the terminal do the same.
    private mutating func step(_ cells: Int, _ columns: Int) {
      column += cells
      guard column >= columns else { return }
      row += 1
      column = 0
    }
  }

  /// Puts the cursor of the terminal behind the line, so that later output is below it.
  ///
  /// libedit does not learn of it: either the line is over, or `redraw` follows.
  func leaveLine() throws(TerminalError) {
    let line = line
    let here = place(of: line.beforeCursor)
    let end = place(of: line.beforeCursor + line.afterCursor)
    try Terminal.write(
      "\r" + Self.sequence("B", end.row - here.row) + Self.sequence("C", end.column))
  }

  /// Erases the rows of the prompt and the line, and puts the cursor where they began.
  ///
  /// Some terminals wrap the rows again when the width changes, others do not. The first row may then be at one of two
  /// places, and the lower one is taken: some of the old rows may stay, but nothing above them is lost.
  func eraseLine() throws(TerminalError) {
    let before = line.beforeCursor
    let row = min(
      place(of: before).row, place(of: before, columns: drawnColumns).row)
    try Terminal.write("\r" + Self.sequence("A", row) + "\u{1B}[J")
  }

  /// Draws the prompt and the line from the cursor on.
  func redraw() {
    unsafe el_resize(editor)
    drawnColumns = windowColumns
    unsafe cel_refresh(editor)
  }

  var windowColumns: Int { Terminal.size()?.columns ?? 80 }

  func place(of text: String.UnicodeScalarView, columns: Int? = nil) -> Place {
    Place(after: prompt.text.unicodeScalars + text, columns: columns ?? windowColumns)
  }

  static func sequence(_ final: String, _ count: Int) -> String {
    count > 0 ? "\u{1B}[\(count)\(final)" : ""
  }
}
