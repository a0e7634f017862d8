public import Larder
import Service

/// A departure for a widget.
public struct NextDeparture: Codable, Hashable, Sendable {
  public var station: String
  public var time: Timestamp
  /// The actual time; the entry expires then.
  public var leaves: Timestamp
  /// The number of the run: two runs of a line may leave at the same time.
  public var course: String
  public var line: String
  public var destination: String
  public var platform: String?
  public var ship: String?

  init(_ departure: Departure, from station: Station, ship: String?) {
    self.station = station.name
    time = departure.time
    leaves = departure.leaves
    course = departure.course
    line = departure.line
    destination = departure.destination
    platform = departure.platform?.description
    self.ship = ship
  }

  /// Keys are sorted by the planned time: 13 digits are enough until the year 2286.
  func key(of station: String) -> String {
    Self.prefix(of: station) + "\(time.milliseconds)/\(course)/\(line)/\(destination)"
  }

  /// The prefix of a station's keys.
  static func prefix(of station: String) -> String { station.withoutZeros.percentEscaped + "/" }
}

/// The settings of a widget. Versions of the app can read each other's settings.
public struct WidgetSettings: Codable, Hashable, Sendable {
  public var stations: [String]
  /// Departures of each station.
  public var rows: Int
  public var showsShips: Bool

  public init(stations: [String] = [], rows: Int = 3, showsShips: Bool = true) {
    (self.stations, self.rows, self.showsShips) = (stations, rows, showsShips)
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let usual = WidgetSettings()
    stations = try container.decodeIfPresent([String].self, forKey: .stations) ?? usual.stations
    rows = try container.decodeIfPresent(Int.self, forKey: .rows) ?? usual.rows
    showsShips = try container.decodeIfPresent(Bool.self, forKey: .showsShips) ?? usual.showsShips
  }
}
