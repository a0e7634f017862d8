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

  private init(_ presentation: Presentation, titles: [String], widths: [Int]) {
    self.presentation = presentation
    self.titles = titles
    self.widths = widths
  }

  /// The rows as lines; the header, dim where there is colour, if any column has a title.
  package mutating func lines(_ rows: [[Cell]], withHeader: Bool) -> [UInt8] {
    var texts = rows.map { $0.map { $0.shown(presentation) } }
    for row in texts {
      for (column, text) in row.enumerated() {
        widths[column] = max(widths[column], DisplayWidth.of(text))
      }
    }
    let isRight = rightAligned(rows)
    let fitted = fittedWidths(fixed: isRight, rows)
    if let limit = presentation.width, limit < 45, lineWidth(fitted) > limit {
      return twoLineRows(rows, texts, limit)
    }
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
      let line = "\(DisplayWidth.pad(title, to: width))  \(cell.shown(presentation))"
      let isLong = presentation.width.map { DisplayWidth.of(line) > $0 } ?? false
      let isText = if case .text = cell { isLong } else { false }
      result +=
        isText
        ? DisplayWidth.wrap(line, columns: presentation.width, indent: width + 2) + "\n"
        : cut(line) + "\n"
    }
    return Array(result.utf8)
  }

  /// Narrows columns until a line fits the terminal: first bars, then shares, then texts.
  ///
  /// - Parameter fixed: Columns of numbers, which are never cut.
  private func fittedWidths(
    fixed: [Bool], _ rows: [[Cell]], gap: Int = Self.gap, room: Int? = nil
  ) -> [Int] {
    guard let limit = room ?? presentation.width else { return widths }
    var fitted = widths
    var surplus = fitted.reduce(0, +) + gap * max(fitted.count - 1, 0) - limit
    func narrow(to least: Int, _ isNarrowable: (Int) -> Bool) {
      while surplus > 0 {
        let candidates = fitted.indices.filter { fitted[$0] > least && isNarrowable($0) }
        guard let widest = candidates.max(by: { fitted[$0] < fitted[$1] }) else { return }
        fitted[widest] -= 1
        surplus -= 1
      }
    }
    let bars = fitted.indices.map { column in rows.contains { $0[column].isBar } }
    let shares = fitted.indices.map { column in
      rows.contains { $0[column].isShare }
        && rows.allSatisfy { $0[column].isShare || [.null, .blank].contains($0[column]) }
    }
    // Below 60 columns a bar tells nothing.
    if limit < 60 { narrow(to: 0) { bars[$0] } }
    narrow(to: 6) { bars[$0] }
    narrow(to: 0) { bars[$0] }
    narrow(to: 0) { shares[$0] }
    narrow(to: Self.narrowest) { !fixed[$0] && !bars[$0] }
    return fitted
  }

  private func line(_ texts: [String], _ widths: [Int], _ isRight: [Bool]) -> String {
    var result = ""
    for (column, text) in texts.enumerated() where widths[column] > 0 {
      let text = cutMiddle(text, to: widths[column])
      let space = String(repeating: " ", count: max(widths[column] - DisplayWidth.of(text), 0))
      result += isRight[column] ? space + text : text + space
      if column < texts.count - 1 { result += String(repeating: " ", count: Self.gap) }
    }
    while result.last == " " { result.removeLast() }
    return cut(result)
  }

  /// Cuts the middle of a name, so that names with a common prefix stay distinct: `lego.pa...olors`.
  private func cutMiddle(_ text: String, to width: Int) -> String {
    guard DisplayWidth.of(text) > width, width > 4 else {
      return DisplayWidth.fit(text, to: width, mark: mark)
    }
    let room = width - DisplayWidth.of(mark)
    let head = DisplayWidth.prefix(of: text, columns: (room + 1) / 2)
    let tail = DisplayWidth.suffix(of: text, columns: room / 2)
    return head + mark + tail
  }

  private func lineWidth(_ widths: [Int]) -> Int {
    let shown = widths.filter { $0 > 0 }
    return shown.reduce(0, +) + Self.gap * max(shown.count - 1, 0)
  }

  /// For a very narrow window: the first column on a line, the others below it, indented and with their titles.
  private func twoLineRows(_ rows: [[Cell]], _ texts: [[String]], _ limit: Int) -> [UInt8] {
    var result = ""
    for (row, texts) in zip(rows, texts) {
      result += cut(texts.first ?? "") + "\n"
      var line = " "
      for index in row.indices.dropFirst() {
        if row[index].isBar || row[index] == .null || texts[index].isEmpty { continue }
        let title = titles[index].isEmpty ? "" : "\(titles[index]) "
        let fact = " \(title)\(texts[index])"
        if line.count > 1, DisplayWidth.of(line + " " + fact) > limit {
          result += cut(line) + "\n"
          line = " "
        }
        line += line.count > 1 ? " " + fact : fact
      }
      if line.count > 1 { result += cut(line) + "\n" }
    }
    return Array(result.utf8)
  }

  private func cut(_ line: String) -> String {
    presentation.width.map { DisplayWidth.fit(line, to: $0, mark: mark) } ?? line
  }

  // MARK: Box and Markdown

  /// A table with lines around its cells, cut to the window at a terminal only.
  mutating func box(_ rows: [[Cell]], isObject: Bool) -> [UInt8] {
    let (rows, titles, hasTitles) = arranged(rows, isObject)
    let texts = rows.map { $0.map { $0.shown(presentation) } }
    var layout = TableLayout(presentation, titles: titles)
    for row in texts {
      for (column, text) in row.enumerated() {
        layout.widths[column] = max(layout.widths[column], DisplayWidth.of(text))
      }
    }
    let isRight = layout.rightAligned(rows)
    if let width = presentation.width {
      let frame = TableLayout(presentation, titles: titles, widths: layout.widths)
      layout.widths = frame.fittedWidths(fixed: isRight, rows, gap: 3, room: width - 4)
    }
    let lines = BoxLines(hasUnicode: presentation.hasUnicode)
    func rule(_ ends: (String, String, String)) -> String {
      ends.0
        + layout.widths.map { String(repeating: lines.dash, count: $0 + 2) }
        .joined(separator: ends.1) + ends.2 + "\n"
    }
    func row(_ texts: [String], isHeader: Bool = false) -> String {
      let cells = zip(texts, layout.widths).enumerated().map { column, cell in
        let text = layout.cutMiddle(cell.0, to: cell.1)
        let space = String(repeating: " ", count: max(cell.1 - DisplayWidth.of(text), 0))
        return isRight[column] ? space + text : text + space
      }
      return "\(lines.bar) " + cells.joined(separator: " \(lines.bar) ") + " \(lines.bar)\n"
    }
    var result = rule(lines.top)
    if hasTitles { result += row(layout.titles, isHeader: true) + rule(lines.middle) }
    for text in texts { result += row(text) }
    return Array((result + rule(lines.bottom)).utf8)
  }

  func markdownHeader(isObject: Bool) -> [UInt8] {
    let titles = isObject ? ["field", "value"] : titles
    let dashes = titles.map { _ in "---" }.joined(separator: " | ")
    let names = titles.map(Self.markdownCell).joined(separator: " | ")
    return Array("| \(names) |\n| \(dashes) |\n".utf8)
  }

  func markdown(_ rows: [[Cell]], isObject: Bool) -> [UInt8] {
    let (rows, _, _) = arranged(rows, isObject)
    return rows.flatMap { row in
      let cells = row.map { Self.markdownCell($0.shown(presentation)) }
      return Array("| \(cells.joined(separator: " | ")) |\n".utf8)
    }
  }

  private static func markdownCell(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("|", with: "\\|").replacing("\n", with: " ")
  }

  /// One thing becomes a row for each field.
  private func arranged(_ rows: [[Cell]], _ isObject: Bool) -> ([[Cell]], [String], Bool) {
    guard isObject, let only = rows.first else {
      return (rows, titles, titles.contains { !$0.isEmpty })
    }
    return (zip(titles, only).map { [.text($0), $1] }, ["field", "value"], true)
  }

  private func rightAligned(_ rows: [[Cell]]) -> [Bool] {
    titles.indices.map { column in
      rows.allSatisfy { $0[column].isRight } && rows.contains { $0[column] != .null }
    }
  }

  private var mark: String { presentation.hasUnicode ? "\u{2026}" : "~" }
}

/// The characters of a box.
private struct BoxLines {
  let top: (String, String, String)
  let middle: (String, String, String)
  let bottom: (String, String, String)
  let dash: String
  let bar: String

  init(hasUnicode: Bool) {
    top = hasUnicode ? ("\u{250C}", "\u{252C}", "\u{2510}") : ("+", "+", "+")
    middle = hasUnicode ? ("\u{251C}", "\u{253C}", "\u{2524}") : ("+", "+", "+")
    bottom = hasUnicode ? ("\u{2514}", "\u{2534}", "\u{2518}") : ("+", "+", "+")
    dash = hasUnicode ? "\u{2500}" : "-"
    bar = hasUnicode ? "\u{2502}" : "|"
  }
}
