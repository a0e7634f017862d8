import Larder
import ShellLanguage

struct BrowseScreen {
  let state: BrowseState
  let presentation: Presentation
  var frame: Frame

  init(_ state: BrowseState, for presentation: Presentation) {
    self.state = state
    self.presentation = presentation
    frame = Frame(
      columns: state.size.columns, rows: state.size.rows, hasColor: presentation.hasColor)
    draw()
  }

  private mutating func draw() {
    guard !state.isTooSmall else {
      let least = BrowseState.smallest
      frame.put("the window is too small:", at: 0, 0)
      frame.put("\(least.columns)x\(least.rows) at least; q leaves", at: 1, 0)
      return
    }
    switch state.page {
    case .help:
      frame.put("Keys", at: 0, 1, .command)
      let rows = state.helpRows.dropFirst(min(state.helpTop, state.mostTop))
      for (index, row) in rows.prefix(state.pageHeight).enumerated() {
        frame.put(row.keys, at: index + 2, 2, width: 12, .option)
        frame.put(row.text, at: index + 2, BrowseState.helpMargin)
      }
    case .value:
      guard let value = state.value else { break }
      let last = min(state.valueTop + state.pageHeight, value.lines.count)
      drawTitle(
        "\(SafeText(value.entry.namespace)) \(Quoting.brief(value.entry.key.bytes))",
        ["\(Wording.count(last)) of \(Wording.count(value.lines.count)) lines"])
      let shown = value.lines.dropFirst(state.valueTop).prefix(state.pageHeight)
      for (row, line) in shown.enumerated() { frame.put(line, at: row + 1, 0) }
    case .panes:
      let marks = state.marks.isEmpty ? [] : ["\(Wording.count(state.marks.count)) marked"]
      let facts = [
        Wording.count(state.namespaces.count, "namespace", "namespaces"),
        Wording.entries(state.tally.entries), Wording.size(state.tally.bytes),
      ]
      let live = state.isPaused ? "paused" : drawn("\u{25CF} live", "live")
      drawTitle(SafeText(state.storeName).description, facts + marks + [live])
      drawPanes()
    }
    drawBottom()
  }

  func drawn(_ text: String, _ plain: String) -> String { presentation.hasUnicode ? text : plain }

  func fit(_ text: String, to width: Int) -> String {
    DisplayWidth.fit(text, to: width, mark: presentation.cutMark)
  }

  /// Draws the first line. A narrow window omits the first facts, so that at least 20 columns of the name are visible.
  private mutating func drawTitle(_ name: String, _ facts: [String]) {
    var facts = facts
    let room = frame.columns - min(DisplayWidth.of(name), 20) - 4
    while facts.count > 1, DisplayWidth.of(facts.joined(separator: "  ")) > room {
      facts.removeFirst()
    }
    let text = facts.joined(separator: "  ")
    let start = frame.columns - DisplayWidth.of(text) - 1
    frame.put(fit(name, to: start - 3), at: 0, 1, .command)
    frame.put(text, at: 0, start, .dim)
  }

  private mutating func drawBottom() {
    let row = frame.rows - 1
    if let question = state.question {
      let answer = " [y/N] "
      let room = frame.columns - answer.utf8.count - 1
      frame.put(fit(question.question.description, to: room) + answer, at: row, 1, .command)
    } else if let input = state.input {
      let count = input.entries.count
      let place = count == 0 ? "" : " \(Wording.entries(count)) at or in"
      var column = frame.put("\(input.purpose.rawValue)\(place): ", at: row, 1, .command)
      // The cursor is at the end of the line, so of a long line only the end is shown.
      let end = DisplayWidth.suffix(
        of: SafeText(input.text).description, columns: max(frame.columns - column - 2, 0))
      column = frame.put(end + "_", at: row, column)
      if let message = state.message { frame.put("  \(message.text)", at: row, column, .wrong) }
    } else if let message = state.message {
      let text = fit(message.text.description, to: frame.columns - 2)
      frame.put(text, at: row, 1, message.isError ? .wrong : nil)
    } else {
      frame.put(keys, at: row, 1, .dim)
    }
  }

  /// The keys that have an effect in the present state, as many as fit into the line.
  private var keys: String {
    var keys: [String]
    switch state.page {
    case .help where state.mostTop > 0: keys = ["arrows scroll", "other keys go back"]
    case .help: keys = ["any key goes back"]
    case .value: keys = ["q back", "/ find", "n next", "y copy", "? help"]
    case .panes:
      keys = state.keys.compactMap { key in key.word.map { "\(key.key) \($0)" } }
        .map { $0.replacing("Enter", with: drawn("\u{23CE}", "Enter")) }
      if state.showsOnePane { keys.insert("Tab pane", at: 0) }
    }
    while keys.count > 1, DisplayWidth.of(keys.joined(separator: "  ")) > frame.columns - 2 {
      // On most pages the last key is `?`, which lists all keys and must stay. So the key before the last key is omitted.
      keys.remove(at: keys.count - 2)
    }
    return keys.joined(separator: "  ")
  }
}

extension BrowseState {
  /// The column at which the explanations on the page of keys begin.
  static let helpMargin = 15

  /// The keys of the panes: the key, its word in the last line of the window (or nil), and its explanation on the page of keys.
  private static let allKeys: [(key: String, word: String?, text: String)] = [
    ("arrows hjkl", nil, "move; PgUp PgDn Home End by more"), ("Tab", nil, "next pane"),
    ("/", "filter", "filter: a pattern such as user/*, or text that keys contain"),
    ("Enter", "value", "the whole value"),
    ("s", "sort", "sort by key, size, expiry, written, used"),
    ("w", "where", "condition, such as .year > 1999 (help where)"),
    ("m", nil, "mark; e d p concern the marked entries"),
    ("e", "expire", "set the expiry of the entry, or of the marked ones"), ("d", "evict", "evict"),
    ("p", "pin", "pin; unpin if all are pinned"), ("y", "copy", "copy the value to the clipboard"),
    ("?", "help", "this page"), ("r", nil, "read again"), ("Space", nil, "pause changes"),
    ("q Esc ^C ^D", nil, "back, and leave"), ("+ ~ -", nil, "new, changed, gone"),
  ]

  fileprivate var keys: [(key: String, word: String?, text: String)] {
    Self.allKeys.filter { !isReadOnly || !["e", "d", "p"].contains($0.key) }
  }

  /// The rows of the page of keys, wrapped to the window. A row that continues an explanation has no keys.
  var helpRows: [(keys: String, text: String)] {
    let columns = size.columns - Self.helpMargin - 1
    return keys.flatMap { key in
      DisplayWidth.wrap(key.text, columns: columns, indent: 0).split(separator: "\n").enumerated()
        .map { ($0.offset == 0 ? key.key : "", String($0.element)) }
    }
  }
}
