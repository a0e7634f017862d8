/// Work ahead of requests.
public enum Errand: Hashable, Sendable, CustomStringConvertible {
  /// Fetches a station's board: today's, or that of a later day.
  case board(String, inDays: Int = 0)
  /// Fetches today's board, and writes the next departures for the widget.
  case next(String)
  /// Fetches the ship names of today.
  case ships

  public var description: String {
    switch self {
    case .board(let station, 0), .next(let station): station
    case .board(let station, let days): "\(station) in \(days) d"
    case .ships: "ships"
    }
  }
}
