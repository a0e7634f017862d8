import Foundation

/// Prints the cells of a study: as tables for people, and as JSON for programs.
struct Report {
  private let cells: [Study.Cell]
  private let policies: [String]
  private let traces: [String]

  init(_ cells: [Study.Cell], policies: [String], traces: [String]) {
    self.cells = cells
    self.policies = policies
    self.traces = traces
  }

  /// The means over all cells of one policy. A cell is the replay of one trace at one capacity.
  struct Summary: Codable {
    var policy: String
    var cells: Int
    var hitRatio: Double
    var pointsBelowOPT: Double?
    /// The smallest difference to LRU in percentage points of the hit ratio, over all cells of the policy.
    var worstAgainstLRU: Double?
    var worstTrace: String?
    var worstPercent: Double?
    /// The mean over those cells whose traces have sizes.
    var byteHitRatio: Double?
  }

  var summaries: [Summary] {
    let opt = ratios(of: OPT.name)
    let lru = ratios(of: LRU.name)
    return policies.map { policy in
      let own = cells.filter { $0.policy == policy }
      var summary = Summary(
        policy: policy, cells: own.count, hitRatio: mean(own.map(\.tally.hitRatio)))
      if !opt.isEmpty {
        summary.pointsBelowOPT = mean(opt.values.map { $0 }) - summary.hitRatio
      }
      let losses = own.compactMap { cell in
        lru[Place(cell)].map { (cell: cell, points: cell.tally.hitRatio - $0) }
      }
      if let worst = losses.min(by: { $0.points < $1.points }) {
        summary.worstAgainstLRU = worst.points
        summary.worstTrace = worst.cell.trace
        summary.worstPercent = worst.cell.percent
      }
      let bytes = own.compactMap(\.tally.byteHitRatio)
      if !bytes.isEmpty { summary.byteHitRatio = mean(bytes) }
      return summary
    }
  }

  var text: String {
    (traces.map(table) + [means] + (comparisons.isEmpty ? [] : [comparison]))
      .joined(separator: "\n\n")
  }

  /// A table with a row for each trace that has only one capacity, and a column for each policy.
  var patterns: String {
    let rows = traces.map { trace in
      [trace]
        + policies.map { policy in
          cells.first { $0.trace == trace && $0.policy == policy }
            .map { points($0.tally.hitRatio) } ?? ""
        }
    }
    return markdown([["hit %"] + policies] + rows)
  }

  /// One policy compared with another policy, over the cells that both policies have.
  struct Comparison: Codable {
    var policy: String
    var against: String
    var cells: Int
    var hitRatio: Double
    /// The mean difference in percentage points of the hit ratio, and the smallest difference of a cell.
    var points: Double
    var worst: Double
    var worstTrace: String
    var worstPercent: Double
  }

  /// The store is compared with its simulated policy. A restarted store is compared with the store.
  var comparisons: [Comparison] {
    let simulated = Adaptive<TaggedTable>.name
    let undisturbed = StoreReplay.Variant.undisturbed.name
    return StoreReplay.Variant.allCases.compactMap { variant in
      compare(variant.name, with: variant == .undisturbed ? simulated : undisturbed)
    }
  }

  private func compare(_ policy: String, with other: String) -> Comparison? {
    let others = ratios(of: other)
    let pairs = cells.filter { $0.policy == policy }.compactMap { cell in
      others[Place(cell)].map { (cell: cell, points: cell.tally.hitRatio - $0) }
    }
    guard let worst = pairs.min(by: { $0.points < $1.points }) else { return nil }
    return Comparison(
      policy: policy, against: other, cells: pairs.count,
      hitRatio: mean(pairs.map(\.cell.tally.hitRatio)), points: mean(pairs.map(\.points)),
      worst: worst.points, worstTrace: worst.cell.trace, worstPercent: worst.cell.percent)
  }

  private struct Result: Codable {
    var summaries: [Summary]
    var comparisons: [Comparison]
    var cells: [Cell]
  }

