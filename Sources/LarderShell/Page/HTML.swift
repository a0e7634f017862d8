import ShellLanguage

/// Parts of a page without network access and scripts.
enum HTML {
  /// Text between tags or in an attribute: hidden characters are escaped, and nothing becomes a tag.
  static func text(_ text: String) -> String {
    var result = ""
    for scalar in SafeText(text).description.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
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
    td, th { padding: .2rem .6rem .2rem 0; text-align: left; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
    th { color: var(--faint); font-weight: normal; }
    svg { width: 100%; height: auto; display: block; } svg text { fill: var(--ink); font: 13px system-ui, sans-serif; } svg rect { fill: var(--bar); }
    </style>
    </head>
    <body>
    \(sections.joined(separator: "\n"))
    </body>
    </html>

    """
  }

  static func section(_ title: String, _ body: String) -> String {
    "<section>\n<h2>\(text(title))</h2>\n\(body)\n</section>"
  }

  static func table(_ titles: [String], _ rows: [[String]]) -> String {
    let head = titles.map { "<th>\(text($0))</th>" }.joined()
    let body = rows.map { row in
      "<tr>" + row.map { "<td>\(text($0))</td>" }.joined() + "</tr>"
    }
    return (["<table>", "<tr>\(head)</tr>"] + body + ["</table>"]).joined(separator: "\n")
  }

  /// A bar for each row, the longest as long as fits.
  ///
  /// - Parameter rows: The label, the part of the longest bar, and the amount in words.
  static func bars(_ title: String, _ rows: [(label: String, share: Double, words: String)])
    -> String
  {
    let step = 24
    let shown = rows.map {
      DisplayWidth.fit(SafeText($0.label).description, to: 44, mark: "\u{2026}")
    }
    // About 8 units for a character of 13 units: neither labels nor words are clipped.
    let labels = min(max((shown.map { DisplayWidth.of($0) }.max() ?? 0) * 8 + 16, 80), 368)
    let longest = rows.map { DisplayWidth.of($0.words) }.max() ?? 0
    let room = max(720 - labels - 16 - longest * 8, 40)
    var lines = [
      "<svg viewBox=\"0 0 720 \(max(rows.count, 1) * step)\" role=\"img\" aria-label=\"\(text(title))\">"
    ]
    for (index, row) in rows.enumerated() {
      let top = index * step
      let share = row.share.isFinite ? min(max(row.share, 0), 1) : 0
      let width = share > 0 ? max(Int(share * Double(room)), 1) : 0
      let label = shown[index]
      lines += [
        "<text x=\"\(labels - 8)\" y=\"\(top + 16)\" text-anchor=\"end\">\(text(label))</text>",
        "<rect x=\"\(labels)\" y=\"\(top + 4)\" width=\"\(width)\" height=\"16\" rx=\"2\"/>",
        "<text x=\"\(labels + width + 8)\" y=\"\(top + 16)\">\(text(row.words))</text>",
      ]
    }
    return (lines + ["</svg>"]).joined(separator: "\n")
  }
}
