public import Larder
import Service

/// What a widget shows of a departure: little, and ready to be shown.
public struct NextDeparture: Codable, Hashable, Sendable {
  public var station: String
  public var time: Timestamp
  /// When it really goes; at that moment it is gone from the store, too.
  public var leaves: Timestamp
  /// The number of this one run: two of a line may leave together.
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

  /// Keys of a station's departures are in the order in which they are planned: 13 digits last until the year 2286.
  func key(of station: String) -> String {
    Self.prefix(of: station) + "\(time.milliseconds)/\(course)/\(line)/\(destination)"
  }

  /// What the keys of a station begin with, and of no other.
  static func prefix(of station: String) -> String { station.percentEscaped + "/" }
}

extension Board {
  /// What leaves next, as much as a widget can use.
  public func next(at now: Timestamp, ships: ShipDay) -> [NextDeparture] {
    upcoming(at: now).prefix(Widget.most).map { departure in
      NextDeparture(departure, from: station, ship: ships.ship(of: departure))
    }
  }
}

/// What is shown, and how much of it. A newer version's settings can be read by this one, and the other way round.
public struct WidgetSettings: Codable, Hashable, Sendable {
  public var stations: [String]
  /// How many departures of each.
  public var rows: Int
  public var showsShips: Bool

  public init(stations: [String] = [], rows: Int = 3, showsShips: Bool = true) {
    self.stations = stations
    self.rows = rows
    self.showsShips = showsShips
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let usual = WidgetSettings()
    stations = try container.decodeIfPresent([String].self, forKey: .stations) ?? usual.stations
    rows = try container.decodeIfPresent(Int.self, forKey: .rows) ?? usual.rows
    showsShips = try container.decodeIfPresent(Bool.self, forKey: .showsShips) ?? usual.showsShips
  }
}
