import Foundation

/// A bar chart for the largest stores. A bar is the time of a peer relative to LMDB in C, on a logarithmic scale.
struct Chart {
  private static let panelWidth = 440.0
  private static let barHeight = 17.0
  private static let nameWidth = 150.0
  private static let margin = 24.0

  private struct Panel {
    var title: String
    var rows: [Line]
    var height: Double { 40 + Double(rows.count) * Chart.barHeight + 14 }
  }

  private let scenario: Scenario
  private let panels: [Panel]

  /// Nil if no time of values with 200 bytes can be compared with LMDB in C.
  init?(_ rows: [Line]) {
    let small = rows.filter {
      $0.ratio != nil && $0.unit == .nanoseconds && $0.scenario.valueSize == 200
    }
    guard let scenario = small.map(\.scenario).max(by: { $0.entries < $1.entries }) else {
      return nil
    }
    self.scenario = scenario
    var groups: [Panel] = []
    for row in small where row.scenario == scenario {
      let levels = Set(
        small.filter {
          $0.workload == row.workload && $0.scenario == scenario
            && $0.peer == PeerKind.reference
        }.map(\.level))
      // Writes may be measured at two levels. If so, the title of the panel names the level.
      let level = row.level == .durable ? "durable" : "no sync"
      let title = row.workload + (levels.count > 1 ? " (\(level))" : "")
      if let index = groups.firstIndex(where: { $0.title == title }) {
        groups[index].rows.append(row)
      } else {
        groups.append(Panel(title: title, rows: [row]))
      }
    }
    panels = groups.filter { $0.rows.count > 1 }
  }

  func svg() -> String {
    var canvas = Canvas()
    let left = Self.margin
    canvas.text(
      "Time beside LMDB in C: \(scenario)", x: left, y: 34, style: "title")
    canvas.text(
      "Shorter is better; the dashed line is LMDB in C; each step of the scale is a factor of ten.",
      x: left, y: 54, style: "faint")
    var tops = [76.0, 76.0]
    for panel in panels {
      let column = tops[0] <= tops[1] ? 0 : 1
      draw(
        panel, on: &canvas, x: left + Double(column) * (Self.panelWidth + Self.margin),
        y: tops[column])
      tops[column] += panel.height
    }
    return canvas.document(
      width: 2 * Self.panelWidth + 3 * Self.margin, height: max(tops[0], tops[1]) + 10,
      title: "Time beside LMDB in C: \(scenario)")
  }

  private func draw(_ panel: Panel, on canvas: inout Canvas, x: Double, y: Double) {
    let ratios = panel.rows.compactMap { $0.ratio?.median }
    let low = min(-1, (ratios.map(log10).min() ?? 0).rounded(.down))
    let high = max(1, (ratios.map(log10).max() ?? 0).rounded(.up))
    let start = x + Self.nameWidth
    let width = Self.panelWidth - Self.nameWidth - 56
    func place(_ ratio: Double) -> Double {
      start + (log10(ratio) - low) / (high - low) * width
    }
    canvas.text(panel.title, x: x, y: y + 16, style: "head")
    let top = y + 28
    let bottom = top + Double(panel.rows.count) * Self.barHeight
    for power in Int(low)...Int(high) {
      let at = place(pow(10, Double(power)))
      canvas.line(x1: at, y1: top - 4, x2: at, y2: bottom, style: power == 0 ? "one" : "axis")
    }
    for (index, row) in panel.rows.enumerated() {
      guard let ratio = row.ratio?.median else { continue }
      let at = top + Double(index) * Self.barHeight
      canvas.text(row.name, x: start - 8, y: at + 11, anchor: .end)
      let style =
        row.peer == "larder" ? "ours" : row.peer == PeerKind.reference ? "limit" : "theirs"
      canvas.bar(
        x: start, y: at, width: place(ratio) - start, height: Self.barHeight - 5, style: style)
      canvas.text(
        row.unit.text(row.figure?.median ?? 0), x: max(place(ratio), start) + 6, y: at + 11,
        style: "faint")
    }
  }
}
