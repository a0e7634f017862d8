/// A run as Markdown. Each size has a table, with a line for each workload and a column for each peer.
struct Matrix {
  private struct Work: Hashable {
    var name: String
    /// The level; nil if the workload was run at only one level.
    var level: Level?
  }

  private let document: Document

  init(_ document: Document) { self.document = document }

  func markdown() -> String {
    var scenarios: [Scenario] = []
    for row in document.rows where !scenarios.contains(row.scenario) {
      scenarios.append(row.scenario)
    }
    return scenarios.map(table).joined(separator: "\n")
  }

  private func table(_ scenario: Scenario) -> String {
    let rows = document.rows.filter { $0.scenario == scenario && $0.figure != nil }
    let peers = document.peers.filter { peer in rows.contains { $0.peer == peer.id } }
    var works: [Work] = []
    for row in rows where !works.contains(work(row, in: rows)) { works.append(work(row, in: rows)) }
    var lines = ["### \(scenario)", ""]
    lines.append("| work | " + peers.map(\.name).joined(separator: " | ") + " |")
    lines.append("| --- |" + String(repeating: " --- |", count: peers.count))
    for work in works {
      let cells = peers.map { peer in
        rows.first { $0.peer == peer.id && self.work($0, in: rows) == work }.map(cell) ?? "-"
      }
      lines.append("| \(title(work)) | " + cells.joined(separator: " | ") + " |")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The line of the table for a row. A workload with several levels has a line for `durable` and a line for the other levels.
  private func work(_ row: Line, in rows: [Line]) -> Work {
    let levels = Set(
      rows.filter { $0.workload == row.workload && $0.peer == PeerKind.reference }.map(\.level))
    return Work(
      name: row.workload,
      level: levels.count > 1 ? (row.level == .durable ? .durable : .unsynced) : nil)
  }

  private func title(_ work: Work) -> String {
    work.name + (work.level.map { ", \($0.rawValue)" } ?? "")
  }

  private func cell(_ row: Line) -> String {
    guard let figure = row.figure else { return "-" }
    let text = row.unit.text(figure.median)
    guard row.peer == "larder", let ratio = row.ratio else { return text }
    return "**\(text)** (\(Unit.factor.text(ratio.median)))"
  }
}