  private struct Cell: Codable {
    var trace: String
    var percent: Double
    var capacity: Int
    var policy: String
    var requests: Int
    var hits: Int
    var hitRatio: Double
    var byteHitRatio: Double?
  }

  var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      return try encoder.encode(
        Result(
          summaries: summaries, comparisons: comparisons,
          cells: cells.map {
            Cell(
              trace: $0.trace, percent: $0.percent, capacity: $0.capacity, policy: $0.policy,
              requests: $0.tally.requests, hits: $0.tally.hits, hitRatio: $0.tally.hitRatio,
              byteHitRatio: $0.tally.byteHitRatio)
          }))
    }
  }

  private func table(_ trace: String) -> String {
    let own = cells.filter { $0.trace == trace }
    var columns: [Study.Cell] = []
    for cell in own where !columns.contains(where: { $0.percent == cell.percent }) {
      columns.append(cell)
    }
    guard let first = own.first else { return "\(trace): every capacity is too small" }
    let hasSizes = first.tally.byteHitRatio != nil
    var rows = [["hit %" + (hasSizes ? " (byte hit %)" : "")]]
    rows[0] += columns.map { "\(number($0.percent)) % = \($0.capacity)" }
    for policy in policies {
      rows.append(
        [policy]
          + columns.map { column in
            guard
              let cell = own.first(where: { $0.policy == policy && $0.percent == column.percent })
            else { return "" }
            return points(cell.tally.hitRatio)
              + (cell.tally.byteHitRatio.map { " (\(points($0)))" } ?? "")
          })
    }
    return "\(trace), \(first.tally.requests) requests\n" + markdown(rows)
  }

  private var means: String {
    var rows = [
      ["mean", "hit %", "below OPT", "worst against LRU", "in", "byte hit %"]
    ]
    for summary in summaries where !isStore(summary.policy) {
      rows.append([
        summary.policy, points(summary.hitRatio), summary.pointsBelowOPT.map(points) ?? "",
        summary.worstAgainstLRU.map(points) ?? "",
        summary.worstTrace.map { "\($0), \(number(summary.worstPercent ?? 0)) %" } ?? "",
        summary.byteHitRatio.map(points) ?? "",
      ])
    }
    return "\(summaries.first?.cells ?? 0) cells of a trace and a capacity\n" + markdown(rows)
  }

  /// Whether the row belongs to the store. Such a row may have fewer cells, so its mean cannot be compared with other rows.
  private func isStore(_ policy: String) -> Bool {
    StoreReplay.Variant(rawValue: policy) != nil
  }

  private var comparison: String {
    let rows = comparisons.map { row in
      [
        row.policy, points(row.hitRatio), row.against, points(row.points), points(row.worst),
        "\(row.worstTrace), \(number(row.worstPercent)) %",
      ]
    }
    return "The store in \(comparisons[0].cells) cells\n"
      + markdown([["mean", "hit %", "against", "points more", "at worst", "in"]] + rows)
  }

  private struct Place: Hashable {
    var trace: String
    var percent: Double
    init(_ cell: Study.Cell) {
      trace = cell.trace
      percent = cell.percent
    }
  }

  private func ratios(of policy: String) -> [Place: Double] {
    Dictionary(
      cells.filter { $0.policy == policy }.map { (Place($0), $0.tally.hitRatio) },
      uniquingKeysWith: { first, _ in first })
  }
}

private func mean(_ values: [Double]) -> Double {
  values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count)
}

private func points(_ value: Double) -> String { String(format: "%.2f", value) }

private func number(_ value: Double) -> String { String(format: "%g", value) }

/// A table in Markdown. Its columns are padded with spaces.
private func markdown(_ rows: [[String]]) -> String {
  let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
  func line(_ row: [String]) -> String {
    "| "
      + zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(
        separator: " | ") + " |"
  }
  let rule = widths.map { String(repeating: "-", count: $0) }
  return ([line(rows[0]), line(rule)] + rows.dropFirst().map(line)).joined(separator: "\n")
}
