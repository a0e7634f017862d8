import CEditline

/// Draws the prompt and the line with colors and a hint. libedit can draw neither colors nor hints.
@safe final class LineDisplay {
  /// A place in the rows of the prompt and the line. libedit decides how the text is divided into rows.
  struct Place: Equatable {
    var row = 0
    var column = 0

    /// The place after the scalars in a window of this width in cells.
    init(after scalars: some Sequence<Unicode.Scalar>, columns: Int) {
      for scalar in scalars {
        if scalar == "\n" {
          row += 1
          column = 0
        } else if scalar == "\t" {
          step(8 - column % 8, columns)
        } else if let width = Terminal.width(of: scalar) {
          if column + width > columns { step(columns - column, columns) }
          step(width, columns)
        } else {
          // libedit draws a control character as ^X, so the character needs two cells.
          for _ in "^X" { step(1, columns) }
        }
      }
    }

    /// Moves by a number of cells. When a row is full, libedit begins the next row, so this function does so, too.
    private mutating func step(_ cells: Int, _ columns: Int) {
      column += cells
      guard column >= columns else { return }
      row += 1
      column = 0
    }
  }

  /// The prompt as a C string, which libedit needs.
  private(set) var colored: UnsafeMutablePointer<CChar>?
  private let editor: OpaquePointer
  private let showsColors: Bool
  private let hint: LineEditor.Hint
  private var highlight: LineEditor.Highlight = { _ in [] }
  private var prompt = Prompt("")
  private var isHinting = false
  private var isPainted = false
  /// The last drawn line if it contains characters without a width.
  private var settled: String.UnicodeScalarView?
  /// The width for which the rows on the screen were drawn.
  private var drawnColumns = 80

  @unsafe init(of editor: OpaquePointer, showsColors: Bool, hint: @escaping LineEditor.Hint) {
    unsafe self.editor = editor
    self.showsColors = showsColors
    self.hint = hint
  }

  deinit { unsafe free(colored) }

  private var line: LineBuffer.Line { unsafe LineBuffer(of: editor).line }

  func begin(_ prompt: Prompt, _ highlight: @escaping LineEditor.Highlight) {
    self.prompt = prompt
    self.highlight = highlight
    unsafe free(colored)
    unsafe colored = strdup(showsColors ? prompt.colored(mark: "\u{1}") : prompt.text)
    isPainted = false
    settled = nil
    unsafe el_resize(editor)
    drawnColumns = windowColumns
  }

  /// Moves the cursor of the terminal to the end of the line, so that output after a newline is below the line. libedit does not
  /// know of the move. So afterwards the input of the line must have ended, or the caller must call `redraw`.
  func leaveLine() throws(TerminalError) {
    let line = line
    let here = place(of: line.beforeCursor)
    let end = place(of: line.beforeCursor + line.afterCursor)
    try Terminal.write(
      "\r" + Self.sequence("B", end.row - here.row) + Self.sequence("C", end.column))
  }

  /// Erases the rows of the prompt and the line, and moves the cursor to the place at which these rows began. When the width
  /// changes, some terminals wrap the rows again, and other terminals cut the rows. The column of the cursor shows which of the
  /// two happened. If the column is unknown, uses the smaller row, so that no text above the line is lost.
  func eraseLine(cursorAt column: Int? = nil) throws(TerminalError) {
    let (wrapped, cut) = places
    let edge = min(cut.column, windowColumns - 1)
    var row = min(wrapped.row, cut.row)
    if let column, wrapped.column != edge {
      if column == wrapped.column { row = wrapped.row }
      if column == edge { row = cut.row }
    }
    try Terminal.write("\r" + Self.sequence("A", row) + "\u{1B}[J")
  }

  /// Whether the new width of the window may have moved the cursor to another row.
  var isMoved: Bool { places.wrapped.row != places.cut.row }

  /// The places of the cursor in a terminal that wraps the rows again, and in a terminal that cuts the rows.
  private var places: (wrapped: Place, cut: Place) {
    let before = line.beforeCursor
    return (place(of: before), place(of: before, columns: drawnColumns))
  }

  /// Draws the prompt and the line, beginning at the cursor of the terminal.
  func redraw() {
    unsafe el_resize(editor)
    drawnColumns = windowColumns
    unsafe cel_refresh(editor)
  }

  private var windowColumns: Int { Terminal.size()?.columns ?? 80 }

