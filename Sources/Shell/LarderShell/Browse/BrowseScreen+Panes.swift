import Larder
import ShellLanguage

extension BrowseScreen {
  /// A line of a pane. The facts are at the right edge. A text that is too long is cut before the facts.
  private struct Line {
    var text: String
    var color: Color?
    var facts = ""
    /// A mark for a change, such as `+`. The mark is in the cell before the last cell of the line.
    var mark: (text: String, color: Color)?
  }

  private static let top = 1
  private static let marks: [BrowseState.Row.Change: (text: String, color: Color)] = [
    .added: ("+", .quoted), .changed: ("~", .pattern), .removed: ("-", .wrong),
  ]

  mutating func drawPanes() {
    drawBorders(state.panes.map(\.width))
    var column = 1
    for (pane, width) in state.panes {
      let title = " \(fit(title(of: pane), to: width - 2)) "
      let color = pane == state.pane ? Color.command : .namespace
      frame.put(title, at: Self.top, column, width: width, color)
      let lines =
        switch pane {
        case .namespaces: namespaceLines(width)
        case .keys: keyLines(width)
        case .value:
          (state.value?.lines ?? []).dropFirst(state.valueTop).map { Line(text: " " + $0) }
        }
      for (index, line) in lines.prefix(state.height).enumerated() {
        let row = Self.top + 1 + index
        let end = column + width - 1
        frame.put(line.text, at: row, column, width: width, line.color)
        frame.put(line.facts, at: row, end - DisplayWidth.of(line.facts), .dim)
        if let mark = line.mark { frame.put(mark.text, at: row, end - 1, mark.color) }
      }
      if pane == .keys || state.showsOnePane, !state.rows.isEmpty {
        // The place of the selected row, such as `3 of 64`.
        let index = state.firstIndex.map { Wording.count($0 + state.selected + 1) + " " } ?? ""
        let total = state.total.map { Wording.count($0) } ?? presentation.cutMark
        let row = Self.top + state.height + 1
        frame.put(" \(index)of \(total) ", at: row, column + 1, width: width - 2, .dim)
      }
      column += width + 1
    }
  }

  private func title(of pane: BrowseState.Pane) -> String {
    switch pane {
    case .namespaces: return "namespaces"
    case .value: return state.wanted.map { Quoting.brief($0.key.bytes) } ?? "value"
    case .keys:
      let query = state.query
      let order = query.order == 0 ? "" : "by \(BrowseQuery.orders[query.order].name)"
      return [query.namespace ?? "@*", order, query.filter, query.expression]
        .filter { !$0.isEmpty }.map { SafeText($0).description }.joined(separator: "  ")
    }
  }

  private mutating func drawBorders(_ widths: [Int]) {
    func border(_ fill: String, _ ends: String) -> String {
      let ends = ends.map(String.init)
      let parts = widths.map { String(repeating: fill, count: $0) }
      return ends[0] + parts.joined(separator: ends[1]) + ends[2]
    }
    let dash = drawn("\u{2500}", "-")
    let sides = border(" ", drawn("\u{2502}\u{2502}\u{2502}", "|||"))
    let last = Self.top + state.height + 1
    for row in Self.top + 1..<last { frame.put(sides, at: row, 0, .dim) }
    frame.put(border(dash, drawn("\u{250C}\u{252C}\u{2510}", "+++")), at: Self.top, 0, .dim)
    frame.put(border(dash, drawn("\u{2514}\u{2534}\u{2518}", "+++")), at: last, 0, .dim)
  }

  private func pointer(_ isSelected: Bool) -> String { isSelected ? drawn("\u{25B8}", ">") : " " }

  private func cutMiddle(_ text: String, to width: Int) -> String {
    DisplayWidth.fitEnds(text, to: max(width, 0), mark: presentation.cutMark)
  }

  private func namespaceLines(_ width: Int) -> [Line] {
    let selected = state.namespaceIndex
    let rows = state.namespaces + [(name: "@*", tally: state.tally)]
    let first = max(selected - state.height + 1, 0)
    return rows.enumerated().dropFirst(first).prefix(state.height).map { index, row in
      let count = Wording.count(row.tally.entries)
      let name = cutMiddle(SafeText(row.name).description, to: width - count.utf8.count - 3)
      let isSelected = index == selected
      return Line(
        text: pointer(isSelected) + name, color: isSelected ? .command : nil, facts: count)
    }
  }

  private func keyLines(_ width: Int) -> [Line] {
    guard !state.rows.isEmpty else {
      let words = state.pending == nil ? "no entries" : "reading" + presentation.ellipsis
      return [Line(text: " " + words, color: .dim)]
    }
    let hasNamespaces = state.query.namespace == nil
    return state.rows.enumerated().map { index, row in
      let isSelected = index == state.selected
      let entry = row.entry
      var facts = ""
      if width >= (hasNamespaces ? 46 : 34) {
        let size = Wording.size(entry.size)
        facts = String(repeating: " ", count: max(7 - size.utf8.count, 0)) + size + "  "
      }
      if width >= 22 {
        let isStale = entry.state == .stale && entry.expires != nil
        let expiry = presentation.clock.expiry(entry.expires?.unix, isBrief: true)
        facts += DisplayWidth.pad(isStale ? "stale" : expiry, to: 9)
      }
      let marked = state.marks.isEmpty ? "" : state.marks[row.id] == nil ? " " : "*"
      let room = width - 4 - marked.utf8.count - facts.utf8.count
      let name =
        (hasNamespaces ? "\(SafeText(entry.namespace)) " : "") + Quoting.key(entry.key.bytes)
      return Line(
        text: pointer(isSelected) + marked + cutMiddle(name, to: room),
        color: isSelected ? .command : row.change == .removed ? .dim : .quoted, facts: facts + " ",
        mark: row.change.flatMap { Self.marks[$0] })
    }
  }
}
