import Larder
import ShellLanguage

/// Draws the state of the full-screen view.
struct BrowseScreen {
  let state: BrowseState
  let presentation: Presentation

  var clock: WallClock { presentation.clock }
  var width: Int { state.size.columns }
  var height: Int { state.height }

  func frame() -> Frame {
    var frame = Frame(columns: state.size.columns, rows: state.size.rows)
    guard !state.isTooSmall else {
      let least = BrowseState.smallest
      frame.put("the window is too small:", at: 0, 0)
      frame.put("\(least.columns)x\(least.rows) at least; q leaves", at: 1, 0)
      return frame
    }
    switch state.page {
    case .help: drawHelp(on: &frame)
    case .value: drawWholeValue(on: &frame)
    case .panes:
      drawHeader(on: &frame)
      drawPanes(on: &frame)
    }
    drawBottom(on: &frame)
    return frame
  }

  func rendition(_ color: Color) -> String { presentation.hasColor ? color.rawValue : "" }

  /// The second form is for terminals without such characters.
  func drawn(_ text: String, _ plain: String) -> String { presentation.hasUnicode ? text : plain }

  var cutMark: String { presentation.cutMark }

  // MARK: The first line

  private func drawHeader(on frame: inout Frame) {
    let entries = state.namespaces.reduce(0) { $0 + $1.entries }
    let bytes = state.namespaces.reduce(0) { $0 + $1.bytes }
    let live = state.isPaused ? "paused" : drawn("\u{25CF} live", "live")
    var facts = [
      Wording.count(state.namespaces.count, "namespace", "namespaces"), Wording.entries(entries),
      Wording.size(bytes), live,
    ]
    if !state.marks.isEmpty { facts.insert("\(Wording.count(state.marks.count)) marked", at: 3) }
    let name = SafeText(state.storeName).description
    // The facts yield before the name, those of the store first.
    while facts.count > 1,
      DisplayWidth.of(facts.joined(separator: "  ")) + min(DisplayWidth.of(name), 20) + 4 > width
    {
      facts.removeFirst()
    }
    let text = facts.joined(separator: "  ")
    let start = width - DisplayWidth.of(text) - 1
    frame.put(
      DisplayWidth.fit(name, to: start - 3, mark: cutMark), at: 0, 1, rendition: rendition(.command)
    )
    frame.put(text, at: 0, start, rendition: rendition(.dim))
  }

  // MARK: The last line

  private func drawBottom(on frame: inout Frame) {
    let row = state.size.rows - 1
    if let question = state.question {
      let answer = " [y/N] "
      let text = DisplayWidth.fit(
        question.question.description, to: width - answer.utf8.count - 1, mark: cutMark)
      frame.put(text + answer, at: row, 1, rendition: rendition(.command))
    } else if let input = state.input {
      drawInput(input, on: &frame)
    } else if let message = state.message {
      frame.put(
        DisplayWidth.fit(message.text.description, to: width - 2, mark: cutMark), at: row, 1,
        rendition: message.isError ? rendition(.wrong) : "")
    } else {
      frame.put(keys, at: row, 1, rendition: rendition(.dim))
    }
  }

  private func drawInput(_ input: BrowseState.Input, on frame: inout Frame) {
    let row = state.size.rows - 1
    let label =
      switch input.purpose {
      case .filter: "filter: "
      case .expression: "where: "
      case .find: "find: "
      case .expiry(let entries): "expire \(Wording.entries(entries.count)) at or in: "
      }
    let note = state.message.map { "  " + $0.text.description } ?? ""
    var column = frame.put(label, at: row, 1, rendition: rendition(.command))
    // The end of a long line is where it is typed.
    let text = SafeText(input.text).description
    column = frame.put(
      DisplayWidth.suffix(of: text, columns: max(width - column - 2, 0)), at: row, column)
    column = frame.put("_", at: row, column)
    frame.put(note, at: row, column, rendition: rendition(.wrong))
  }

