public import Larder

/// The departures of a station on a day in Zurich, sorted by time. No departures are a valid board.
public struct Board: Codable, Hashable, Sendable {
  public var station: String
  public var day: CalendarDay
  public var departures: [Departure]

  /// The departures that have not left and are not cancelled.
  public func upcoming(at now: Timestamp) -> [Departure] {
    departures.filter { $0.leaves > now && !$0.isCancelled }
  }
}

/// A departure of a boat, train or bus.
public struct Departure: Codable, Hashable, Sendable {
  public var station: String
  public var time: Timestamp
  /// The delay in minutes; nil if it is unknown, which differs from 0.
  public var delay: Int?
  public var isCancelled: Bool
  /// The platform as the service writes it: `3`, `43/44`, and `2!` for a changed platform.
  public var platform: String?
  /// The category and the line, `BAT 101`.
  public var name: String
  /// The number of the run, `000101`.
  public var course: String
  public var company: String?
  public var destination: String
  /// The name of the ship; nil in stored boards.
  public var ship: String?

  /// The planned time plus the delay, if the delay is known and positive.
  public var leaves: Timestamp { time.advanced(by: .minutes(max(delay ?? 0, 0))) }

  /// The departure with the name of its ship. Ships are of Lake Zurich's company alone; other companies use the same numbers.
  public func named(by ships: Ships) -> Departure {
    var departure = self
    let isKnown = name.hasPrefix("BAT") && company?.hasPrefix("ZSG") == true
    departure.ship = isKnown ? ships[course.withoutZeros] : nil
    return departure
  }
}

/// The ship of each course on a day, by the number of the course without zeros at its beginning.
public typealias Ships = [String: String]

public struct Forecast: Codable, Hashable, Sendable {
  public var time: Timestamp
  public var celsius: Double
  public var words: String
}

extension [Forecast] {
  /// The forecast nearest to a time; nil without forecasts, and more than three hours after the last forecast.
  public func nearest(to time: Timestamp) -> Forecast? {
    guard let last, time <= last.time.advanced(by: .hours(3)) else { return nil }
    func distance(_ step: Forecast) -> Int64 { abs(step.time.milliseconds - time.milliseconds) }
    return self.min { distance($0) < distance($1) }
  }
}

/// A water temperature from the report of all lakes, or from a simulation if the report has none.
public struct WaterTemperature: Codable, Hashable, Sendable {
  public enum Origin: String, Codable, Sendable { case report, simulation }
  public var celsius: Double
  public var origin: Origin
}

/// The error of a value that the service does not have.
public struct NotFound: Error, Hashable, CustomStringConvertible {
  public var description: String
}

extension String {
  /// The text without zeros at its beginning, unless it is all zeros: `08503651` is the station `8503651`, `000001` course `1`.
  public var withoutZeros: String {
    let rest = drop { $0 == "0" }
    return rest.isEmpty ? self : String(rest)
  }
}