  private func place(of text: String.UnicodeScalarView, columns: Int? = nil) -> Place {
    Place(after: prompt.text.unicodeScalars + text, columns: columns ?? windowColumns)
  }

  private static func sequence(_ final: String, _ count: Int) -> String {
    count > 0 ? "\u{1B}[\(count)\(final)" : ""
  }

  /// Draws a line again if the line contains characters without a width, such as joiners and marks. libedit counts a cell for
  /// such a character when a person types it, but not later. So without this call, libedit would write to wrong places.
  func settleLine() throws(TerminalError) {
    let line = line
    let scalars = line.beforeCursor + line.afterCursor
    guard scalars.contains(where: Self.isWidthless) else {
      settled = nil
      return
    }
    if let settled, settled.elementsEqual(scalars) { return }
    try eraseLine()
    redraw()
    settled = scalars
  }

  private static func isWidthless(_ scalar: Unicode.Scalar) -> Bool {
    Terminal.width(of: scalar) == 0
  }

  /// Whether `highlightLine` draws a scalar. libedit does not draw scalars without a width. Of these, `highlightLine` draws
  /// only combining marks, because a joiner could make the terminal draw several characters in the cells of one character.
  private static func isDrawn(_ scalar: Unicode.Scalar) -> Bool {
    guard isWidthless(scalar) else { return true }
    let isMark = [.nonspacingMark, .enclosingMark].contains(scalar.properties.generalCategory)
    return isMark && !(0xFE00...0xFE0F).contains(scalar.value)
  }

  /// Draws the line with colors and marks over the plain line of libedit. libedit does not know of these colors. Each character
  /// stays in its place. Two kinds of line get no colors: a line that needs more rows than the window has, and a line with
  /// control characters other than newline, because libedit draws these in another form.
  func highlightLine() throws(TerminalError) {
    let line = line
    let runs = showsColors ? highlight(line.bytes) : []
    // A line without colors is drawn again only if the drawn line has colors, or if the line has characters without a width.
    guard !runs.isEmpty || isPainted || settled != nil else { return }
    let scalars = line.beforeCursor + line.afterCursor
    let start = place(of: String.UnicodeScalarView())
    let here = place(of: line.beforeCursor)
    let end = place(of: scalars)
    let rows = Terminal.size()?.rows ?? 24
    guard scalars.allSatisfy({ $0 == "\n" || Terminal.width(of: $0) != nil }),
      end.row < rows
    else { return }
    // After a full row, the cursor is in a state that no motion can restore, so the terminal saves and restores the cursor.
    var text = "\u{1B}7\r" + Self.sequence("A", here.row - start.row)
    text += Self.sequence("C", start.column)
    // The sequences that begin or end a color, by the index of the byte before which they stand.
    var sequences: [Int: String] = [:]
    for run in runs {
      sequences[run.range.lowerBound, default: ""] += "\u{1B}[\(run.rendition)m"
      sequences[run.range.upperBound, default: ""] += "\u{1B}[0m"
    }
    var offset = 0
    for scalar in scalars {
      text += sequences[offset, default: ""]
      if scalar == "\n" {
        text += "\r\u{1B}[B"
      } else if Self.isDrawn(scalar) {
        text.unicodeScalars.append(scalar)
      }
      offset += UTF8.width(scalar)
    }
    try Terminal.write(text + "\u{1B}[0m\u{1B}8")
    isPainted = !runs.isEmpty
  }

  /// Writes the hint after the line and moves the cursor back. libedit does not know of the hint.
  func showHint() throws(TerminalError) {
    let line = line
    let end = place(of: line.beforeCursor)
    let room = windowColumns - end.column - 1
    // While libedit searches the history, the line has two rows.
    guard showsColors, !isHinting, line.afterCursor.isEmpty, end.row == 0, room > 0,
      let text = hint(line.bytes)
    else { return }
    var width = 0
    let shown = text.unicodeScalars.prefix { scalar in
      guard let cells = Terminal.width(of: scalar), width + cells <= room else { return false }
      width += cells
      return true
    }
    guard width > 0 else { return }
    try Terminal.write("\u{1B}[2m\(String(shown))\u{1B}[0m\u{1B}[\(width)D")
    isHinting = true
  }

  func hideHint() throws(TerminalError) {
    guard isHinting else { return }
    try Terminal.write("\u{1B}[K")
    isHinting = false
  }
}
