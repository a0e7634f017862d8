import ShellLanguage

/// The cells of a window. Text put into it never leaves its place, whatever it holds, so that each row has the
/// width of the window.
struct Frame: Equatable {
  struct Cell: Equatable {
    /// A character with its marks; empty behind a wide character, which takes two cells.
    var text = " "
    /// The numbers of its rendition, such as `1;36`; empty for the usual one.
    var rendition = ""
  }

  let columns: Int
  let rows: Int
  private(set) var cells: [Cell]

  init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
    cells = Array(repeating: Cell(), count: columns * rows)
  }

  /// Puts text into cells of a row, cut to their width.
  ///
  /// - Parameters:
  ///   - width: The cells that it may take; nil up to the end of the row.
  ///   - rendition: The rendition of text without sequences of its own. A control character other than the
  ///     sequences of `Color` becomes `?`.
  /// - Returns: The column behind the text.
  @discardableResult
  mutating func put(
    _ text: String, at row: Int, _ column: Int, width: Int? = nil, rendition: String = ""
  ) -> Int {
    let end = min(column + (width ?? columns), columns)
    guard (0..<rows).contains(row), column >= 0 else { return column }
    var column = column
    var current = rendition
    var scalars = text.unicodeScalars[...]
    while let scalar = scalars.popFirst() {
      if scalar == "\u{1B}", let numbers = Self.takeRendition(&scalars) {
        current = numbers == "0" ? rendition : numbers
        continue
      }
      let shown = scalar.isControl ? "?" : scalar
      let width = DisplayWidth.of(shown)
      if width == 0 {
        addMark(shown, at: row, column)
        continue
      }
      guard column + width <= end else { break }
      cells[row * columns + column] = Cell(text: String(shown), rendition: current)
      if width == 2 { cells[row * columns + column + 1] = Cell(text: "", rendition: current) }
      column += width
    }
    return column
  }

  /// Gives all cells of a part of a row a rendition.
  mutating func paint(_ rendition: String, at row: Int, _ range: Range<Int>) {
    guard (0..<rows).contains(row) else { return }
    for column in range.clamped(to: 0..<columns) {
      cells[row * columns + column].rendition = rendition
    }
  }

  private mutating func addMark(_ mark: Unicode.Scalar, at row: Int, _ column: Int) {
    guard column > 0 else { return }
    let index = row * columns + column - 1
    let base = cells[index].text.isEmpty ? index - 1 : index
    // A hostile text could put any number of marks on one character.
    guard cells[base].text.unicodeScalars.count < 8 else { return }
    cells[base].text.unicodeScalars.append(mark)
  }

  /// The numbers of `[1;36m` behind an escape; nil if this is no such sequence.
  static func takeRendition(_ scalars: inout Substring.UnicodeScalarView) -> String? {
    guard scalars.first == "[" else { return nil }
    let numbers = scalars.dropFirst().prefix { $0 == ";" || ("0"..."9").contains($0) }
    guard numbers.endIndex < scalars.endIndex, scalars[numbers.endIndex] == "m" else { return nil }
    let text = String(Substring(numbers))
    scalars = scalars[scalars.index(after: numbers.endIndex)...]
    return text
  }
}

extension Frame {
  /// The text without the sequences that `put` understands.
  static func plain(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    var scalars = text.unicodeScalars[...]
    while let scalar = scalars.popFirst() {
      if scalar == "\u{1B}", takeRendition(&scalars) != nil { continue }
      result.append(scalar)
    }
    return String(result)
  }

  /// Equal cells between two changes that are written rather than skipped by a sequence.
  private static let shortestSkip = 6

  /// The bytes that turn what the terminal shows into this frame; of a screen with unknown content everything is
  /// written.
  func bytes(over before: Frame?) -> [UInt8] {
    var result = ""
    let known = before.flatMap { $0.columns == columns && $0.rows == rows ? $0 : nil }
    if known == nil { result += "\u{1B}[0m\u{1B}[H\u{1B}[2J" }
    for row in 0..<rows {
      for range in changes(in: row, since: known) { append(row, range, to: &result) }
    }
    return Array(result.utf8)
  }

  /// The parts of a row that differ, with whole wide characters.
  private func changes(in row: Int, since before: Frame?) -> [Range<Int>] {
    let start = row * columns
    var ranges: [Range<Int>] = []
    for column in 0..<columns {
      let old = before?.cells[start + column] ?? Cell()
      guard cells[start + column] != old else { continue }
      var first = column
      if first > 0, cells[start + first].text.isEmpty || old.text.isEmpty { first -= 1 }
      let next = min(column + 1, columns)
      if let last = ranges.last, first - last.upperBound < Self.shortestSkip {
        ranges[ranges.count - 1] = last.lowerBound..<next
      } else {
        ranges.append(first..<next)
      }
    }
    return ranges.map { range in
      // A changed first half takes its second half with it.
      let isCut = range.upperBound < columns && cells[start + range.upperBound].text.isEmpty
      return range.lowerBound..<range.upperBound + (isCut ? 1 : 0)
    }
  }

  private func append(_ row: Int, _ range: Range<Int>, to result: inout String) {
    result += "\u{1B}[\(row + 1);\(range.lowerBound + 1)H"
    var rendition = ""
    for cell in cells[row * columns + range.lowerBound..<row * columns + range.upperBound] {
      if cell.rendition != rendition {
        if !rendition.isEmpty { result += Color.off }
        if !cell.rendition.isEmpty { result += "\u{1B}[\(cell.rendition)m" }
        rendition = cell.rendition
      }
      result += cell.text
    }
    if !rendition.isEmpty { result += Color.off }
  }
}
