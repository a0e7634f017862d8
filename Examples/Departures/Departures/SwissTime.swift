import Foundation
public import Larder

/// A day in Zurich, such as `2026-03-29`. On days when clocks change, a day has 23 or 25 hours.
public struct CalendarDay: Codable, Hashable, Sendable, CustomStringConvertible {
  public let description: String
  public let start: Timestamp

  public init(of moment: Timestamp) {
    description = SwissTime.day.format(moment.date)
    start = (try? Date(description, strategy: SwissTime.day)).map { Timestamp($0) } ?? moment
  }

  /// The day that is `days` days later. Adds half a day to the start of the day, because clocks may change between the two days.
  public func advanced(by days: Int) -> CalendarDay {
    CalendarDay(of: start.advanced(by: .days(days) + .hours(12)))
  }
}

/// The times in the timetable, which are always those of Zurich.
public enum SwissTime {
  /// The time zone of the rules. A system without this zone refuses the rules, so the store has no days of a wrong zone.
  public static let zone = "Europe/Zurich"

  static let day = Date.ISO8601FormatStyle(timeZone: TimeZone(identifier: zone) ?? .gmt)
    .year().month().day()

  /// The time of day, such as `09:05`.
  public static func clock(_ moment: Timestamp) throws -> String {
    String(try TimeOfDay(of: moment, in: zone).description.prefix(5))
  }

  /// The moment of a text such as `2025-07-12T09:00:00+0200`. The offset may have a colon or be `Z`. Nil for other text.
  public static func moment(_ text: String?) -> Timestamp? {
    (try? Date(text ?? "", strategy: .iso8601)).map { Timestamp($0) }
  }
}