  /// The keys that act, as many as fit.
  private var keys: String {
    let enter = drawn("\u{23CE}", "Enter")
    var keys: [String]
    switch state.page {
    case .help:
      keys =
        state.mostHelpTop > 0 ? ["arrows scroll", "other keys go back"] : ["any key goes back"]
    case .value:
      keys = ["q back", "/ find", "n next", "y copy", "? help"]
    case .panes:
      let changes = state.isReadOnly ? [] : ["e expire", "d evict", "p pin"]
      keys = ["/ filter", "\(enter) value", "s sort", "w where"] + changes + ["y copy", "? help"]
      if state.showsOnePane { keys.insert("Tab pane", at: 0) }
    }
    while keys.count > 1, DisplayWidth.of(keys.joined(separator: "  ")) > width - 2 {
      // Help stays: it lists the others.
      keys.remove(at: keys.count - 2)
    }
    return keys.joined(separator: "  ")
  }

  // MARK: Whole windows

  private func drawWholeValue(on frame: inout Frame) {
    guard let value = state.value else { return }
    let title = "\(SafeText(value.entry.namespace)) \(Quoting.brief(value.entry.key.bytes))"
    let all = value.facts + value.lines
    let last = min(state.valueTop + state.valueHeight, all.count)
    let place = "\(Wording.count(last)) of \(Wording.count(all.count)) lines"
    let start = width - place.utf8.count - 1
    frame.put(
      DisplayWidth.fit(title, to: start - 3, mark: cutMark), at: 0, 1,
      rendition: rendition(.command))
    frame.put(place, at: 0, start, rendition: rendition(.dim))
    for (row, line) in all.dropFirst(state.valueTop).prefix(state.valueHeight).enumerated() {
      frame.put(line, at: row + 1, 0)
    }
  }

  private func drawHelp(on frame: inout Frame) {
    frame.put("Keys", at: 0, 1, rendition: rendition(.command))
    let top = min(state.helpTop, state.mostHelpTop)
    for (index, row) in state.helpRows.dropFirst(top).prefix(state.helpHeight).enumerated() {
      frame.put(row.keys, at: index + 2, 2, width: 12, rendition: rendition(.option))
      frame.put(row.text, at: index + 2, BrowseState.helpMargin)
    }
  }
}

/// A row of the page of keys: the keys, empty on a row that continues a text, and what they do.
private struct BrowseHelpRow: Equatable {
  let keys: String
  let text: String
}

extension BrowseState {
  /// The rows between the title and the last line of the page of keys.
  var helpHeight: Int { max(size.rows - 3, 1) }

  var mostHelpTop: Int { max(helpRows.count - helpHeight, 0) }

  /// The columns that a row gives to its keys, with the gaps around them.
  fileprivate static let helpMargin = 15

  /// The keys that act, wrapped to the window.
  fileprivate var helpRows: [BrowseHelpRow] {
    let changes = [
      ("e", "set the expiry of the entry, or of the marked ones"), ("d", "evict"),
      ("p", "pin; unpin if all are pinned"),
    ]
    let keys =
      [
        ("arrows hjkl", "move; PgUp PgDn Home End by more"), ("Tab", "next pane"),
        ("/", "filter: a pattern such as user/*, or text that keys contain"),
        ("w", "condition, such as .year > 1999 (help where)"),
        ("s", "sort by key, size, expiry, written, used"), ("Enter", "the whole value"),
        ("m", "mark; e d p concern the marked entries"),
      ] + (isReadOnly ? [] : changes) + [
        ("y", "copy the value to the clipboard"), ("r", "read again"), ("Space", "pause changes"),
        ("q Esc ^C ^D", "back, and leave"), ("+ ~ -", "new, changed, gone"),
      ]
    let columns = size.columns - Self.helpMargin - 1
    return keys.flatMap { keys, text in
      DisplayWidth.wrap(text, columns: columns, indent: 0).split(separator: "\n").enumerated().map {
        BrowseHelpRow(keys: $0.offset == 0 ? keys : "", text: String($0.element))
      }
    }
  }
}
