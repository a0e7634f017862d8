import Foundation

/// The rows of one workload as a table of text.
enum Table {
  static func text(_ rows: [Line]) -> String {
    guard let first = rows.first else { return "" }
    var lines = ["\(first.workload) (\(first.scenario))"]
    for row in rows { lines.append("  " + line(row)) }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func line(_ row: Line) -> String {
    let head = padded(row.name, 28) + padded(row.level.rawValue, 9)
    if let reason = row.reason { return head + "-  " + reason }
    guard let figure = row.figure else { return head + "-" }
    var line = head + aligned(row.unit.text(figure.median), 10)
    line += padded(
      row.rounds > 1 ? "  (\(row.unit.text(figure.low)) to \(row.unit.text(figure.high)))" : "", 26)
    if let ratio = row.ratio {
      line += aligned(Unit.factor.text(ratio.median), 9) + " of LMDB in C"
      if row.rounds > 1 {
        line += "  (\(Unit.factor.text(ratio.low)) to \(Unit.factor.text(ratio.high)))"
      }
    }
    return line
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  private static func aligned(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}

extension Unit {
  /// A figure, rounded, with its unit.
  func text(_ value: Double) -> String {
    switch self {
    case .factor:
      return digits(value) + " x"
    case .nanoseconds:
      if value < 1e4 { return "\(Int(value.rounded())) ns" }
      if value < 1e6 { return digits(value / 1e3) + " us" }
      if value < 1e9 { return digits(value / 1e6) + " ms" }
      return digits(value / 1e9) + " s"
    case .bytes:
      if value < 1e4 { return "\(Int(value.rounded())) B" }
      if value < 1e6 { return digits(value / 1e3) + " KB" }
      return digits(value / 1e6) + " MB"
    }
  }

  private func digits(_ value: Double) -> String {
    String(format: value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f", value)
  }
}
