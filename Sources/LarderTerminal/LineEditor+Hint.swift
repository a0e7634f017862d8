extension LineEditor {
  /// Writes the hint behind the line and takes the cursor back; libedit never learns of it.
  func showHint() throws(TerminalError) {
    guard style.showsColours, !isHinting, let room = roomInRow() else { return }
    let line = line
    guard line.afterCursor.isEmpty, let text = hint(line.bytes) else { return }
    var shown = String.UnicodeScalarView()
    var width = 0
    for scalar in text.unicodeScalars {
      guard let cells = Terminal.width(of: CollectionOfOne(scalar)), width + cells <= room else {
        break
      }
      shown.append(scalar)
      width += cells
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

  /// Writes what happened in place of the line and the line again below it.
  func showNotice() throws(TerminalError) {
    guard let notice, roomInRow() != nil, let text = notice() else { return }
    try hideHint()
    let safe = String(
      String.UnicodeScalarView(text.unicodeScalars.filter { Terminal.width(of: [$0]) != nil }))
    try eraseLine()
    try Terminal.write(safe + "\r\n")
    redraw()
  }

  /// The cells right of a line that fits into one row; nil if it does not fit, and while libedit searches the history,
  /// when its buffer holds two rows of its own.
  private func roomInRow() -> Int? {
    let line = line
    let columns = windowColumns
    guard !line.isMultiline,
      let used = Terminal.width(
        of: Array(prompt.text.unicodeScalars) + line.beforeCursor + line.afterCursor),
      used + 1 < columns
    else { return nil }
    return columns - used - 1
  }
}
