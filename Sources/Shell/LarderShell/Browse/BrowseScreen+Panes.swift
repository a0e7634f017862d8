import Larder
import ShellLanguage

extension BrowseScreen {
  private typealias Pane = BrowseState.Pane

  /// A line of a pane. The facts are at the right edge. A text that is too long is cut before the facts.
  private struct Line {
    var text: String
    var color: Color?
    var facts = ""
    /// A mark for a change, such as `+`. The mark is in the cell before the last cell of the line.
    var mark: (text: String, color: Color)?
  }

  private static let top = 1

  func drawPanes(on frame: inout Frame) {
    let widths = state.widths
    let all: [(pane: Pane, width: Int)] =
      state.showsOnePane
      ? [(state.pane, widths.keys)]
      : [(.namespaces, widths.namespaces), (.keys, widths.keys), (.value, widths.value)]
    drawBorders(all.map(\.width), on: &frame)
    var column = 1
    for (pane, width) in all {
      let isFocus = pane == state.pane && !state.showsOnePane
      frame.put(
        " \(fit(title(of: pane), to: width - 2)) ", at: Self.top, column, width: width,
        rendition: rendition(isFocus || state.showsOnePane ? .command : .namespace))
      for (row, line) in lines(of: pane, width).prefix(state.height).enumerated() {
        draw(line, at: Self.top + 1 + row, column, width, on: &frame)
      }
      if pane == .keys || state.showsOnePane, !state.rows.isEmpty {
        frame.put(
          place, at: Self.top + state.height + 1, column + 1, width: width - 2,
          rendition: rendition(.dim))
      }
      column += width + 1
    }
  }

  private func draw(_ line: Line, at row: Int, _ column: Int, _ width: Int, on frame: inout Frame) {
    frame.put(line.text, at: row, column, width: width, rendition: line.color.map(rendition) ?? "")
    let end = column + width - 1
    frame.put(line.facts, at: row, end - DisplayWidth.of(line.facts), rendition: rendition(.dim))
    if let mark = line.mark {
      frame.put(mark.text, at: row, end - 1, rendition: rendition(mark.color))
    }
  }

  private func title(of pane: Pane) -> String {
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

  private func drawBorders(_ widths: [Int], on frame: inout Frame) {
    let dash = drawn("\u{2500}", "-")
    let bar = drawn("\u{2502}", "|")
    func border(_ fill: String, _ ends: String) -> String {
      let ends = ends.map(String.init)
      let parts = widths.map { String(repeating: fill, count: $0) }
      return ends[0] + parts.joined(separator: ends[1]) + ends[2]
    }
    let last = Self.top + state.height + 1
    for row in Self.top...last {
      let text =
        row == Self.top
        ? border(dash, drawn("\u{250C}\u{252C}\u{2510}", "+++"))
        : row == last
          ? border(dash, drawn("\u{2514}\u{2534}\u{2518}", "+++")) : border(" ", bar + bar + bar)
      frame.put(text, at: row, 0, rendition: rendition(.dim))
    }
  }

  /// The place of the selected row for the border below the list, such as `3 of 64`.
  private var place: String {
    let index = state.firstIndex.map { Wording.count($0 + state.selected + 1) + " " } ?? ""
    return " \(index)of \(state.total.map { Wording.count($0) } ?? presentation.cutMark) "
  }

  private func lines(of pane: Pane, _ width: Int) -> [Line] {
    switch pane {
    case .namespaces: namespaceLines(width)
    case .keys: keyLines(width)
    case .value:
      Array(
        ((state.value?.facts ?? []).map { Line(text: " " + $0, color: .dim) }
          + (state.value?.lines ?? []).map { Line(text: " " + $0) }).dropFirst(state.valueTop))
    }
  }

  private func pointer(_ isSelected: Bool) -> String { isSelected ? drawn("\u{25B8}", ">") : " " }

  private func cutMiddle(_ text: String, to width: Int) -> String {
    DisplayWidth.fitEnds(text, to: max(width, 0), mark: presentation.cutMark)
  }

  private func namespaceLines(_ width: Int) -> [Line] {
    let total = state.namespaces.reduce(0) { $0 + $1.entries }
    let rows = state.namespaces.map { ($0.name, $0.entries) } + [("@*", total)]
    let selected =
      state.namespaces.firstIndex { $0.name == state.query.namespace } ?? rows.count - 1
    return rows.enumerated().dropFirst(max(selected - state.height + 1, 0)).map { index, row in
      let count = Wording.count(row.1)
      let name = cutMiddle(SafeText(row.0).description, to: width - count.utf8.count - 3)
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
      if width >= 22 { facts += DisplayWidth.pad(expiry(of: entry), to: 9) }
      let marked = state.marks.isEmpty ? "" : state.marks[row.id] == nil ? " " : "*"
      let room = width - 4 - marked.utf8.count - facts.utf8.count
      let name =
        (hasNamespaces ? "\(SafeText(entry.namespace)) " : "") + Quoting.key(entry.key.bytes)
      let mark: (String, Color)? =
        switch row.change {
        case .added: ("+", .quoted)
        case .changed: ("~", .pattern)
        case .removed: ("-", .wrong)
        case nil: nil
        }
      return Line(
        text: pointer(isSelected) + marked + cutMiddle(name, to: room),
        color: isSelected ? .command : row.change == .removed ? .dim : .quoted, facts: facts + " ",
        mark: mark)
    }
  }

  /// The expiry for a list: `in 21 h`, `never`, `stale` or `expired`. A duration has only its first unit.
  private func expiry(of entry: Store.Entry) -> String {
    entry.state == .stale && entry.expires != nil
      ? "stale" : presentation.clock.expiry(entry.expires?.unix, isBrief: true)
  }
}
