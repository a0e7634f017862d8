public import Foundation
public import Larder

/// A day in Zurich, `2026-03-29`. It is 23 to 25 hours long where clocks change.
public struct CalendarDay: RawRepresentable, Codable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: String
  /// When it begins.
  public let start: Timestamp
  public var end: Timestamp { advanced(by: 1).start }
  public var description: String { rawValue }

  /// Nil unless the calendar has that day.
  public init?(rawValue text: String) {
    guard let start = try? Date(text, strategy: SwissTime.day), SwissTime.day.format(start) == text
    else { return nil }
    (rawValue, self.start) = (text, Timestamp(start))
  }

  public init(of moment: Timestamp) {
    let start = SwissTime.calendar.startOfDay(for: moment.date)
    (rawValue, self.start) = (SwissTime.day.format(start), Timestamp(start))
  }

  /// The day so many days later. Half a day is more than clocks change.
  public func advanced(by days: Int) -> CalendarDay {
    CalendarDay(of: start.advanced(by: .days(days) + .hours(12)))
  }
}

/// The time of the timetable: always that of Zurich.
public enum SwissTime {
  /// A system that does not know the zone refuses the rules that name it, so no days of another zone are stored.
  public static let zone = "Europe/Zurich"

  public static let calendar: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: zone) ?? .gmt
    return calendar
  }()

  static let day = Date.ISO8601FormatStyle(timeZone: calendar.timeZone).year().month().day()

  /// `09:05`.
  public static func clock(_ moment: Timestamp) throws -> String {
    String(try TimeOfDay(of: moment, in: zone).description.prefix(5))
  }

  /// `2025-07-12T09:00:00+0200`, also with a colon in the offset or with `Z`; nil for other text.
  public static func moment(_ text: String) -> Timestamp? {
    (try? Date(text, strategy: .iso8601)).map { Timestamp($0) }
  }
}
