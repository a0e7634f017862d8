public import Larder

/// The departures of a station on a day in Zurich, sorted by time. A board without departures is valid.
public struct Board: Codable, Hashable, Sendable {
  public var station: String
  public var day: CalendarDay
  public var departures: [Departure]

  /// The departures that have not left and were not cancelled.
  public func upcoming(at now: Timestamp) -> [Departure] {
    departures.filter { $0.leaves > now && !$0.isCancelled }
  }
}

/// A departure of a boat, train or bus.
public struct Departure: Codable, Hashable, Sendable {
  public var station: String
  public var time: Timestamp
  /// The delay in minutes. Nil if the delay is unknown; 0 if the departure is on time.
  public var delay: Int?
  public var isCancelled: Bool
  /// The category and the line, such as `BAT 101`.
  public var name: String
  /// The number of the run, such as `000101`.
  public var course: String
  public var company: String?
  public var destination: String
  /// The name of the ship. Nil in stored boards, because boards and ships are stored separately.
  public var ship: String?

  /// The planned time, plus the delay if it is known and positive.
  public var leaves: Timestamp { time.advanced(by: .minutes(max(delay ?? 0, 0))) }

  /// The departure with the name of its ship. `ships` has only ships of Lake Zurich: other companies use the same course numbers.
  public func named(by ships: [String: String]) -> Departure {
    var departure = self
    let isKnown = name.hasPrefix("BAT") && company?.hasPrefix("ZSG") == true
    departure.ship = isKnown ? ships[course.withoutZeros] : nil
    return departure
  }
}

/// A water temperature from the report of all lakes, or from a simulation if the report has no temperature.
public struct WaterTemperature: Codable, Hashable, Sendable {
  public enum Origin: String, Codable, Sendable { case report, simulation }
  public var celsius: Double
  public var origin: Origin
}

/// The service does not have the value.
public struct NotFound: Error, Hashable, CustomStringConvertible { public var description: String }

extension String {
  /// The text without zeros at the beginning, which only some services write in the number of a course.
  var withoutZeros: String { String(drop { $0 == "0" }) }
}
