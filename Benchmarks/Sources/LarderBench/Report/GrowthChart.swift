import Foundation

/// A chart of the time of one workload by the number of entries. Each peer has a line, and both scales are logarithmic.
struct GrowthChart {
  private static let width = 760.0
  private static let height = 420.0
  private static let left = 80.0
  private static let right = 190.0
  private static let top = 60.0
  private static let bottom = 50.0

  private let title: String
  private let rows: [Line]

  init(_ rows: [Line], workload: String, title: String) {
    self.title = title
    self.rows = rows.filter { $0.workload == workload && $0.figure != nil }
  }

  func svg() -> String {
    var canvas = Canvas()
    canvas.text(title, x: 24, y: 34, style: "title")
    let counts = rows.map { log10(Double($0.scenario.entries)) }
    let times = rows.compactMap { $0.figure.map { log10($0.median) } }
    let low = (times.min() ?? 0).rounded(.down)
    let high = max(low + 1, (times.max() ?? 1).rounded(.up))
    let first = counts.min() ?? 0
    let last = max(first + 1, counts.max() ?? 1)
    func x(_ entries: Int) -> Double {
      Self.left + (log10(Double(entries)) - first) / (last - first)
        * (Self.width - Self.left - Self.right)
    }
    func y(_ time: Double) -> Double {
      Self.height - Self.bottom - (log10(time) - low) / (high - low)
        * (Self.height - Self.top - Self.bottom)
    }
    for power in Int(low)...Int(high) {
      let at = y(pow(10, Double(power)))
      canvas.line(x1: Self.left, y1: at, x2: Self.width - Self.right, y2: at, style: "axis")
      canvas.text(
        Unit.nanoseconds.text(pow(10, Double(power))), x: Self.left - 8, y: at + 4, anchor: .end,
        style: "faint")
    }
    for entries in Set(rows.map(\.scenario.entries)).sorted() {
      canvas.text(
        grouped(entries), x: x(entries), y: Self.height - Self.bottom + 22, anchor: .middle,
        style: "faint")
    }
    draw(on: &canvas, x: x, y: y)
    return canvas.document(width: Self.width, height: Self.height, title: title)
  }

  private func draw(on canvas: inout Canvas, x: (Int) -> Double, y: (Double) -> Double) {
    var names: [String] = []
    for row in rows where !names.contains(row.name) { names.append(row.name) }
    // Each label is at the end of its line. Labels that would overlap are moved apart.
    var labels: [(name: String, y: Double)] = []
    for (index, name) in names.enumerated() {
      let line = rows.filter { $0.name == name }.sorted {
        $0.scenario.entries < $1.scenario.entries
      }
      let points = line.map { (x: x($0.scenario.entries), y: y($0.figure?.median ?? 1)) }
      canvas.path(points, color: index % 8)
      if let end = points.last { labels.append((name, end.y)) }
    }
    labels.sort { $0.y < $1.y }
    var free = 0.0
    for label in labels {
      let at = max(label.y, free)
      canvas.text(label.name, x: Self.width - Self.right + 12, y: at + 4)
      free = at + 16
    }
  }
}
