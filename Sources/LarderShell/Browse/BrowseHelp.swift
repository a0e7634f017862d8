import ShellLanguage

/// A row of the page of keys: the keys, empty on a row that continues a text, and what they do.
struct BrowseHelpRow: Equatable {
  let keys: String
  let text: String
}

extension BrowseState {
  /// The rows between the title and the last line of the page of keys.
  var helpHeight: Int { max(size.rows - 3, 1) }

  var mostHelpTop: Int { max(helpRows.count - helpHeight, 0) }

  /// The columns that a row gives to its keys, with the gaps around them.
  static let helpMargin = 15

  /// The keys that act, wrapped to the window.
  var helpRows: [BrowseHelpRow] {
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
