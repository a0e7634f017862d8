import Departures
import ExampleProgram
import Larder

/// The frames of `board --live`: the next departures of some stations, with the time until each leaves.
///
/// A frame shows what is stored, so it never waits for a service. `refresh` fetches what is no longer fresh beside it.
actor LiveBoard {
  private let cache: DeparturesCache
  private let stations: [String]
  private let rows: Int
  /// Why a station has no newer board.
  private var faults: [String: any Error] = [:]

  init(_ cache: DeparturesCache, stations: [String], rows: Int) {
    (self.cache, self.stations, self.rows) = (cache, stations, rows)
  }

  /// Fetches again and again what is no longer fresh, until it is cancelled. A service that fails is asked more rarely.
  ///
  /// - Parameter policy: for the first time; with `cacheOnly` nothing is fetched.
  func refresh(_ policy: RequestPolicy) async throws {
    let clock = cache.store.clock
    var (policy, pause) = (policy, RefreshPause())
    while policy != .cacheOnly {
      faults = try await round(policy)
      policy = .standard
      try await clock.sleep(until: clock.monotonic + pause.next(after: Array(faults.values)))
    }
  }

  private nonisolated func round(_ policy: RequestPolicy) async throws -> [String: any Error] {
    var faults: [String: any Error] = [:]
    try await cache.boards(at: stations, policy: policy) { station, result in
      do {
        let board = try result.get()
        faults[station] = board.error
        // Tomorrow's first, and the names of the ships.
        _ = try await cache.next(after: board.value, rows: rows, policy: policy)
      } catch {
        try Task.checkCancellation()
        faults[station] = error
      }
    }
    return faults
  }

  func frame() async throws -> [String] {
    var lines: [String] = []
    for station in stations {
      // Of a lake some landings are not in the timetable.
      if stations.count > 1, faults[station] is NotFound { continue }
      let fault = faults[station].map { ": \($0)" } ?? ""
      do {
        let board = try await cache.board(at: station, policy: .cacheOnly)
        let next = try await cache.next(after: board.value, rows: rows, policy: .cacheOnly)
        lines.append("\(board.value.station.name), \(board.value.day): \(board.words)\(fault)")
        if let gap = try board.value.gap { lines.append(gap) }
        lines += try next.prefix(rows).map(line)
        if next.isEmpty { lines.append(try board.value.absence) }
      } catch {
        try Task.checkCancellation()
        // The others are shown all the same.
        let isMissing = (error as? LarderError)?.code == .notStored
        lines.append(
          station + (!fault.isEmpty ? fault : isMissing ? ": not loaded yet" : ": \(error)"))
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
