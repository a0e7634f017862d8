package struct TableLayout: Sendable {
  static let gap = 2
  private let presentation: Presentation
  private let titles: [String]
  private var widths: [Int]

  package init(_ presentation: Presentation, titles: [String]) {
    self.presentation = presentation
    self.titles = titles.map { SafeText($0).description }
    widths = self.titles.map { DisplayWidth.of($0) }
  }

  /// The rows as lines. With `withHeader`, a header comes first if a column has a title; with color, the header is dim.
  package mutating func lines(_ rows: [[Cell]], withHeader: Bool) -> [UInt8] {
    var fit = TableFit(rows, titles: titles, widths: widths, presentation)
    // The next batch of rows begins with these widths, which no window has narrowed.
    widths = fit.all.map(\.width)
    if let room = presentation.width, !fit.narrow(to: room) || fit.hidesDifferences(cutMiddle) {
      return rowsOfLines(rows)
    }
    let columns = fit.columns
    var result = ""
    if withHeader, titles.contains(where: { !$0.isEmpty }) {
      let titles = columns.map {
        DisplayWidth.fit($0.title, to: $0.width, mark: presentation.cutMark)
      }
      let header = line(titles, columns)
      result += presentation.hasColor ? "\u{1B}[2m\(header)\u{1B}[0m\n" : "\(header)\n"
    }
    for index in rows.indices {
      let texts = columns.map { column in
        let text = column.texts[index]
        return column.wraps ? wrapped(text, to: column.width) : [cutMiddle(text, to: column.width)]
      }
      for number in 0..<max(texts.map(\.count).max() ?? 0, 1) {
        result += line(texts.map { number < $0.count ? $0[number] : "" }, columns) + "\n"
      }
    }
    return Array(result.utf8)
  }

  /// The facts of one thing. Each field has a line that begins with the title of the field.
  package func facts(_ cells: [Cell]) -> [UInt8] {
    let width = widths.max() ?? 0
    var result = ""
    for (title, cell) in zip(titles, cells) {
      let line = "\(DisplayWidth.pad(title, to: width))  \(cell.shown(presentation))"
      // Words are wrapped here. A key or another fact stays one line, so that a person can copy the line from the terminal.
      let columns = cell.isWords ? presentation.width : nil
      result += DisplayWidth.wrap(line, columns: columns, indent: width + 2) + "\n"
    }
    return Array(result.utf8)
  }

  private func line(_ texts: [String], _ columns: [TableColumn]) -> String {
    let padded = zip(texts, columns).map { text, column in
      DisplayWidth.pad(text, to: column.width, isRight: column.isRight)
    }
    var result = padded.joined(separator: String(repeating: " ", count: Self.gap))
    while result.last == " " { result.removeLast() }
    return result
  }

  private func wrapped(_ text: String, to width: Int) -> [String] {
    DisplayWidth.wrap(text, columns: width, indent: 0).split(separator: "\n").map(String.init)
  }

  private func cutMiddle(_ text: String, to width: Int) -> String {
    DisplayWidth.fitEnds(text, to: width, mark: presentation.cutMark)
  }

  /// The rows for a narrow window: first a line with the first cell, then a line with a title for each other cell.
  private func rowsOfLines(_ rows: [[Cell]]) -> [UInt8] {
    let limit = presentation.width ?? .max
    func cut(_ texts: [String], _ index: Int, _ width: Int) -> [String] {
      hasNames(index, rows) ? texts : distinct(texts, width)
    }
    let names = cut(rows.map { $0.first?.shown(presentation) ?? "" }, 0, limit)
    let facts = titles.indices.map { index in
      cut(rows.map { fact($0[index], titles[index]) }, index, limit - 2)
    }
    var result = ""
    for (number, row) in rows.enumerated() {
      let isSame = number > 0 && row.count > 1 && rows[number - 1].first == row.first
      if !isSame { result += names[number] + "\n" }
      var lines: [String] = []
      for index in row.indices.dropFirst() where !facts[index][number].isEmpty {
        let fact = facts[index][number]
        if let last = lines.last, DisplayWidth.of(last) + 2 + DisplayWidth.of(fact) <= limit {
          lines[lines.count - 1] += "  " + fact
        } else {
          lines.append("  " + fact)
        }
      }
      for line in lines {
        result += DisplayWidth.wrap(line, columns: presentation.width, indent: 4) + "\n"
      }
    }
    return Array(result.utf8)
  }

  /// Whether a column has names, such as keys. A person may type a name back, so a name must not be cut.
  private func hasNames(_ index: Int, _ rows: [[Cell]]) -> Bool {
    rows.contains { row in
      switch row[index] {
      case .bytes, .base64, .entry: true
      case .text: index == 0
      default: false
      }
    }
  }

  /// A cell with its title. Empty for a bar, and for a row without this fact.
  private func fact(_ cell: Cell, _ title: String) -> String {
    if cell.isBar || cell.isNothing { return "" }
    let text = cell.shown(presentation)
    return title.isEmpty || text.isEmpty ? text : "\(title) \(text)"
  }

  /// The texts cut to a width, or uncut if two different texts would look equal. Words without quotes are wrapped, never cut.
  private func distinct(_ texts: [String], _ width: Int) -> [String] {
    let cut = texts.map { text in
      text.contains(" ") && !text.contains("\"") && width > 14 ? text : cutMiddle(text, to: width)
    }
    return Set(cut).count == Set(texts).count ? cut : texts
  }

  func markdownHeader(isObject: Bool) -> [UInt8] {
    let titles = isObject ? ["field", "value"] : titles
    return Self.markdownRow(titles) + Self.markdownRow(titles.map { _ in "---" })
  }

  func markdown(_ rows: [[Cell]], isObject: Bool) -> [UInt8] {
    // For a single object, each field becomes a row.
    let rows = isObject ? zip(titles, rows[0]).map { [.text($0), $1] } : rows
    return rows.flatMap { row in Self.markdownRow(row.map { $0.shown(presentation) }) }
  }

  private static func markdownRow(_ texts: [String]) -> [UInt8] {
    Array("| \(texts.map(markdownText).joined(separator: " | ")) |\n".utf8)
  }

  /// A Markdown page would read tags in a key or a value as HTML, so the characters of tags are escaped.
  private static let markdownEscapes: [Unicode.Scalar: String] = [
    "&": "&amp;", "<": "&lt;", "\\": "\\\\", "|": "\\|", "\n": " ",
  ]

  package static func markdownText(_ text: String) -> String {
    // A bar and a combining mark after the bar are one character in Swift, so the text is escaped by scalars.
    text.unicodeScalars.map { markdownEscapes[$0] ?? String($0) }.joined()
  }
}
