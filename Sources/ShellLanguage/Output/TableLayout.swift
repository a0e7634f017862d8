/// Aligns cells in columns for a person.
package struct TableLayout: Sendable {
  private static let gap = 2
  /// A column is not cut below this.
  private static let narrowest = 8

  private let presentation: Presentation
  private let titles: [String]
  private var widths: [Int]

  package init(_ presentation: Presentation, titles: [String]) {
    self.presentation = presentation
    self.titles = titles.map { SafeText($0).description }
    widths = self.titles.map { DisplayWidth.of($0) }
  }

  /// The rows as lines; the header, dim where there is colour, if any column has a title.
  package mutating func lines(_ rows: [[Cell]], withHeader: Bool) -> [UInt8] {
    var texts = rows.map { $0.map { $0.shown(presentation) } }
    for row in texts {
      for (column, text) in row.enumerated() {
        widths[column] = max(widths[column], DisplayWidth.of(text))
      }
    }
    let isRight = titles.indices.map { column in
      rows.allSatisfy { $0[column].isRight } && rows.contains { $0[column] != .null }
    }
    let fitted = fittedWidths(fixed: isRight)
    // A bar that was cut would look as long as a longer one.
    for (index, row) in rows.enumerated() {
      for case (let column, .bar(let share)) in row.enumerated()
      where fitted[column] < widths[column] {
        texts[index][column] = Bar.text(
          share, width: Bar.width * fitted[column] / widths[column],
          hasUnicode: presentation.hasUnicode)
      }
    }
    var result = ""
    if withHeader, titles.contains(where: { !$0.isEmpty }) {
      let header = line(titles, fitted, isRight)
      result += presentation.hasColor ? "\u{1B}[2m\(header)\u{1B}[0m\n" : "\(header)\n"
    }
    for row in texts { result += line(row, fitted, isRight) + "\n" }
    return Array(result.utf8)
  }

  /// One thing: a line for each field, its title in front.
  package func facts(_ cells: [Cell]) -> [UInt8] {
    let width = widths.max() ?? 0
    var result = ""
    for (title, cell) in zip(titles, cells) {
      result += cut("\(Help.pad(title, to: width))  \(cell.shown(presentation))") + "\n"
    }
    return Array(result.utf8)
  }

  /// Narrows the widest columns of text until a line fits the terminal.
  private func fittedWidths(fixed: [Bool]) -> [Int] {
    guard let limit = presentation.width else { return widths }
    var fitted = widths
    var surplus = fitted.reduce(0, +) + Self.gap * max(fitted.count - 1, 0) - limit
    while surplus > 0 {
      let narrowable = fitted.indices.filter { !fixed[$0] && fitted[$0] > Self.narrowest }
      guard let widest = narrowable.max(by: { fitted[$0] < fitted[$1] }) else { break }
      fitted[widest] -= 1
      surplus -= 1
    }
    return fitted
  }

  private func line(_ texts: [String], _ widths: [Int], _ isRight: [Bool]) -> String {
    var result = ""
    for (column, text) in texts.enumerated() {
      let text = DisplayWidth.fit(text, to: widths[column], mark: mark)
      let space = String(repeating: " ", count: max(widths[column] - DisplayWidth.of(text), 0))
      result += isRight[column] ? space + text : text + space
      if column < texts.count - 1 { result += String(repeating: " ", count: Self.gap) }
    }
    while result.last == " " { result.removeLast() }
    return cut(result)
  }

  private func cut(_ line: String) -> String {
    presentation.width.map { DisplayWidth.fit(line, to: $0, mark: mark) } ?? line
  }

  private var mark: String { presentation.hasUnicode ? "\u{2026}" : "~" }
}
