public import Larder

/// A stop of boats, trains and buses.
public struct Station: Codable, Hashable, Sendable {
  /// A number as text.
  public var id: String?
  public var name: String?
}

/// The departures of a station on a day in Zurich, sorted by time. No departures are a valid board.
public struct Board: Codable, Hashable, Sendable {
  /// The station's name.
  public var station: String
  public var day: CalendarDay
  public var departures: [Departure]

  /// Those that have not left, without the cancelled ones.
  public func upcoming(at now: Timestamp) -> [Departure] {
    departures.filter { $0.leaves > now && !$0.isCancelled }
  }

  /// Known delays of coming departures hold for a minute; nil for the lifetime of the rule.
  func expiration(at now: Timestamp) -> Expiration? {
    upcoming(at: now).contains { $0.delay != nil } ? .after(.minutes(1)) : nil
  }
}

/// A departure of a boat, train or bus.
public struct Departure: Codable, Hashable, Sendable {
  /// The name of the station that it leaves.
  public var station: String
  /// The planned time.
  public var time: Timestamp
  /// In minutes; nil if it is not known, which is not 0.
  public var delay: Int?
  public var isCancelled: Bool
  /// As the service writes it: `3`, `43/44`, and `2!` for a changed one.
  public var platform: String?
  /// `BAT 101`: the category and the line.
  public var name: String
  /// The number of the run, `000101`.
  public var course: String
  /// The company that runs it.
  public var company: String?
  public var destination: String
  /// The name of the ship; boards are stored without.
  public var ship: String?

  /// The planned time with the delay.
  public var leaves: Timestamp { time.advanced(by: .minutes(max(delay ?? 0, 0))) }
}

/// The ship of each course on a day, by the number of the course without zeros at its beginning.
public typealias Ships = [String: String]

extension Departure {
  /// With the name of its ship. The names are those of Lake Zurich's company; other companies have the same numbers.
  public func named(by ships: Ships) -> Departure {
    var departure = self
    let isKnown = name.hasPrefix("BAT") && company?.hasPrefix("ZSG") == true
    departure.ship = isKnown ? ships[course.withoutZeros] : nil
    return departure
  }
}

/// The weather of three hours.
public struct Forecast: Codable, Hashable, Sendable {
  public var time: Timestamp
  public var celsius: Double
  public var words: String
}

extension [Forecast] {
  /// The nearest to a time; nil more than three hours after the last.
  public func nearest(to time: Timestamp) -> Forecast? {
    guard let last, time <= last.time.advanced(by: .hours(3)) else { return nil }
    func distance(_ step: Forecast) -> Int64 { abs(step.time.milliseconds - time.milliseconds) }
    return self.min { distance($0) < distance($1) }
  }
}

/// A water temperature, from the report of all lakes, or from a simulation if that has none.
public struct WaterTemperature: Codable, Hashable, Sendable {
  public enum Origin: String, Codable, Sendable { case report, simulation }
  public var celsius: Double
  public var origin: Origin
}

/// The service does not have it.
public struct NotFound: Error, Hashable, CustomStringConvertible {
  public var description: String
}

extension String {
  /// `08503651` and `8503651` are one station, `000001` and `1` one course.
  public var withoutZeros: String {
    let rest = drop { $0 == "0" }
    return rest.isEmpty ? self : String(rest)
  }
}
