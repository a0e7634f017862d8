import Foundation
public import Larder

/// A day in Zurich, `2026-03-29`. It has 23 to 25 hours when clocks change.
public struct CalendarDay: RawRepresentable, Codable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: String
  public let start: Timestamp
  public var end: Timestamp { advanced(by: 1).start }
  public var description: String { rawValue }

  /// The day with this text; nil if the calendar does not have it.
  public init?(rawValue text: String) {
    guard let start = try? Date(text, strategy: SwissTime.day), SwissTime.day.format(start) == text
    else { return nil }
    (rawValue, self.start) = (text, Timestamp(start))
  }

  public init(of moment: Timestamp) {
    rawValue = SwissTime.day.format(moment.date)
    start = (try? Date(rawValue, strategy: SwissTime.day)).map { Timestamp($0) } ?? moment
  }

  /// The day `days` days later. The sum adds half a day, which is more than any change of clocks.
  public func advanced(by days: Int) -> CalendarDay {
    CalendarDay(of: start.advanced(by: .days(days) + .hours(12)))
  }
}

/// The time of the timetable, which is always the time of Zurich.
public enum SwissTime {
  /// The time zone. A system that does not know the zone refuses rules with it, so no days of another zone are stored.
  public static let zone = "Europe/Zurich"

  static let day = Date.ISO8601FormatStyle(timeZone: TimeZone(identifier: zone) ?? .gmt)
    .year().month().day()

  /// The time of day, `09:05`.
  public static func clock(_ moment: Timestamp) throws -> String {
    String(try TimeOfDay(of: moment, in: zone).description.prefix(5))
  }

  /// The moment of `2025-07-12T09:00:00+0200`, also with a colon in the offset or with `Z`; nil for other text.
  public static func moment(_ text: String?) -> Timestamp? {
    (try? Date(text ?? "", strategy: .iso8601)).map { Timestamp($0) }
  }
}
