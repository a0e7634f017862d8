import ShellLanguage

/// Parts of an HTML page that needs no network and no scripts.
enum HTML {
  private static let entities: [Unicode.Scalar: String] = [
    "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;",
  ]

  /// Text for use between tags or in an attribute. Hidden characters and the characters of tags are escaped.
  static func text(_ text: String) -> String {
    SafeText(text).description.unicodeScalars.map { entities[$0] ?? String($0) }.joined()
  }

  static func page(_ title: String, _ sections: [String]) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\(text(title))</title>
    <style>
    :root { color-scheme: light dark; --ink: #1d2430; --paper: #fbfaf7; --faint: #667; --bar: #2f6f8f; --line: #d9d6cd; }
    @media (prefers-color-scheme: dark) { :root { --ink: #e6e4dd; --paper: #16191f; --faint: #9aa; --bar: #6fb4d3; --line: #333a45; } }
    body { margin: 2rem auto; max-width: 52rem; padding: 0 1rem; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
    h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin-top: 2.2rem; border-bottom: 1px solid var(--line); }
    p { color: var(--faint); } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
    td, th { padding: .2rem .8rem .2rem 0; text-align: left; border-bottom: 1px solid var(--line); } th { color: var(--faint); font-weight: normal; }
    td[data-title=namespace], td[data-title=key] { overflow-wrap: anywhere; } td[data-title=written], td[data-title=expires] { white-space: nowrap; }
    .bars { display: grid; grid-template-columns: fit-content(40%) 1fr; gap: .3rem .7rem; margin: 0; font-size: .9rem; } .bars > div { display: contents; }
    dt { text-align: right; overflow-wrap: anywhere; } dd { margin: 0; display: flex; align-items: center; gap: .5rem; } dd span { white-space: nowrap; }
    dd i { background: var(--bar); height: 1rem; border-radius: 2px; flex: none; } footer { overflow-wrap: anywhere; font-size: .9rem; }
    @media (max-width: 40rem) { .bars { grid-template-columns: 1fr; gap: 0; } dt { text-align: left; margin-top: .5rem; } }
    @media (max-width: 54rem) { tr { display: block; padding: .3rem 0; border-bottom: 1px solid var(--line); }
      td { display: flex; border: 0; padding: 0; } td::before { content: attr(data-title); color: var(--faint); flex: 0 0 7rem; }
      tr:first-child { display: none; } }
    </style>
    </head>
    <body>
    \(sections.joined(separator: "\n"))
    </body>
    </html>

    """
  }

  /// A table of `rows`. In a narrow window, each cell gets a line of its own below its title, so that no cell is cut.
  static func table(
    _ columns: [Column], _ rows: [[Cell]], for presentation: Presentation
  ) -> String {
    let head = columns.map { "<th>\(text($0.title))</th>" }.joined()
    let body = rows.map { row in
      let cells = zip(columns, row).map { column, cell in
        "<td data-title=\"\(text(column.title))\">\(text(cell.shown(presentation)))</td>"
      }
      return "<tr>\(cells.joined())</tr>"
    }
    return (["<table>", "<tr>\(head)</tr>"] + body + ["</table>"]).joined(separator: "\n")
  }

  /// A bar for each row. The longest bar leaves room for the words of its row. Labels wrap, so that nothing is cut.
  static func bars(_ title: String, _ rows: [(label: String, share: Double, words: String)])
    -> String
  {
    let items = rows.map { row in
      let share = row.share.isFinite ? min(max(row.share, 0), 1) : 0
      let part = Int((share * 1000).rounded())
      return "<div><dt>\(text(row.label))</dt><dd>"
        + "<i style=\"width: calc((100% - 11rem) * \(part) / 1000)\"></i>"
        + "<span>\(text(row.words))</span></dd></div>"
    }
    return (["<dl class=\"bars\" aria-label=\"\(text(title))\">"] + items + ["</dl>"])
      .joined(separator: "\n")
  }
}
