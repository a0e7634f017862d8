import Larder
import ShellLanguage

/// The three panes and the lines around them.
extension BrowseScreen {
  private static let top = 1
  private static let sizeWidth = 7
  private static let expiryWidth = 9

  func drawPanes(on frame: inout Frame) {
    let widths = state.widths
    guard !state.showsOnePane else {
      drawBorders([widths.keys], titles: [title(of: state.pane)], focus: 0, on: &frame)
      draw(state.pane, at: 1, widths.keys, on: &frame)
      drawPlace(from: 0, widths.keys, on: &frame)
      return
    }
    let panes: [BrowseState.Pane] = [.namespaces, .keys, .value]
    let all = [widths.namespaces, widths.keys, widths.value]
    drawBorders(
      all, titles: panes.map(title), focus: panes.firstIndex(of: state.pane) ?? 1, on: &frame)
    var column = 1
    for (pane, width) in zip(panes, all) {
      draw(pane, at: column, width, on: &frame)
      column += width + 1
    }
    drawPlace(from: widths.namespaces + 1, widths.keys, on: &frame)
  }

  private func draw(
    _ pane: BrowseState.Pane, at column: Int, _ width: Int, on frame: inout Frame
  ) {
    switch pane {
    case .namespaces: drawNamespaces(at: column, width, on: &frame)
    case .keys: drawKeys(at: column, width, on: &frame)
    case .value: drawValue(at: column, width, on: &frame)
    }
  }

  private func title(of pane: BrowseState.Pane) -> String {
    switch pane {
    case .namespaces: return "namespaces"
    case .keys:
      let order = state.query.order == .key ? [] : ["by \(state.query.order.rawValue)"]
      let words = state.query.words
      let parts = [state.query.namespace ?? "@*"] + order + (words.isEmpty ? [] : [words])
      return parts.map { SafeText($0).description }.joined(separator: "  ")
    case .value: return state.wanted.map { Quoting.brief($0.key.bytes) } ?? "value"
    }
  }

  // MARK: Lines

  private func drawBorders(
    _ widths: [Int], titles: [String], focus: Int, on frame: inout Frame
  ) {
    let dash = drawn("\u{2500}", "-")
    func border(_ ends: (String, String, String)) -> String {
      ends.0
        + widths.map { String(repeating: dash, count: $0) }.joined(separator: ends.1) + ends.2
    }
    let above = drawn("\u{250C}\u{252C}\u{2510}", "+++").map(String.init)
    let below = drawn("\u{2514}\u{2534}\u{2518}", "+++").map(String.init)
    let last = Self.top + height + 1
    frame.put(border((above[0], above[1], above[2])), at: Self.top, 0, rendition: rendition(.dim))
    frame.put(border((below[0], below[1], below[2])), at: last, 0, rendition: rendition(.dim))
    var column = 0
    for (index, width) in widths.enumerated() {
      let text = DisplayWidth.fit(titles[index], to: width - 2, mark: cutMark)
      frame.put(
        " \(text) ", at: Self.top, column + 1, width: width,
        rendition: rendition(index == focus ? .command : .namespace))
      column += width + 1
    }
    let bar = drawn("\u{2502}", "|")
    for row in Self.top + 1..<last {
      var column = 0
      for width in widths {
        frame.put(bar, at: row, column, rendition: rendition(.dim))
        column += width + 1
      }
      frame.put(bar, at: row, column, rendition: rendition(.dim))
    }
  }

  /// `3 of 64` in the border below the list.
  private func drawPlace(from column: Int, _ width: Int, on frame: inout Frame) {
    guard !state.rows.isEmpty else { return }
    let index = state.firstIndex.map { Wording.count($0 + state.selected + 1) }
    let total = state.total.map { Wording.count($0) } ?? cutMark
    let text = index.map { " \($0) of \(total) " } ?? " of \(total) "
    frame.put(
      text, at: Self.top + height + 1, column + 2, width: width - 2, rendition: rendition(.dim))
  }

  // MARK: Panes

