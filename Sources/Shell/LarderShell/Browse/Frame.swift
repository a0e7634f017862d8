import ShellLanguage

/// The cells of a window. `put` cuts each text to its cells, so no text makes a row wider than the window.
struct Frame: Equatable {
  struct Cell: Equatable {
    /// A character with its combining marks. The second cell of a wide character has an empty text.
    var text = " "
    /// The numbers of the rendition (color and weight) of the cell, such as `1;36`. Empty for the default rendition.
    var rendition = ""
  }

  let columns: Int
  let rows: Int
  private let hasColor: Bool
  private(set) var cells: [Cell]

  init(columns: Int, rows: Int, hasColor: Bool = true) {
    self.columns = columns
    self.rows = rows
    self.hasColor = hasColor
    cells = Array(repeating: Cell(), count: columns * rows)
  }

  /// Puts text into cells of a row, and returns the column after the text. Text beyond `width` or beyond the row is cut.
  @discardableResult
  mutating func put(
    _ text: String, at row: Int, _ column: Int, width: Int? = nil, _ color: Color? = nil
  ) -> Int {
    let end = min(column + (width ?? columns), columns)
    guard (0..<rows).contains(row), column >= 0, column < end else { return column }
    let all = Self.cells(of: text, rendition: hasColor ? color?.rawValue ?? "" : "")
    var shown = all.prefix(end - column)
    // Omits a wide character of which only the first cell fits.
    if all.dropFirst(shown.count).first?.text == "" { shown.removeLast() }
    let start = row * columns + column
    cells.replaceSubrange(start..<start + shown.count, with: shown)
    return column + shown.count
  }

  /// The cells of a text with escape sequences of `Color`. A tab goes to the next multiple of eight. Other controls become `?`.
  static func cells(of text: String, rendition: String = "") -> [Cell] {
    var cells: [Cell] = []
    var current = rendition
    var scalars = text.unicodeScalars[...]
    while let scalar = scalars.popFirst() {
      if scalar == "\u{1B}", let numbers = takeRendition(&scalars) {
        current = numbers == "0" ? rendition : numbers
        continue
      }
      if scalar == "\t" {
        repeat { cells.append(Cell(rendition: current)) } while cells.count % 8 != 0
        continue
      }
      let shown = scalar.isControl ? "?" : scalar
      let width = DisplayWidth.of(shown)
      if width > 0 {
        cells.append(Cell(text: String(shown), rendition: current))
        if width == 2 { cells.append(Cell(text: "", rendition: current)) }
      } else if let base = cells.lastIndex(where: { !$0.text.isEmpty }),
        // A value may have thousands of combining marks on one character, so a cell keeps at most eight scalars.
        cells[base].text.unicodeScalars.count < 8
      {
        cells[base].text.unicodeScalars.append(shown)
      }
    }
    return cells
  }

  /// Reads a sequence such as `[1;36m` after an escape, and returns its numbers. Nil if the text is not such a sequence.
  private static func takeRendition(_ scalars: inout Substring.UnicodeScalarView) -> String? {
    guard scalars.first == "[" else { return nil }
    let numbers = scalars.dropFirst().prefix { $0 == ";" || ("0"..."9").contains($0) }
    guard numbers.endIndex < scalars.endIndex, scalars[numbers.endIndex] == "m" else { return nil }
    scalars = scalars[scalars.index(after: numbers.endIndex)...]
    return String(Substring(numbers))
  }

  /// The characters of a text without the escape sequences of `Color`.
  static func plain(_ text: String) -> String { Self.cells(of: text).map(\.text).joined() }

  /// The text of cells, with the escape sequences of `Color`.
  static func text(of cells: some Sequence<Cell>) -> String {
    var result = ""
    var rendition = ""
    for cell in cells {
      if cell.rendition != rendition {
        if !rendition.isEmpty { result += Color.off }
        if !cell.rendition.isEmpty { result += "\u{1B}[\(cell.rendition)m" }
        rendition = cell.rendition
      }
      result += cell.text
    }
    return rendition.isEmpty ? result : result + Color.off
  }

  /// The bytes that turn the screen `before` into this frame. If the size is different, the bytes clear the screen first.
  func bytes(over before: Frame?) -> [UInt8] {
    let known = before.flatMap { $0.columns == columns && $0.rows == rows ? $0 : nil }
    let old = known?.cells ?? Frame(columns: columns, rows: rows).cells
    var result = known == nil ? "\u{1B}[0m\u{1B}[H\u{1B}[2J" : ""
    for row in 0..<rows {
      let start = row * columns
      let differing = (start..<start + columns).filter { cells[$0] != old[$0] }
      guard var first = differing.first, var last = differing.last else { continue }
      // Adds the other cell of a wide character of which only one cell differs.
      if first > start, cells[first].text.isEmpty || old[first].text.isEmpty { first -= 1 }
      if last + 1 < start + columns, cells[last + 1].text.isEmpty { last += 1 }
      result += "\u{1B}[\(row + 1);\(first - start + 1)H" + Self.text(of: cells[first...last])
    }
    return Array(result.utf8)
  }
}
