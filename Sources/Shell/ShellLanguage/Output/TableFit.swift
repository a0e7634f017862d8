struct TableColumn {
  let title: String
  let cells: [Cell]
  var texts: [String]
  var width: Int
  let isRight: Bool
  /// Whether a long text continues on the next line instead of being cut.
  let wraps: Bool

  var textWidth: Int { texts.map { DisplayWidth.of($0) }.max() ?? 0 }
}

/// Fits the columns of a table into a window. The least useful parts become narrow or hidden first: empty columns, bars, shares,
/// long times, texts that wrap, titles. Names become narrow last, lose their middle, and keep at least ``narrowest`` columns.
struct TableFit {
  private static let narrowest = 12
  private static let shortestBar = 6
  private static let shortestTitle = 8
  /// In a window with fewer columns, bars are hidden, because short bars would show no difference.
  private static let windowWithBars = 60
  /// In a window with fewer columns, a name gets a line of its own, because a cut name would be too short.
  private static let windowOfColumns = 45

  private(set) var all: [TableColumn]
  private let presentation: Presentation

  init(_ rows: [[Cell]], titles: [String], widths: [Int], _ presentation: Presentation) {
    self.presentation = presentation
    all = titles.indices.map { index in
      let cells = rows.map { $0[index] }
      let texts = cells.map { $0.shown(presentation) }
      return TableColumn(
        title: titles[index], cells: cells, texts: texts,
        width: texts.reduce(widths[index]) { max($0, DisplayWidth.of($1)) },
        isRight: cells.allSatisfy(\.isRight) && !cells.allSatisfy(\.isNothing),
        wraps: index == titles.count - 1 && cells.contains(where: \.isProse))
    }
  }

  var columns: [TableColumn] { all.filter { $0.width > 0 } }

  private func surplus(_ limit: Int) -> Int {
    let shown = all.map(\.width).filter { $0 > 0 }
    return shown.reduce(0, +) + TableLayout.gap * max(shown.count - 1, 0) - limit
  }

  /// Narrows the table to a window. Returns whether the cells of a row fit side by side.
  mutating func narrow(to limit: Int) -> Bool {
    hide(in: limit) { $0.allSatisfy(\.isNothing) }
    if limit >= Self.windowWithBars { shortenBars(to: limit) }
    hide(in: limit) { $0.contains(where: \.isBar) }
    hide(in: limit) { cells in
      cells.contains(where: \.isShare) && cells.allSatisfy { $0.isShare || $0.isNothing }
    }
    if surplus(limit) > 0 { shortenTimes() }
    narrowWidest(to: limit) { $0.wraps }
    shortenTitles(to: limit)
    if limit >= Self.windowOfColumns { narrowWidest(to: limit) { !$0.isRight && !$0.wraps } }
    return surplus(limit) <= 0
  }

  func hidesDifferences(_ cut: (String, Int) -> String) -> Bool {
    columns.contains { column in
      guard !column.wraps, column.texts.contains(where: { DisplayWidth.of($0) > column.width })
      else { return false }
      let full = Set(column.texts)
      return Set(full.map { cut($0, column.width) }).count < full.count
    }
  }

  private mutating func hide(in limit: Int, _ isHidden: ([Cell]) -> Bool) {
    for index in all.indices.dropFirst().reversed() where surplus(limit) > 0 {
      if isHidden(all[index].cells) { all[index].width = 0 }
    }
  }

  private mutating func shortenBars(to limit: Int) {
    for index in all.indices where all[index].cells.contains(where: \.isBar) {
      let width = max(all[index].width - max(surplus(limit), 0), Self.shortestBar)
      guard width < all[index].width else { continue }
      let fullWidth = Bar.width * width / all[index].width
      for case (let row, .bar(let share)) in all[index].cells.enumerated() {
        // Draws a shorter bar, because a cut bar would look as long as the bars of greater shares.
        all[index].texts[row] = Bar.text(
          share, width: fullWidth, hasUnicode: presentation.hasUnicode)
      }
      all[index].width = max(width, all[index].textWidth)
    }
  }

  private mutating func shortenTimes() {
    for index in all.indices
    where all[index].width > 0 && all[index].cells.contains(where: \.isTime) {
      all[index].texts = all[index].cells.map { $0.shown(presentation, isBrief: true) }
      all[index].width = max(all[index].textWidth, DisplayWidth.of(all[index].title))
    }
  }

  private mutating func shortenTitles(to limit: Int) {
    for index in all.indices where !all[index].isRight && !all[index].wraps {
      let least = max(
        all[index].textWidth, min(DisplayWidth.of(all[index].title), Self.shortestTitle))
      guard all[index].width > least else { continue }
      all[index].width = max(all[index].width - max(surplus(limit), 0), least)
    }
  }

  /// Narrows columns, the widest columns first, until the table fits or each column has its least width.
  private mutating func narrowWidest(to limit: Int, _ isNarrowable: (TableColumn) -> Bool) {
    let candidates = all.indices.filter { isNarrowable(all[$0]) }
    // A cell may be very wide, and the loop takes 1 from one width in each turn. So no column may be wider than the window.
    for index in candidates { all[index].width = min(all[index].width, max(limit, Self.narrowest)) }
    while surplus(limit) > 0, let widest = candidates.max(by: { all[$0].width < all[$1].width }),
      all[widest].width > Self.narrowest
    { all[widest].width -= 1 }
  }
}