  private func drawNamespaces(at column: Int, _ width: Int, on frame: inout Frame) {
    let total = state.namespaces.reduce(0) { $0 + $1.entries }
    let rows = state.namespaces.map { ($0.name, $0.entries) } + [("@*", total)]
    let selected =
      state.namespaces.firstIndex { $0.name == state.query.namespace } ?? rows.count - 1
    let first = max(selected - height + 1, 0)
    for (index, row) in rows.enumerated().dropFirst(first).prefix(height) {
      let line = Self.top + 1 + index - first
      let count = Wording.count(row.1)
      let isSelected = index == selected
      let name = middleCut(SafeText(row.0).description, to: width - count.utf8.count - 3)
      frame.put(
        (isSelected ? drawn("\u{25B8}", ">") : " ") + name, at: line, column, width: width,
        rendition: isSelected ? rendition(.command) : "")
      frame.put(
        count, at: line, column + width - count.utf8.count - 1, rendition: rendition(.dim))
    }
  }

  private func drawKeys(at column: Int, _ width: Int, on frame: inout Frame) {
    guard !state.rows.isEmpty else {
      let words = state.pending == nil ? "no entries" : "reading" + presentation.ellipsis
      frame.put(words, at: Self.top + 1, column + 1, width: width - 1, rendition: rendition(.dim))
      return
    }
    for (index, row) in state.rows.prefix(height).enumerated() {
      draw(
        row, isSelected: index == state.selected, at: Self.top + 1 + index, column, width,
        on: &frame)
    }
  }

  private func draw(
    _ row: BrowseState.Row, isSelected: Bool, at line: Int, _ column: Int, _ width: Int,
    on frame: inout Frame
  ) {
    let entry = row.entry
    var facts = ""
    if width >= (state.query.namespace == nil ? 46 : 34) {
      let size = Wording.size(entry.size)
      facts += String(repeating: " ", count: max(Self.sizeWidth - size.utf8.count, 0)) + size + "  "
    }
    if width >= 22 {
      facts += DisplayWidth.pad(expiry(of: entry), to: Self.expiryWidth)
    }
    let marked = state.marks.isEmpty ? "" : state.marks[row.id] == nil ? " " : "*"
    let pointer = isSelected ? drawn("\u{25B8}", ">") : " "
    let room = width - 1 - marked.utf8.count - facts.utf8.count - 3
    var name = Quoting.quoted(entry.key.bytes)
    if state.query.namespace == nil { name = "\(SafeText(entry.namespace)) \(name)" }
    frame.put(
      pointer + marked + middleCut(name, to: room), at: line, column,
      rendition: rendition(isSelected ? .command : row.change == .removed ? .dim : .quoted))
    frame.put(
      facts, at: line, column + width - facts.utf8.count - 2, rendition: rendition(.dim))
    let change: (text: String, color: Color)? =
      switch row.change {
      case .added: ("+", .quoted)
      case .changed: ("~", .pattern)
      case .removed: ("-", .wrong)
      case nil: nil
      }
    if let change {
      frame.put(
        change.text, at: line, column + width - 2, rendition: rendition(change.color))
    }
  }

  private func drawValue(at column: Int, _ width: Int, on frame: inout Frame) {
    guard let value = state.value else { return }
    for (row, line) in (value.facts.map { ($0, true) } + value.lines.map { ($0, false) })
      .dropFirst(state.valueTop).prefix(height).enumerated()
    {
      frame.put(
        line.0, at: Self.top + 1 + row, column + 1, width: width - 1,
        rendition: line.1 ? rendition(.dim) : "")
    }
  }

  /// `in 21 h`, `never`, `expired`: the first unit of the time is enough for a list.
  private func expiry(of entry: Store.Entry) -> String {
    guard let expires = entry.expires else { return "never" }
    return entry.state == .stale ? "stale" : clock.briefExpiry(expires.unix)
  }

  private func middleCut(_ text: String, to width: Int) -> String {
    DisplayWidth.fitEnds(text, to: max(width, 0), mark: cutMark)
  }
}
