import Departures
import ExampleProgram
import Larder
import Service

/// The frames of `board --live`: the next departures of some stations, with the time until each leaves.
struct LiveBoard: Sendable {
  var cache: DeparturesCache
  var stations: [String]
  var rows: Int
  var policy: RequestPolicy

  func frame() async throws -> [String] {
    var lines: [String] = []
    for station in stations {
      do {
        let board = try await cache.board(at: station, policy: policy)
        let next = try await cache.next(after: board.value, rows: rows, policy: policy)
        lines.append("\(board.value.station.name), \(board.value.day): \(board.words)")
        if let gap = try board.value.gap { lines.append(gap) }
        lines += try next.prefix(rows).map(line)
        if next.isEmpty { lines.append("no departures") }
      } catch {
        try Task.checkCancellation()
        // The others are shown all the same, and this one is tried again.
        lines.append("\(station): \(error)")
      }
      lines.append("")
    }
    let room = stations.count > 1 ? ", as far as there are rows" : ""
    return lines + [
      try SwissTime.clock(cache.store.now)
        + "   \(stations.count.counted("station"))\(room)   ^C ends"
    ]
  }

  private func line(_ next: NextDeparture) throws -> String {
    let platform = next.platform.map { "  platform \($0)" } ?? ""
    let left = Self.countdown(cache.store.now.duration(to: next.leaves))
    return try
      "\(SwissTime.clock(next.leaves))  \(left.flushRight(to: 9))  \((next.line + " ").padded(to: 6))"
      + next.destination + platform + (next.ship.map { "  (\($0))" } ?? "")
  }

  /// `in 1:05 h`, `in 12 min`, `in 59 s`.
  static func countdown(_ left: Duration) -> String {
    let seconds = max(0, Int(left / .seconds(1)))
    switch seconds {
    case ..<60: return "in \(seconds) s"
    case ..<3600: return "in \(seconds / 60) min"
    default:
      let minutes = seconds / 60 % 60
      return "in \(seconds / 3600):\(minutes < 10 ? "0" : "")\(minutes) h"
    }
  }
}
