import Larder
import ShellLanguage

struct BrowseScreen {
  let state: BrowseState
  let presentation: Presentation

  var width: Int { state.size.columns }

  func frame() -> Frame {
    var frame = Frame(columns: state.size.columns, rows: state.size.rows)
    guard !state.isTooSmall else {
      let least = BrowseState.smallest
      frame.put("the window is too small:", at: 0, 0)
      frame.put("\(least.columns)x\(least.rows) at least; q leaves", at: 1, 0)
      return frame
    }
    switch state.page {
    case .help:
      frame.put("Keys", at: 0, 1, rendition: rendition(.command))
      let rows = state.helpRows.dropFirst(min(state.helpTop, state.mostHelpTop))
      for (index, row) in rows.prefix(state.helpHeight).enumerated() {
        frame.put(row.keys, at: index + 2, 2, width: 12, rendition: rendition(.option))
        frame.put(row.text, at: index + 2, BrowseState.helpMargin)
      }
    case .value:
      guard let value = state.value else { break }
      let last = min(state.valueTop + state.valueHeight, value.all.count)
      drawTitle(
        "\(SafeText(value.entry.namespace)) \(Quoting.brief(value.entry.key.bytes))",
        ["\(Wording.count(last)) of \(Wording.count(value.all.count)) lines"], on: &frame)
      let shown = value.all.dropFirst(state.valueTop).prefix(state.valueHeight)
      for (row, line) in shown.enumerated() { frame.put(line, at: row + 1, 0) }
    case .panes:
      let live = state.isPaused ? "paused" : drawn("\u{25CF} live", "live")
      let marks = state.marks.isEmpty ? [] : ["\(Wording.count(state.marks.count)) marked"]
      let (entries, bytes) = state.namespaces.reduce((0, 0)) {
        ($0.0 + $1.entries, $0.1 + $1.bytes)
      }
      let facts = [
        Wording.count(state.namespaces.count, "namespace", "namespaces"), Wording.entries(entries),
        Wording.size(bytes),
      ]
      drawTitle(SafeText(state.storeName).description, facts + marks + [live], on: &frame)
      drawPanes(on: &frame)
    }
    drawBottom(on: &frame)
    return frame
  }

  func rendition(_ color: Color) -> String { presentation.hasColor ? color.rawValue : "" }

  func drawn(_ text: String, _ plain: String) -> String { presentation.hasUnicode ? text : plain }

  func fit(_ text: String, to width: Int) -> String {
    DisplayWidth.fit(text, to: width, mark: presentation.cutMark)
  }

  /// Draws the first line. A narrow window omits the first facts, so that at least 20 columns of the name are visible.
  private func drawTitle(_ name: String, _ facts: [String], on frame: inout Frame) {
    var facts = facts[...]
    while facts.count > 1,
      DisplayWidth.of(facts.joined(separator: "  ")) + min(DisplayWidth.of(name), 20) + 4 > width
    {
      facts.removeFirst()
    }
    let text = facts.joined(separator: "  ")
    let start = width - DisplayWidth.of(text) - 1
    frame.put(fit(name, to: start - 3), at: 0, 1, rendition: rendition(.command))
    frame.put(text, at: 0, start, rendition: rendition(.dim))
  }

  private func drawBottom(on frame: inout Frame) {
    let row = state.size.rows - 1
    if let question = state.question {
      let answer = " [y/N] "
      let text = fit(question.question.description, to: width - answer.utf8.count - 1)
      frame.put(text + answer, at: row, 1, rendition: rendition(.command))
    } else if let input = state.input {
      let note = state.message.map { "  " + $0.text.description } ?? ""
      var column = frame.put(label(of: input), at: row, 1, rendition: rendition(.command))
      // The cursor is at the end of the line, so of a long line only the end is shown.
      let text = SafeText(input.text).description
      let end = DisplayWidth.suffix(of: text, columns: max(width - column - 2, 0))
      column = frame.put(end + "_", at: row, column)
      frame.put(note, at: row, column, rendition: rendition(.wrong))
    } else if let message = state.message {
      frame.put(
        fit(message.text.description, to: width - 2), at: row, 1,
        rendition: message.isError ? rendition(.wrong) : "")
    } else {
      frame.put(keys, at: row, 1, rendition: rendition(.dim))
    }
  }

  private func label(of input: BrowseState.Input) -> String {
    switch input.purpose {
    case .filter: "filter: "
    case .expression: "where: "
    case .find: "find: "
    case .expiry(let entries): "expire \(Wording.entries(entries.count)) at or in: "
    }
  }

  /// The keys that have an effect in the present state, as many as fit into the line.
  private var keys: String {
    var keys: [String]
    switch state.page {
    case .help where state.mostHelpTop > 0: keys = ["arrows scroll", "other keys go back"]
    case .help: keys = ["any key goes back"]
    case .value: keys = ["q back", "/ find", "n next", "y copy", "? help"]
    case .panes:
      keys = state.keys.compactMap { key in key.word.map { "\(key.key) \($0)" } }
        .map { $0.replacing("Enter", with: drawn("\u{23CE}", "Enter")) }
      if state.showsOnePane { keys.insert("Tab pane", at: 0) }
    }
    while keys.count > 1, DisplayWidth.of(keys.joined(separator: "  ")) > width - 2 {
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
