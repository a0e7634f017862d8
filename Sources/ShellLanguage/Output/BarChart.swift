/// Numbers as rows with a bar each, as wide as the terminal.
package struct BarChart {
  private let rows: [(label: String, count: Int)]

  package init(_ rows: [(label: String, count: Int)]) { self.rows = rows }

  package func bytes(for presentation: Presentation) -> [UInt8] {
    let dash = presentation.hasUnicode ? "\u{2013}" : "-"
    let labels = rows.map { SafeText($0.label.replacing("\u{2013}", with: dash)).description }
    let counts = rows.map { Wording.count($0.count) }
    let labelWidth = labels.map { DisplayWidth.of($0) }.max() ?? 0
    let countWidth = counts.map(\.count).max() ?? 0
    let columns = presentation.width ?? 80
    let width = max(columns - labelWidth - countWidth - 4, 1)
    let most = max(rows.map(\.count).max() ?? 0, 1)
    var text = ""
    for (index, row) in rows.enumerated() {
      let bar = Bar.text(
        Double(row.count) / Double(most), width: width, hasUnicode: presentation.hasUnicode)
      let space = String(repeating: " ", count: countWidth - counts[index].count)
      let line = DisplayWidth.pad(labels[index], to: labelWidth) + "  " + space + counts[index]
      text +=
        DisplayWidth.fit(
          line + (bar.isEmpty ? "" : " \(bar)"), to: columns,
          mark: presentation.hasUnicode ? "\u{2026}" : "~") + "\n"
    }
    return Array(text.utf8)
  }
}
