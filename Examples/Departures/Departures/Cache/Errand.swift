/// What is done before anybody asks.
public enum Errand: Hashable, Sendable, CustomStringConvertible {
  /// A station's board is fetched: today's, or that of so many days later.
  case board(String, inDays: Int = 0)
  /// The same for today, and the widget told what leaves next.
  case next(String)
  /// The names of the ships that run today.
  case ships

  public var description: String {
    switch self {
    case .board(let station, 0), .next(let station): station
    case .board(let station, let days): "\(station) in \(days) d"
    case .ships: "ships"
    }
  }
}
